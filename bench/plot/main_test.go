package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDrawAll(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, json, want string }{
		{"two series", `{"curves":[{"name":"a-b","title":"Saves","x":"turn","y":"ms","series":[{"name":"rewind","points":[[0,1],[1,2]]},{"name":"git","points":[[0,3],[1,2]]}]}]}`, "rewind"},
		{"a logarithm without its zero", `{"curves":[{"name":"a-b","title":"Saves","x":"turn","y":"ms","log_x":true,"series":[{"name":"rewind","points":[[0,1],[10,2],[100,4]]}]}]}`, "rewind"},
		{"no points", `{"curves":[{"name":"a-b","title":"Saves","series":[{"name":"git","points":[]}]}]}`, "Saves"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(dir, "result.json")
			if err := os.WriteFile(file, []byte(c.json), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := drawAll(file, dir); err != nil {
				t.Fatal(err)
			}
			svg, err := os.ReadFile(filepath.Join(dir, "a-b.svg"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(svg), "<svg") || !strings.Contains(string(svg), c.want) {
				t.Errorf("no picture with %q in it", c.want)
			}
		})
	}
}

func TestDrawAllRefusesNames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "result.json")
	if err := os.WriteFile(file, []byte(`{"curves":[{"name":"../x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := drawAll(file, dir); err == nil {
		t.Error("a path was taken for a name")
	}
}
