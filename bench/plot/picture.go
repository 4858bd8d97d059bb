package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes in px. Right of the plot are the names of the lines.
const (
	width, height            = 720, 380
	left, right, top, bottom = 56, 190, 44, 48
	labelHeight              = 16
	fewPoints                = 20 // of a line that has its points marked
)

// style has the colours of Okabe and Ito, which those who see fewer can tell apart too, and lighter ones of them for a dark page.
const style = `text{font:12px system-ui,sans-serif;fill:#59626c}.title{font-size:14px;font-weight:600;fill:#1b1f24}.label{font-weight:600}
rect{fill:#fff}.grid{stroke:#dfe3e8}.axis{stroke:#59626c}.line{fill:none;stroke:var(--c);stroke-width:1.75;stroke-linejoin:round}.dot,.label{fill:var(--c)}.lead{stroke:var(--c);stroke-width:.75;opacity:.6}
.s0{--c:#0072b2}.s1{--c:#b84a00}.s2{--c:#00795a}.s3{--c:#a8487c}.s4{--c:#1f78a8}.s5{--c:#8a5d00}.s6{--c:#5c5c5c}.s7{--c:#1b1f24}.s8{--c:#6a35c2}
@media (prefers-color-scheme:dark){text{fill:#a2abb5}.title{fill:#e4e7ea}rect{fill:#14171a}.grid{stroke:#2d3339}.axis{stroke:#a2abb5}
.s0{--c:#56b4e9}.s1{--c:#ff9a5c}.s2{--c:#3fcf9f}.s3{--c:#f0a0cc}.s4{--c:#8fd0ff}.s5{--c:#e6b84d}.s6{--c:#b5b5b5}.s7{--c:#e4e7ea}.s8{--c:#c9a7ff}}
`

const styles = 9

// axis maps values to px, with ticks at round values, of which the last is the axis' end.
type axis struct {
	log        bool
	from, to   float64 // values
	begin, end float64 // px
	ticks      []float64
}

func newAxis(log bool, low, high, begin, end float64, most int) axis {
	a := axis{log: log, begin: begin, end: end}
	if log {
		a.from, a.to = math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		if a.to == a.from {
			a.to++
		}
		for t := a.from; t <= a.to; t++ {
			a.ticks = append(a.ticks, math.Pow(10, t))
		}
		return a
	}
	step := roundStep((high - low) / float64(most))
	a.from, a.to = math.Floor(low/step)*step, math.Ceil(high/step)*step
	for i := 0; a.from+float64(i)*step <= a.to+step/2; i++ {
		a.ticks = append(a.ticks, a.from+float64(i)*step)
	}
	return a
}

// roundStep is the least of 1, 2, 5, 10, 20 … that is not below v.
func roundStep(v float64) float64 {
	if v <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*ten >= v*0.999 {
			return m * ten
		}
	}
	return 10 * ten
}

func (a axis) at(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return a.begin + (v-a.from)/(a.to-a.from)*(a.end-a.begin)
}

// picture draws a curve: its name is at the end of each line.
func picture(c curve) string {
	type series struct {
		name   string
		points [][2]float64
		label  float64 // where its name is, in px from the top
	}
	var all []series
	low, high, most := math.Inf(1), math.Inf(-1), 0.0
	for _, s := range c.Series {
		points := slices.DeleteFunc(slices.Clone(s.Points), func(p [2]float64) bool { return c.LogX && p[0] <= 0 }) // a logarithm has no zero
		if len(points) == 0 {
			continue
		}
		for _, p := range points {
			low, high, most = min(low, p[0]), max(high, p[0]), max(most, p[1])
		}
		all = append(all, series{name: s.Name, points: points})
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n<style>%s</style>\n", width, height, width, height, escaped(c.Title), style)
	fmt.Fprintf(&b, `<rect width="%d" height="%d"/><text class="title" x="%d" y="24">%s</text>`+"\n", width, height, left, escaped(c.Title))
	if len(all) == 0 {
		return b.String() + "</svg>\n"
	}
	x := newAxis(c.LogX, low, high, left, width-right, 6)
	y := newAxis(false, 0, most, height-bottom, top, 5)
	for _, t := range y.ticks {
		fmt.Fprintf(&b, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left, y.at(t), width-right, left-8, y.at(t)+4, number(t))
	}
	for _, t := range x.ticks {
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(t), top, height-bottom, x.at(t), height-bottom+18, number(t))
	}
	fmt.Fprintf(&b, `<path class="axis" d="M%d %dH%d"/><text x="%d" y="%d" text-anchor="end">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
		left, height-bottom, width-right, width-right, height-10, escaped(c.X), left-8, top-12, escaped(c.Y))
	for i := range all {
		all[i].label = y.at(all[i].points[len(all[i].points)-1][1])
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(math.Copysign(1, all[i].label-all[j].label)) })
	for n := len(order) - 1; n >= 0; n-- { // from the lowest up, each at least a line above the one below it
		limit := float64(height - bottom)
		if n+1 < len(order) {
			limit = all[order[n+1]].label - labelHeight
		}
		all[order[n]].label = min(all[order[n]].label, limit)
	}
	for i, s := range all {
		class, end := fmt.Sprintf("s%d", i%styles), s.points[len(s.points)-1]
		fmt.Fprintf(&b, `<g class="%s"><path class="line" d="`, class)
		for n, p := range s.points {
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(n, 1)], x.at(p[0]), y.at(p[1]))
		}
		b.WriteString(`"/>`)
		if len(s.points) <= fewPoints {
			for _, p := range s.points {
				fmt.Fprintf(&b, `<circle class="dot" cx="%.1f" cy="%.1f" r="2.5"/>`, x.at(p[0]), y.at(p[1]))
			}
		}
		fmt.Fprintf(&b, `<path class="lead" d="M%.1f %.1fL%d %.1f"/><text class="label" x="%d" y="%.1f">%s</text></g>`+"\n",
			x.at(end[0]), y.at(end[1]), width-right+14, s.label, width-right+18, s.label+4, escaped(s.name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// number is a value in words of an axis: 1,000.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0 && whole[at-1] != '-'; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
