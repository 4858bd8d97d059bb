package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
			if err := xml.Unmarshal(svg, new(struct{})); err != nil || !strings.Contains(string(svg), c.want) {
				t.Errorf("no picture with %q in it: %v", c.want, err)
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

// Each line has its name at its end, none of them over another, and the last tick is beyond the largest value.
func TestLabels(t *testing.T) {
	var c curve
	if err := json.Unmarshal([]byte(`{"title":"T","x":"turn","y":"ms","series":[{"name":"a<b","points":[[0,1],[490,2]]},{"name":"b","points":[[0,3],[490,2.01]]},{"name":"c","points":[[0,1],[490,23]]}]}`), &c); err != nil {
		t.Fatal(err)
	}
	svg := picture(c)
	for _, want := range []string{"a&lt;b", ">500</text>", ">25</text>", "prefers-color-scheme:dark"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
	var places []float64
	for _, m := range regexp.MustCompile(`class="label" x="\d+" y="([\d.]+)"`).FindAllStringSubmatch(svg, -1) {
		y, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, y)
	}
	slices.Sort(places)
	if len(places) != 3 || places[1]-places[0] < labelHeight-1 || places[2]-places[1] < labelHeight-1 {
		t.Errorf("labels at %v", places)
	}
}
