package revert

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// outcome is what becomes of a trail.
type outcome struct {
	*trail
	f    *fileRevert // the result for it; f.to is what it becomes
	name string      // under which
}

// moves reports whether something comes to a path where it is not now.
func (o *outcome) moves() bool { return o.f.to != nil && (o.name != o.at || o.now == nil) }

// renames decides the files that had several names.
func (v *reverting) renames() error {
	var trails []*trail
	var paths map[string]*fileRevert
	var touched []*fileRevert
	for _, f := range v.files {
		if f.touched {
			touched = append(touched, f)
		}
	}
	err := v.who.Ask(func() (err error) {
		trails, paths, err = v.findTrails(touched)
		return err
	})
	if err != nil || len(trails) == 0 {
		return err
	}
	unread := problem.UnreadOf(v.Scan.Problems, v.Scan.Problems)
	var list []*outcome
	for _, t := range trails {
		o := &outcome{trail: t, name: t.at}
		o.f = &fileRevert{path: t.at, now: t.now, to: t.now, decided: true}
		if i := slices.IndexFunc(t.links, func(l work.Link) bool { return unread.Has(l.Path) }); i < 0 {
			if err := v.decideTrail(o); err != nil {
				return err
			}
		} else if slices.ContainsFunc(t.links, func(l work.Link) bool { return l.Own }) {
			v.skipUnread(t.links[i].Path)
		}
		list = append(list, o)
	}
	if err := v.settleNames(list, paths); err != nil {
		return err
	}
	for _, f := range paths {
		if v.Sel != nil && f.beside && !v.Sel.Has(f.path) {
			continue
		}
		f.touched, f.decided = false, true
		if f.beside && f.shared != nil {
			v.files = append(v.files, f)
		}
	}
	for _, o := range list {
		if err := v.put(o, list); err != nil {
			return err
		}
	}
	slices.SortStableFunc(v.files, func(a, b *fileRevert) int { return strings.Compare(a.path, b.path) })
	return nil
}

