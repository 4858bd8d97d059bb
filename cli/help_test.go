package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"rewind/engine"
)

var update = flag.Bool("update", false, "write the golden files")

func runIn(env engine.Env, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(context.Background(), args, env, Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut})
	return code, out.String(), errOut.String()
}

// The help texts are golden files, so that a change of the contract is seen as a diff.
func TestHelpGolden(t *testing.T) {
	texts := map[string][]string{"rewind": {"help"}}
	for _, e := range entries() {
		texts[e.name] = []string{e.name, "--help"}
	}
	for name, args := range texts {
		code, out, errOut := runIn(engine.Env{}, args...)
		if code != 0 || errOut != "" {
			t.Fatalf("%s: code %d, stderr %q", name, code, errOut)
		}
		file := filepath.Join("testdata", "help", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != out {
			t.Errorf("%s: go test ./cli -run HelpGolden -update makes it so\n%s", name, diff.Diff("golden", want, "now", []byte(out)))
		}
	}
}

// Every command has what its help promises: a line, flags that pflag accepts, examples that exist.
func TestCommandsAreComplete(t *testing.T) {
	for _, e := range entries() {
		c := e.make()
		if c.name != e.name || c.short == "" || c.long == "" || c.run == nil {
			t.Errorf("%s is not complete", e.name)
		}
		if len(c.examples) == 0 && !e.hidden {
			t.Errorf("%s has no example", e.name)
		}
		for _, l := range strings.Split(c.long, "\n") {
			if len(l) > 90 {
				t.Errorf("%s: a line of %d columns: %q", e.name, len(l), l)
			}
		}
		f := newFlagSet(e.name)
		new(globals).define(f)
		if c.flags != nil {
			c.flags(f) // panics when a flag is there twice
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"save", "list", "restore", "undo", "undo-restore", "status", "stats", "pin", "unpin"}
	for in, want := range map[string]string{
		"svae": "save", "lst": "list", "lits": "list", "restor": "restore", "Restore": "restore", "undoo": "undo", "redo": "",
		"statsu": "status", "pni": "pin", "xyzzy": "", "": "", "undo-retore": "undo-restore",
	} {
		if got := nearest(in, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
