package hookio

import (
	"reflect"
	"strings"
	"testing"
)

func TestWrites(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"make test", nil},
		{"echo a > out; echo b >> out", []string{"/p/out"}},
		{"cd sub && echo a > ../x.go", []string{"/p/x.go"}},
		{"sed -i s/a/b/ a.go b.go", []string{"/p/a.go", "/p/b.go"}},
		{"perl -pi -e s/a/b/ x", []string{"/p/x"}},
		{"sed -i --expression=s/a/b/ x", []string{"/p/x"}},
		{"cp a b && mv c d", []string{"/p/b", "/p/c", "/p/d"}},
		{"rm -rf dir", []string{"/p/dir"}},
		{"rm *.go; echo > $X; echo > ~/y; go test 2>/dev/null >&2", []string{"/home/me/y"}},
		{"cat <<EOF | tee log\nx\nEOF", []string{"/p/log"}},
		{"bash -c 'echo x > in/it'", []string{"/p/in/it"}},
	} {
		e := &Event{Kind: PreTool, Cwd: "/p", Tool: Tool{Class: Shell, Command: c.command}}
		if got := Writes(e, "/home/me"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
	edit := &Event{Cwd: "/p", Tool: Tool{Name: "Edit", Class: Edit, Files: []string{"/p/a", "/p/./a", "b"}}}
	if got := Writes(edit, ""); !reflect.DeepEqual(got, []string{"/p/a", "/p/b"}) {
		t.Errorf("an edit: %q", got)
	}
	for name, want := range map[string]int{"mcp__fs__write_file": 1, "mcp__fs__read_file": 0} {
		if got := Writes(&Event{Cwd: "/p", Tool: Tool{Name: name, Class: MCP, Files: []string{"/p/a"}}}, ""); len(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Writes(&Event{Cwd: "/p", Tool: Tool{Class: Read, Files: []string{"/p/a"}}}, ""); got != nil {
		t.Errorf("a tool that reads: %q", got)
	}
	many := &Event{Cwd: "/p", Tool: Tool{Class: Shell, Command: "touch " + strings.Repeat("x y ", 5000)}}
	if got := Writes(many, ""); len(got) != 2 {
		t.Errorf("%d files", len(got))
	}
}
