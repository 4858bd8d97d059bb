package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/restore"
	"github.com/rewind-cli/rewind/engine/account"
)

var update = flag.Bool("update", false, "write the golden files")

func runIn(env account.Env, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = Run(context.Background(), args, env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut})
	return code, out.String(), errOut.String()
}

// The help texts are golden files, so that a change of the contract is seen as a diff.
func TestHelpGolden(t *testing.T) {
	texts := map[string][]string{"rewind": {"help"}}
	for _, e := range entries() {
		texts[e.name] = []string{e.name, "--help"}
	}
	for name, args := range texts {
		code, out, errOut := runIn(account.Env{}, args...)
		if code != 0 || errOut != "" {
			t.Fatalf("%s: code %d, stderr %q", name, code, errOut)
		}
		for l := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > helpWidth {
				t.Errorf("%s: a line of %d columns: %q", name, n, l)
			}
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
		if c.Name != e.name || c.Short == "" || c.Long == "" || c.Run == nil {
			t.Errorf("%s is not complete", e.name)
		}
		if len(c.Examples) == 0 && !e.hidden {
			t.Errorf("%s has no example", e.name)
		}
		for _, l := range strings.Split(c.Long, "\n") {
			if len(l) > 90 {
				t.Errorf("%s: a line of %d columns: %q", e.name, len(l), l)
			}
		}
		f := app.NewFlagSet(e.name)
		new(app.Globals).Define(f)
		if c.Flags != nil {
			c.Flags(f) // panics when a flag is there twice
		}
	}
}

// Every flag stands in the usage line, and every flag of the usage line exists.
func TestUsageNamesTheFlags(t *testing.T) {
	for _, e := range entries() {
		c := e.make()
		all := app.NewFlagSet(e.name)
		new(app.Globals).Define(all)
		own := app.NewFlagSet(e.name)
		if c.Flags != nil {
			c.Flags(own)
		}
		all.AddFlagSet(own)
		words := regexp.MustCompile(`--?[a-zA-Z][a-z-]*`).FindAllString(" "+c.Usage, -1)
		own.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !slices.Contains(words, "--"+f.Name) && (f.Shorthand == "" || !slices.Contains(words, "-"+f.Shorthand)) {
				t.Errorf("%s: the usage line lacks --%s", e.name, f.Name)
			}
		})
		for _, w := range words {
			name := strings.TrimLeft(w, "-")
			if all.Lookup(name) == nil && (len(name) != 1 || all.ShorthandLookup(name) == nil) {
				t.Errorf("%s: the usage line names %s, which is no flag", e.name, w)
			}
		}
	}
	for _, l := range wrapUsage("rewind x "+restore.RestoreUsage, 80) {
		if len(l) > 80 || strings.Count(l, "[") != strings.Count(l, "]") {
			t.Errorf("broken badly: %q", l)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"save", "list", "restore", "undo", "undo-restore", "status", "stats", "pin", "unpin"} // any names
	for in, want := range map[string]string{
		"svae": "save", "lst": "list", "lits": "list", "restor": "restore", "Restore": "restore", "undoo": "undo", "redo": "",
		"statsu": "status", "pni": "pin", "xyzzy": "", "": "", "undo-retore": "undo-restore",
	} {
		if got := app.Nearest(in, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every hint for a word of another program names a command or a flag that exists.
func TestMeantExists(t *testing.T) {
	for word, words := range meant() {
		if lookup(word) != nil {
			t.Errorf("%q is a command itself", word)
		}
		name, rest, _ := strings.Cut(words, " ")
		if name == "" || name == "--version" {
			continue
		}
		command := lookup(name)
		if command == nil {
			t.Errorf("%q leads to %q, which is no command", word, words)
			continue
		}
		flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
		if command.Flags != nil {
			command.Flags(flags)
		}
		for _, f := range strings.Fields(rest) {
			if long, ok := strings.CutPrefix(f, "--"); ok && flags.Lookup(long) == nil {
				t.Errorf("%q leads to %q, which is no flag of %s", word, words, name)
			}
		}
	}
}
