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
			if at > 0 && links[at-1].entry == nil && slices.ContainsFunc(links[at+1:], func(l link) bool { return !l.own }) {
				came = append(came, moving{f, links, at})
			}
		}
	}
	used := map[*fileRevert]bool{}
	for _, to := range came {
		var from []moving
		var old []weave.Moved
		for _, m := range went {
			if used[m.f] || !sameInterval(m.links[m.at].step, to.links[to.at].step) {
				continue
			}
			moved, err := v.moved(m.f.path, m.links[m.at-1].entry)
			if err != nil {
				return err
			}
			from, old = append(from, m), append(old, moved)
		}
		if len(from) == 0 {
			continue
		}
		here, err := v.moved(to.f.path, to.links[to.at].entry)
		if err != nil {
			return err
		}
		for _, r := range weave.Renames(old, []weave.Moved{here}) {
			used[from[r.Went].f] = true
			if err := v.moveBack(from[r.Went], to); err != nil {
				return err
			}
		}
	}
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
	if err := v.content(f, links); err != nil {
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
