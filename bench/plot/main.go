// Command plot draws the curves of a benchmark result as SVG files.
//
//	plot RESULT.json DIRECTORY
//
// It is a module of its own: the drawing library brings nine others with it,
// which nobody needs who builds or uses rewind.
package main

import (
	"encoding/json"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"regexp"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
		p, err := picture(c)
		if err != nil {
			return err
		}
		if err := p.Save(16*vg.Centimeter, 9*vg.Centimeter, filepath.Join(dir, c.Name+".svg")); err != nil {
			return err
		}
	}
	return nil
}

// colours that those who see fewer can tell apart too (Okabe and Ito).
var colours = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
	color.RGBA{86, 180, 233, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{110, 110, 110, 255}, color.RGBA{0, 0, 0, 255},
}

func picture(c curve) (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for i, s := range c.Series {
		points := make(plotter.XYs, 0, len(s.Points))
		for _, xy := range s.Points {
			if !c.LogX || xy[0] > 0 { // a logarithm has no zero
				points = append(points, plotter.XY{X: xy[0], Y: xy[1]})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", c.Name, s.Name, err)
		}
		line.Color = colours[i%len(colours)]
		dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, vg.Points(1.2)
		p.Add(line, dots)
		p.Legend.Add(s.Name, line)
	}
	return p, nil
}
