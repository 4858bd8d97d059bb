package hookio

import (
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio/shell"
)

func TestArgument(t *testing.T) {
	for name, c := range map[string]struct {
		tool           Tool
		command, files string
	}{
		"nothing":            {},
		"a command":          {Tool{Command: "rm -rf build && make"}, "rm -rf build && make", ""},
		"its first line":     {Tool{Command: "\n# clean up\n  rm -rf build \nmake\n"}, "rm -rf build", ""},
		"only a comment":     {Tool{Command: "# nothing\n"}, "# nothing", ""},
		"a shell's own":      {Tool{Command: shell.Quote("/bin/bash") + " " + shell.Quote("-lc") + " " + shell.Quote("echo it's\nls")}, "echo it's", ""},
		"two scripts":        {Tool{Command: "sh -c 'a' && sh -c 'b'"}, "sh -c 'a' && sh -c 'b'", ""},
		"a file":             {Tool{Files: []string{"/p/src/x.go"}}, "", "/p/src/x.go"},
		"files, one twice":   {Tool{Files: []string{"/p/a", "/p/a", "", "/p/b"}}, "", "/p/a\n/p/b"},
		"a newline":          {Tool{Files: []string{"/p/a\nb", "/p/c"}}, "", "/p/c"},
		"a patch":            {Tool{Command: "*** Begin Patch\n*** Add File: x\n+1", Files: []string{"/p/x"}}, "", "/p/x"},
		"a very long script": {Tool{Command: strings.Repeat("é", maxArgument)}, strings.Repeat("é", maxArgument/2), ""},
	} {
		command, files := Argument(&c.tool)
		if command != c.command || files != c.files {
			t.Errorf("%s: %q and %q, want %q and %q", name, command, files, c.command, c.files)
		}
	}
	many := Tool{Files: slices.Repeat([]string{""}, 10)}
	for i := range many.Files {
		many.Files[i] = strings.Repeat(string(rune('a'+i)), maxArgument/4)
	}
	if _, files := Argument(&many); len(files) > maxArgument {
		t.Errorf("%d bytes of files are kept", len(files))
	}
}
