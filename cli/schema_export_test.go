package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
)

// unanswered are the commands that print no document, with the reason.
var unanswered = map[string]string{
	"hook": "it answers an agent in the agent's own form",
	"pick": "it draws on the screen",
}

// schemasOf are the schemas of the documents that a command may print.
func schemasOf(command string) []string { return slices.Sorted(maps.Keys(lookup(command).Answers)) }

// RaceExit is for the environment of programs that are built with -race: else each waits a second at its exit.
const RaceExit = "GORACE=atexit_sleep_ms=10"

// SchemaVariable names the directory of the schemas where answers are held to them.
const SchemaVariable = "REWIND_TEST_SCHEMAS"

// CheckDocument holds what a call printed with --json to the schema of its
// command: one document, no field that the schema does not know.
func CheckDocument(args []string, stdout []byte) error {
	if !asksJSON(args) || len(bytes.TrimSpace(stdout)) == 0 {
		return nil // other tests see an answer that is missing
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(stdout))
	if err != nil {
		return fmt.Errorf("%s: not one JSON document: %w", strings.Join(args, " "), err)
	}
	names := expectedSchemas(args)
	if m, ok := doc.(map[string]any); ok && m["error"] != nil {
		names = []string{"error"}
	}
	var errs []string
	for _, name := range names {
		s, err := compileStrict(name)
		if err != nil {
			return err
		}
		if err = s.Validate(doc); err == nil {
			return nil
		}
		errs = append(errs, fmt.Sprintf("%s.schema.json: %v", name, err))
	}
	return fmt.Errorf("%s: the document fits none of its schemas %v\n%s", strings.Join(args, " "), names, strings.Join(errs, "\n"))
}

// expectedSchemas reads the words of a call as run does.
func expectedSchemas(args []string) []string {
	var g app.Globals
	front := app.NewFlagSet("rewind")
	front.SetInterspersed(false)
	g.Define(front)
	if front.Parse(args) != nil || len(front.Args()) == 0 && !g.Version && !g.Help {
		return []string{"status"}
	}
	if g.Version {
		return []string{"version"}
	}
	if len(front.Args()) == 0 {
		return []string{"help"}
	}
	cmd := lookup(front.Arg(0))
	if cmd == nil {
		return nil // an error document
	}
	own := app.NewFlagSet(cmd.Name)
	if cmd.Flags != nil {
		cmd.Flags(own)
	}
	all := pflag.NewFlagSet(cmd.Name, pflag.ContinueOnError)
	all.AddFlagSet(own)
	g.Define(all)
	all.Usage = func() {}
	switch err := all.Parse(front.Args()[1:]); {
	case err != nil:
		return nil
	case g.Help:
		return []string{"help-command"}
	case g.Version:
		return []string{"version"}
	}
	return schemasOf(cmd.Name)
}

// compileStrict reads a schema and closes its objects: readers must ignore
// fields that they do not know, the schema must name all that there are.
func compileStrict(name string) (*jsonschema.Schema, error) {
	if known, ok := compiled.Load(name); ok {
		return known.(*jsonschema.Schema), nil
	}
	data, err := os.ReadFile(filepath.Join(os.Getenv(SchemaVariable), name+".schema.json"))
	if err != nil {
		return nil, err
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	closeObjects(doc)
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	schema, err := c.Compile(name)
	if err == nil {
		compiled.Store(name, schema)
	}
	return schema, err
}

var compiled sync.Map // of a schema's name: *jsonschema.Schema

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"]; ok && v["additionalProperties"] == true {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closeObjects(e)
		}
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	}
}

// schemaRow is what docs/schema/README.md says of one command.
func schemaRow(command string) string {
	names := schemasOf(command)
	for i, n := range names {
		names[i] = fmt.Sprintf("[%s](%s.schema.json)", n, n)
	}
	return fmt.Sprintf("| `%s` | %s |", command, strings.Join(names, ", "))
}
