package report

import (
	"fmt"
	"slices"
	"strings"
)

// Into puts what a run of some parts found into the report of a whole run: its lines take the places of those with the same names, or
// come behind. A note says which run made them.
func (r *Report) Into(whole *Report) {
	if len(r.Lines) == 0 { // only the pages are to be written anew
		return
	}
	for _, l := range r.Lines {
		i := slices.IndexFunc(whole.Lines, func(was *Line) bool { return was.What == l.What && was.Tree == l.Tree })
		if i >= 0 {
			whole.Lines[i] = l
		} else {
			whole.Lines = append(whole.Lines, l)
		}
	}
	for _, c := range r.Curves {
		whole.Curves = append(slices.DeleteFunc(whole.Curves, func(was *Curve) bool { return was.Name == c.Name }), c)
	}
	for _, t := range r.Tools {
		if !slices.Contains(whole.Tools, t) {
			whole.Tools = append(whole.Tools, t)
		}
	}
	begin := "`" + r.Command + "`: "
	whole.Notes = slices.DeleteFunc(whole.Notes, func(n string) bool { return strings.HasPrefix(n, begin) })
	whole.Notes = append(whole.Notes, fmt.Sprintf("%sits lines were measured on %s, %s, load average %.1f to %.1f", begin, r.Started.Format("2006-01-02"), r.Machine, r.LoadMin, r.LoadMax))
	for _, n := range r.Notes {
		whole.Notes = append(whole.Notes, begin+n)
	}
}
