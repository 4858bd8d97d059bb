package report

import (
	"fmt"
	"strings"
)

// headlines are the lines that the README shows: what people wait for, on a large tree.
var headlines = []struct{ what, tree string }{
	{"save, nothing changed", "kernel source"},
	{"save after a one-line edit", "kernel source"},
	{"first save", "kernel source"},
	{"restore of one changed file", "kernel source"},
	{"export as tar.zst", "kernel source"},
	{"first push of what was saved", "kernel source"},
}

// Headlines is the table of the README.
func (r *Report) Headlines() string {
	t := NewTable("what", ">rewind", ">floor", ">ratio", "best peer", ">its time")
	for _, h := range headlines {
		for _, l := range r.Lines {
			if l.What == h.what && strings.HasPrefix(l.Tree, h.tree) {
				t.Row(l.comparison()...)
			}
		}
	}
	return t.String()
}

// Kept counts the budgets, and those that are met.
func (r *Report) Kept() (met, all int) {
	for _, l := range r.Lines {
		for _, b := range l.Budgets {
			if all++; b.Met() {
				met++
			}
		}
	}
	return met, all
}

// comparison is a line's cells up to the best peer's time.
func (l *Line) comparison() []string {
	var ours, floor, peer Subject
	for to, from := range map[*Subject]*Subject{&ours: l.Find(Ours), &floor: l.Find(Floor), &peer: l.BestPeer()} {
		if from != nil {
			*to = *from
		}
	}
	return []string{l.What + ", " + l.Tree, ours.Median.String(), floor.Median.String(), Ratio(ours.Median, floor.Median), peer.Name, peer.Median.String()}
}

// Short is one row per budget, without the lines that are details.
func (r *Report) Short() string {
	t := NewTable("what", ">rewind", ">floor", ">ratio", "best peer", ">its time", "budget", "")
	for _, l := range r.Lines {
		if l.Detail {
			continue
		}
		cells := l.comparison()
		if len(l.Budgets) == 0 {
			t.Row(append(cells, "", "")...)
		}
		for i, b := range l.Budgets {
			if i > 0 {
				cells = []string{"", "", "", "", "", ""}
			}
			t.Row(append(cells, b.What+": "+b.amount(b.Got), verdict(b))...)
		}
	}
	return t.String()
}

// Full is everything: one row per subject.
func (r *Report) Full() string {
	t := NewTable("what", "who", ">runs", ">min", ">median", ">p90", ">p99", ">to the floor", ">to the best peer", ">memory", ">disk", ">syscalls", ">fsyncs", ">requests", ">on the wire")
	for _, l := range r.Lines {
		floor, best := l.Find(Floor), l.BestPeer()
		what := l.What + ", " + l.Tree
		for _, s := range l.Subjects {
			if s.Failed != "" && len(s.Times) == 0 && s.Disk == 0 {
				t.Row(what, s.Name, "", "", s.Failed)
				what = ""
				continue
			}
			toFloor, toBest := "", ""
			if floor != nil {
				toFloor = Ratio(s.Median, floor.Median)
			}
			if best != nil {
				toBest = Ratio(s.Median, best.Median)
			}
			syscalls, fsyncs := "", ""
			if s.Syscalls > 0 {
				syscalls, fsyncs = Count(s.Syscalls), Count(s.Fsyncs)
			}
			requests, wire := "", ""
			if s.Requests != nil {
				requests, wire = fmt.Sprintf("%.3g", *s.Requests), Bytes(s.Wire)
			}
			t.Row(what, s.Name, Count(len(s.Times)), s.Min.String(), s.Median.String(), s.P90.String(), s.P99.String(), toFloor, toBest,
				Bytes(s.PeakRSS), Bytes(s.Disk), syscalls, fsyncs, requests, wire)
			what = ""
		}
	}
	return t.String()
}

// Budgets is one row per promise.
func (r *Report) Budgets() string {
	t := NewTable("what", "budget", ">limit", ">got", "")
	for _, l := range r.Lines {
		for _, b := range l.Budgets {
			t.Row(l.What+", "+l.Tree, b.What, b.amount(b.Limit), b.amount(b.Got), verdict(b))
		}
	}
	return t.String()
}

// Page is the full table with all that belongs to it.
func (r *Report) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measured\n\n%s. Made by `%s` on %s, in %s; load average %.1f to %.1f.\n\n", r.Machine, r.Command, r.Started.Format("2006-01-02"), r.Took, r.LoadMin, r.LoadMax)
	b.WriteString("Whole processes, from before their start to after their end; page cache warm; median of the runs unless it says otherwise. " +
		"All subjects of a line ran in turns. Disk is blocks allocated, not lengths. A system call or an fsync is one that strace counts, without those of the Go runtime's timers.\n\n")
	b.WriteString("Compared with: " + strings.Join(r.Tools, "; ") + ".\n\n")
	b.WriteString("## In short\n\n" + r.Short() + "\n## Budgets\n\n" + r.Budgets() + "\n## All\n\n" + r.Full())
	notes := append([]string{}, r.Notes...)
	for _, l := range r.Lines {
		for _, n := range l.Notes {
			notes = append(notes, l.What+", "+l.Tree+": "+n)
		}
	}
	if len(notes) > 0 {
		b.WriteString("\n## Notes\n\n- " + strings.Join(notes, "\n- ") + "\n")
	}
	if len(r.Curves) > 0 {
		b.WriteString("\n## Curves\n\n")
		for _, c := range r.Curves {
			fmt.Fprintf(&b, "![%s](%s.svg)\n", c.Title, c.Name)
		}
	}
	return b.String()
}

func (b Budget) amount(f float64) string {
	switch b.Unit {
	case "ms":
		return Millis(f).String()
	case "bytes":
		return Bytes(int64(f))
	default:
		return trim(f) + " " + b.Unit
	}
}

func verdict(b Budget) string {
	if b.Met() {
		return "met"
	}
	return "**missed**"
}