// nameShared calls files that several could have changed by their names now.
func (v *reverting) nameShared() error {
	var gone []*fileRevert
	for _, f := range v.files {
		if f.shared != nil && f.now == nil {
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return v.who.Ask(func() error {
		trails, paths, err := v.findTrails(gone)
		for _, t := range trails {
			for _, l := range t.links {
				if f := paths[l.Path]; t.now != nil && f.shared != nil && f.now == nil {
					f.shared.Path = t.at
				}
			}
		}
		return err
	})
}

// decideTrail finds what a file becomes, and what it is called then.
func (v *reverting) decideTrail(o *outcome) error {
	f := o.f
	links, err := v.chainOf(o.links)
	if err != nil {
		return err
	}
	own := work.OwnOf(links)
	v.done.Settle(links)
	f.mine = v.done.Going(links)
	for i, l := range links {
		f.versions, f.own = append(f.versions, l.Entry), append(f.own, l.Own)
		if i > 0 {
			f.steps = append(f.steps, *l.Step)
		}
	}
	if !slices.ContainsFunc(links, func(l work.Link) bool { return l.Own }) {
		return v.leftMarked(f, links, own)
	}
	exists, base, created := presence(links)
	links = links[base:]
	if !slices.ContainsFunc(links[1:], func(l work.Link) bool { return l.Own }) || !exists && o.now == nil {
		return nil // nothing of it is left
	}
	f.touched = true
	if !exists {
		return v.unmake(f, links, created-base, stepsOf(o.links))
	}
	for links[len(links)-1].Entry == nil {
		links = links[:len(links)-1]
	}
	o.name = links[0].Path
	for i, l := range links[1:] {
		if l.Path != links[i].Path && !l.Own {
			o.name = l.Path // others called it so
		}
	}
	if manifest.HasContent(links[len(links)-1].Entry) {
		if err := v.content(0, f, links); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(f.conflicts, func(c RevertConflict) bool {
		return c.Choice == work.KeepFile || c.Whole() && c.Choice != work.UndoBlock
	}) {
		o.name = o.at // it stays where it is
	}
	v.setMode(f, links)
	f.touched = len(f.conflicts) > 0 || o.name != o.at || !manifest.SameEntries(o.now, f.to)
	if !f.touched && o.now != nil && renamedSince(links) && !slices.ContainsFunc(o.links, func(l work.Link) bool { return l.Reverts() }) {
		f.touched = true
		f.keepWhole(v, "renamed by this work, and renamed since")
		by := v.namers(links)
		f.conflicts[0].By, f.kept[0].By = by, by
	}
	return nil
}

// settleNames sees to it that no two files come to one name, and none to one that is taken: such a file stays
// unchanged.
func (v *reverting) settleNames(list []*outcome, paths map[string]*fileRevert) error {
	for again := true; again; {
		again = false
		for _, o := range list {
			if !o.moves() {
				continue
			}
			reason, by, err := v.taken(o, list, paths)
			if err != nil {
				return err
			}
			if reason == "" {
				continue
			}
			o.name, again = o.at, true
			o.f.to, o.f.merged, o.f.removed, o.f.restored, o.f.near, o.f.kept = o.now, false, 0, 0, nil, nil
			o.f.conflicts = nil
			o.f.keepWhole(v, reason)
			o.f.conflicts[0].By, o.f.kept[0].By = by, by
		}
	}
	return nil
}

// taken says why a file cannot have a name; "" where it can.
func (v *reverting) taken(o *outcome, list []*outcome, paths map[string]*fileRevert) (reason string, by []attribution.Work, err error) {
	if v.Sel != nil && (!v.Sel.Has(o.name) || !v.Sel.Has(o.at)) {
		return "it was renamed from " + patch.Quote(o.name) + ", and not both of its names were chosen", nil, nil
	}
	leaves, comes := false, false
	for _, other := range list {
		comes = comes || other != o && other.moves() && other.name == o.at
		switch {
		case other == o:
		case other.f.to != nil && other.name == o.name:
			return "its old name " + patch.Quote(o.name) + " is taken", v.namers(other.links), nil
		case other.now != nil && other.at == o.name:
			leaves = true
		}
	}
	there, err := inspect.EntryAt(v.Tx.Load, v.Now, o.name)
	switch {
	case err != nil:
		return "", nil, err
	case there != nil && (!leaves || comes && there.Kind == manifest.Subdir):
		by, err = v.newestMakers(o.name)
		return "its old name " + patch.Quote(o.name) + " is taken", by, err
	case there != nil:
		return "", nil, nil
	}
	dir, by, err := v.inTheWay(o.name, func(dir string) bool {
		return slices.ContainsFunc(v.files, func(f *fileRevert) bool { return f.path == dir && f.touched })
	})
	if dir != "" {
		reason = patch.Quote(dir) + " was made something that is no directory"
	}
	return reason, by, err
}

// newestMakers are those who changed a path last, but for operations that went back to what others had made.
func (v *reverting) newestMakers(path string) ([]attribution.Work, error) {
	steps, err := v.who.Steps(path)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	links := v.done.WayBack(v.historyOf(path, steps).links(), false)
	if last := links[len(links)-1].Step; last != nil {
		return worksOf(last), nil
	}
	return nil, nil
}

// inTheWay is what is no directory now although a path lies below it, and does not go; "" for nothing.
func (v *reverting) inTheWay(name string, goes func(dir string) bool) (dir string, by []attribution.Work, err error) {
	for dir = path.Dir(name); dir != "."; dir = path.Dir(dir) {
		e, err := inspect.EntryAt(v.Tx.Load, v.Now, dir)
		if err != nil {
			return "", nil, err
		}
		switch {
		case e == nil:
			continue
		case e.Kind == manifest.Subdir, goes(dir):
			return "", nil, nil
		}
		by, err = v.newestMakers(dir)
		return dir, by, err
	}
	return "", nil, nil
}

// namers are those who gave a file its name.
func (v *reverting) namers(links []work.Link) []attribution.Work {
	links = v.done.WayBack(links, false)
	for i := len(links) - 1; i > 0; i-- {
		if links[i].Entry != nil && links[i].Step != nil && (links[i-1].Entry == nil || links[i-1].Path != links[i].Path) {
			return worksOf(links[i].Step)
		}
	}
	return nil
}

// renamedSince reports whether others gave a file another name after the work had, and not its old one.
func renamedSince(links []work.Link) (since bool) {
	own := false
	for i, l := range links[1:] {
		if l.Entry != nil && links[i].Entry != nil && l.Path != links[i].Path {
			since, own = own && !l.Own && l.Path != links[0].Path, own || l.Own
		}
	}
	return since
}

// putOver reports whether others gave a file the name that it has now, and the path had been that of a file of others.
func (v *reverting) putOver(links []work.Link) (bool, error) {
	for i := len(links) - 1; i > 0; i-- {
		l := &links[i]
		if l.Path == links[i-1].Path {
			continue
		}
		if l.Own || l.Step == nil || !manifest.HasContent(l.Step.From.Entry) {
			return false, nil
		}
		steps, err := v.who.Steps(l.Path)
		if err != nil || len(steps) == 0 {
			return false, err
		}
		f := v.historyOf(l.Path, steps)
		exists, _, _ := presence(f.links()[:f.stepAt(l.Step.To.Seq)+1])
		return exists, nil
	}
	return false, nil
}

// put makes what was decided the changes of paths.
func (v *reverting) put(o *outcome, list []*outcome) error {
	f := o.f
	if !f.touched {
		return nil
	}
	f.changes = o.name != o.at || !manifest.SameEntries(o.now, f.to)
	f.at, f.was = o.at, o.now
	v.files = append(v.files, f)
	comes := slices.ContainsFunc(list, func(other *outcome) bool { return other != o && other.moves() && other.name == o.at })
	if o.name == o.at {
		f.covered = comes // it goes, and what had the name before it comes back
		if f.covered {
			f.was = nil
		}
		if o.now == nil && f.to != nil {
			return v.cover(f)
		}
		return nil
	}
	if o.now == nil {
		f.path = o.name
		return v.cover(f)
	}
	if !comes {
		old := &fileRevert{path: o.at, now: o.now, changes: true, decided: true, touched: true, pair: f}
		for _, s := range f.mine {
			if s.Path == o.at {
				old.mine = append(old.mine, s)
			}
		}
		f.pair = old
		v.files = append(v.files, old)
	}
	moved := &v.out.MovedAsIs
	if f.editedSince() {
		moved = &v.out.Moved
	}
	if *moved == nil {
		*moved = map[string]string{}
	}
	(*moved)[o.at] = o.name
	f.path = o.name
	for i := range f.kept {
		f.kept[i].Path = o.name
	}
	return v.cover(f)
}

// editedSince reports whether others wrote into a file that the work had changed.
func (f *fileRevert) editedSince() bool {
	for i := slices.Index(f.own, true) + 1; i < len(f.own); i++ {
		if was, is := f.versions[i-1], f.versions[i]; !f.own[i] && is != nil && (was == nil || !manifest.SameContent(was, is)) {
			return true
		}
	}
	return false
}

// cover notes what is now where a file comes to.
func (v *reverting) cover(f *fileRevert) error {
	now, err := inspect.EntryAt(v.Tx.Load, v.Now, f.path)
	f.now = now
	return err
}

// wayFree keeps what comes back from where somebody else made a file of its directory.
func (v *reverting) wayFree() error {
	changing := map[string]bool{}
	for _, f := range v.files {
		changing[f.path] = changing[f.path] || f.changes
	}
	for _, f := range v.files {
		if !f.changes || f.to == nil {
			continue
		}
		dir, by, err := v.inTheWay(f.path, func(dir string) bool { return changing[dir] })
		if err != nil {
			return err
		}
		if dir != "" {
			f.keepWhole(v, patch.Quote(dir)+" was made something that is no directory")
			f.conflicts[len(f.conflicts)-1].By, f.kept[len(f.kept)-1].By = by, by
			f.unpair(v)
		}
	}
	return nil
}

// unpair leaves the other name of a file alone, too, which cannot have its old one.
func (f *fileRevert) unpair(v *reverting) {
	delete(v.out.Moved, f.at)
	delete(v.out.MovedAsIs, f.at)
	if f.pair != nil {
		f.pair.changes = false
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
