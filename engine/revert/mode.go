package revert

import (
	"fmt"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// reasonMode is why a mode stays.
const reasonMode = "its mode was changed again since"

// setMode gives a file or a directory the mode that others set last; a link has none. Where the work had set another one
// before that, it is a conflict of its own: the content goes back whatever becomes of it.
func (v *reverting) setMode(f *fileRevert, links []work.Link) {
	if f.to == nil || f.to.Kind == manifest.Symlink || links[0].Entry == nil {
		return
	}
	mode, last := f.to.Mode, (*manifest.Entry)(nil)
	undone := mode // before the work set it first
	var own, since []*attribution.Step
	for _, l := range links {
		if l.Entry == nil || l.Entry.Kind == manifest.Symlink || (l.Entry.Kind == manifest.Subdir) != (f.to.Kind == manifest.Subdir) {
			continue
		}
		switch {
		case last == nil:
			mode, undone = l.Entry.Mode, l.Entry.Mode
		case l.Entry.Mode == last.Mode:
		case l.Own:
			own = append(own, l.Step)
		case len(own) == 0:
			mode, undone = l.Entry.Mode, l.Entry.Mode
		default:
			mode, since = l.Entry.Mode, append(since, l.Step)
		}
		last = l.Entry
	}
	e := *f.to
	e.Mode = mode
	f.to = &e
	if len(since) == 0 || mode == undone {
		return
	}
	c := RevertConflict{Path: f.path, Reason: reasonMode, By: stepWorks(since), Own: stepWorks(own)}
	c.Key = conflictKey(f.path, []string{fmt.Sprintf("mode %o", mode)}, []string{fmt.Sprintf("mode %o", undone)})
	c.Choice = v.choice(c.Key)
	f.conflicts = append(f.conflicts, c)
	switch c.Choice {
	case work.UndoBlock:
		e.Mode = undone
		return
	case work.KeepFile:
		f.to, f.kept, f.going, f.near, f.merged, f.removed, f.restored = f.now, nil, nil, nil, false, 0, 0
	}
	f.kept = append(f.kept, KeptPart{Path: f.path, Reason: reasonMode, By: c.By})
}
