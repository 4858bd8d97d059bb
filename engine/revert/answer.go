package revert

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/work"
)

// tell puts down what the answer says beside the paths.
func (v *reverting) tell() {
	shells := map[*attribution.Work][]string{}
	told := map[string]bool{}
	for _, f := range v.files {
		told[f.path] = f.shared != nil
	}
	for _, s := range v.before {
		if !told[s.Path] {
			v.out.Shared = append(v.out.Shared, *s)
		}
	}
	for _, f := range v.files {
		if f.shared != nil && !f.nowhere() && (f.touched || !f.shared.Goes || f.shared.Path != f.path) {
			v.out.Shared = append(v.out.Shared, *f.shared)
		}
		if !f.touched {
			continue
		}
		if f.merged && f.changes && f.removed+f.restored > 0 {
			v.out.Merged = append(v.out.Merged, MergedPath{f.path, f.removed, f.restored})
		}
		v.out.Near = append(v.out.Near, f.near...)
		v.out.Conflicts = append(v.out.Conflicts, f.conflicts...)
		v.out.Kept = append(v.out.Kept, f.kept...)
		seen := map[work.RevertedTurn]bool{}
		for _, s := range f.mine {
			w := s.By
			if w == nil {
				continue
			}
			for _, other := range s.Also { // with IncludeShared, the likeliest may be another
				if v.work.Has(w) {
					break
				}
				w = other
			}
			if (s.Class == attribution.Shell || s.AlsoOutside) && f.changes {
				if list := shells[w]; len(list) == 0 || list[len(list)-1] != f.path {
					shells[w] = append(list, f.path)
				}
			}
			t := v.work.TurnOf(w)
			if at := w.Start.UnixNano(); v.first[t] == 0 || at < v.first[t] {
				v.first[t] = at
			}
			if !seen[t] {
				seen[t] = true
				v.turns[t]++
			}
		}
	}
	slices.SortStableFunc(v.out.Shared, func(a, b SharedPath) int { return strings.Compare(a.Path, b.Path) })
	v.out.Shared = slices.CompactFunc(v.out.Shared, func(a, b SharedPath) bool { return a.Path == b.Path }) // one file's names
	for t, n := range v.turns {
		t.Paths = n
		v.out.Turns = append(v.out.Turns, t)
	}
	begin := func(t work.RevertedTurn) int64 { t.Paths = 0; return v.first[t] }
	slices.SortFunc(v.out.Turns, func(a, b work.RevertedTurn) int {
		return cmp.Or(cmp.Compare(begin(a), begin(b)), strings.Compare(a.PromptID, b.PromptID), strings.Compare(a.Prompt, b.Prompt))
	})
	for _, w := range slices.SortedFunc(maps.Keys(shells), func(a, b *attribution.Work) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Call, b.Call))
	}) {
		v.out.Shell = append(v.out.Shell, ShellWork{*w, shells[w]})
	}
}

// nowhere reports whether the work removed the path, and it does not come back: nothing of it stays.
func (f *fileRevert) nowhere() bool {
	return f.own[len(f.own)-1] && f.now == nil && f.to == nil && f.shared.Path == f.path
}

// choices says for the log what was chosen, and of which paths.
func (v *reverting) choices(plan *treeio.Plan) string {
	if len(v.files) == 0 {
		return ""
	}
	lines := v.work.Line(v.o.IncludeShared, v.Sel == nil && len(plan.Skips) == 0 && len(v.out.Conflicts) == 0)
	for _, c := range v.out.Conflicts {
		choice := c.Choice
		if c.Whole() && choice == work.MarkConflict {
			choice = work.KeepFile // there are no lines to put markers between
		}
		lines = append(lines, oplog.PathLine(c.Path, string(choice))...)
	}
	return string(lines)
}
