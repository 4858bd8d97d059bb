package engine

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/manifest"
)

// A file that the work renamed and others edited since goes back to its old name with those edits.

// moving is one side of what may be a rename: the link with which a path went, or came.
type moving struct {
	f     *fileRevert
	links []link
	at    int
}

// renames finds them, and decides both of their paths.
func (v *reverting) renames() error {
	var went, came []moving
	for _, f := range v.files {
		if !f.touched {
			continue
		}
		links := f.chain()
		if err := v.settle(f, links); err != nil {
			return err
		}
		last := len(links) - 1
		switch {
		case f.now == nil && links[last].own && last > 0 && existsWithout(links):
			went = append(went, moving{f, links, last})
		case f.now != nil && !existsWithout(links):
			at := slices.IndexFunc(links, func(l link) bool { return l.own && l.entry != nil })
			if at > 0 && links[at-1].entry == nil && links[at].entry.Kind != manifest.Subdir {
				came = append(came, moving{f, links, at})
			}
		}
	}
	for _, w := range went {
		if err := v.movedOn(w); err != nil {
			return err
		}
	}
	used := map[*fileRevert]bool{}
	for _, to := range came {
		from, rest, err := v.lineage(to, used)
		if err != nil {
			return err
		}
		if from.f == to.f || from.f.decided {
			continue
		}
		all := append(slices.Clone(from.links[:from.at]), rest...)
		first := slices.IndexFunc(all, func(l link) bool { return l.own })
		switch {
		case !slices.ContainsFunc(all[first:], func(l link) bool { return !l.own }):
			// The one goes, and the other comes back as it was.
		case !existsWithout(all):
			to.f.decided = true
			if err := v.unmake(to.f, all, slices.IndexFunc(all, func(l link) bool { return l.own && l.entry != nil })); err != nil {
				return err
			}
		case from.f.now == nil:
			if err := v.moveBack(from, moving{to.f, rest, 0}); err != nil {
				return err
			}
		default: // its old name is taken
			to.f.decided = true
			if err := v.unmake(to.f, all, first); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineage follows a file back through the names that the work gave it: the oldest one, with the link that it
// went with, and what came after that under the others. Without any it is the file itself.
func (v *reverting) lineage(to moving, used map[*fileRevert]bool) (from moving, rest []link, err error) {
	from, rest = to, to.links[to.at:]
	for used[from.f] = true; ; used[from.f] = true {
		at := slices.IndexFunc(from.links, func(l link) bool { return l.own && l.entry != nil })
		if at <= 0 || at > from.at || from.links[at-1].entry != nil {
			return from, rest, nil
		}
		var before []moving
		for _, w := range v.files {
			if used[w] || !w.touched {
				continue
			}
			links := w.chain()
			if err := v.settle(w, links); err != nil {
				return from, nil, err
			}
			for k := len(links) - 1; k > 0; k-- {
				if links[k].own && links[k].entry == nil && links[k-1].entry != nil && sameInterval(links[k].step, from.links[at].step) {
					before = append(before, moving{w, links, k})
					break
				}
			}
		}
		k, err := v.partner(before, func(m moving) *manifest.Entry { return m.links[m.at-1].entry }, from.f.path, from.links[at].entry)
		if err != nil || k < 0 {
			return from, rest, err
		}
		if from.f != to.f {
			rest = append(slices.Clone(from.links[at:from.at]), rest...)
		}
		from = before[k]
	}
}

// partner is which of several is the other side of a rename; -1: none.
func (v *reverting) partner(list []moving, entry func(moving) *manifest.Entry, path string, e *manifest.Entry) (int, error) {
	var old []weave.Moved
	for _, m := range list {
		moved, err := v.moved(m.f.path, entry(m))
		if err != nil {
			return -1, err
		}
		old = append(old, moved)
	}
	here, err := v.moved(path, e)
	if err != nil {
		return -1, err
	}
	for _, r := range weave.Renames(old, []weave.Moved{here}) {
		return r.Went, nil
	}
	return -1, nil
}

// movedOn leaves a path alone that the work renamed, where others moved or deleted what it became: another
// of it at the old name would be one too many.
func (v *reverting) movedOn(w moving) error {
	var to []moving
	for _, f := range v.files {
		if f == w.f || f.now != nil || !f.touched {
			continue
		}
		links := f.chain()
		if err := v.settle(f, links); err != nil {
			return err
		}
		for i := 1; i < len(links); i++ {
			if links[i].own && links[i].entry != nil && links[i-1].entry == nil && sameInterval(links[i].step, w.links[w.at].step) {
				to = append(to, moving{f, links, i})
				break
			}
		}
	}
	k, err := v.partner(to, func(m moving) *manifest.Entry { return m.links[m.at].entry }, w.f.path, w.links[w.at-1].entry)
	if err != nil || k < 0 {
		return err
	}
	last := to[k].links[len(to[k].links)-1]
	if last.own || last.step.Class == attribution.Operation {
		return nil
	}
	w.f.decided = true
	w.f.kept = []KeptPart{{Path: w.f.path, Reason: "what it was renamed to was moved or deleted since", By: stepWorks([]*attribution.Step{last.step})}}
	return nil
}

// existsWithout reports whether there is something at a path without the work.
func existsWithout(links []link) bool {
	exists := links[0].entry != nil
	for i, l := range links[1:] {
		if !l.own && (l.entry != nil) != (links[i].entry != nil) {
			exists = l.entry != nil
		}
	}
	return exists
}

// sameInterval reports whether two steps were made by one owner between the same two looks.
func sameInterval(a, b *attribution.Step) bool {
	return a.To.Seq == b.To.Seq && a.By != nil && b.By != nil && sameWork(a.By, b.By)
}

func (v *reverting) moved(path string, e *manifest.Entry) (weave.Moved, error) {
	m := weave.Moved{Path: path, Entry: *e}
	if e.Kind == manifest.Symlink || e.Kind == manifest.Subdir || e.Size > weave.MaxText {
		return m, nil
	}
	lines, ok, err := v.lines(e)
	if ok {
		m.Lines = lines
	}
	return m, err
}

// moveBack gives a file its old name back, with what others wrote into it since.
func (v *reverting) moveBack(old, new moving) error {
	start := 0 // where others made it last
	for i, l := range old.links {
		if i > 0 && !l.own && l.entry != nil && old.links[i-1].entry == nil {
			start = i
		}
	}
	links := append(slices.Clone(old.links[start:old.at]), new.links[new.at:]...)
	f := &fileRevert{path: new.f.path, versions: new.f.versions, now: new.f.now}
	if err := v.content(0, f, links); err != nil {
		return err
	}
	old.f.conflicts, old.f.kept, old.f.near = f.conflicts, f.kept, f.near
	old.f.merged, old.f.removed, old.f.restored = true, f.removed, f.restored
	old.f.decided, new.f.decided = true, true
	if slices.ContainsFunc(f.conflicts, func(c RevertConflict) bool { return c.Choice == KeepFile || c.Whole() && c.Choice != UndoBlock }) {
		return nil // it stays where it is
	}
	to := *f.to
	to.Mode = modeOf(links, to.Mode)
	old.f.to, old.f.changes = &to, true
	new.f.to, new.f.changes = nil, true
	if v.out.Moved == nil {
		v.out.Moved = map[string]string{}
	}
	v.out.Moved[new.f.path] = old.f.path
	return nil
}
