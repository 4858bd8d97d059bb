// Command plot draws the curves of a benchmark result as SVG files.
//
//	plot RESULT.json DIRECTORY
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// result is the part of the report that is drawn; package report writes it.
type result struct {
	Machine string  `json:"machine"`
	Curves  []curve `json:"curves"`
}

type curve struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	X      string `json:"x"`
	Y      string `json:"y"`
	LogX   bool   `json:"log_x"`
	Series []struct {
		Name   string       `json:"name"`
		Points [][2]float64 `json:"points"`
	} `json:"series"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "plot: RESULT.json DIRECTORY")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// fileName is what a curve may be called: it becomes a file.
var fileName = regexp.MustCompile(`^[a-z0-9-]+$`)

func drawAll(file, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range r.Curves {
		if !fileName.MatchString(c.Name) {
			return fmt.Errorf("%s: %q is no name for a file", file, c.Name)
		}
		if err := os.WriteFile(filepath.Join(dir, c.Name+".svg"), []byte(picture(c)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
