package revert

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// target is the tree after the revert. Paths that cannot be there together stay unchanged.
func (v *reverting) target() (oid.ID, error) {
	for {
		root, again, err := v.tryTarget()
		if err != nil {
			return root, err
		}
		if !again {
			again, err = v.lost(root)
		}
		if err != nil || !again {
			return root, err
		}
	}
}

// tryTarget makes the tree of all that changes; again where something of that has to stay, and does so from now on.
func (v *reverting) tryTarget() (root oid.ID, again bool, err error) {
	var edits []treeio.Edit
	var late []*fileRevert // directories that go, or that a file takes the place of
	filled := v.filled()
	modes := map[string]uint32{}
	for _, f := range v.files {
		switch {
		case !f.changes, f.covered:
		case f.now != nil && f.now.Kind == manifest.Subdir && (f.to == nil || f.to.Kind != manifest.Subdir):
			late = append(late, f)
		case f.to == nil && filled[f.path]: // a directory takes its place
			if modes[f.path], err = v.modeAsDir(f.path); err != nil {
				return root, false, err
			}
		default:
			edits = append(edits, f.edit())
		}
	}
	root, err = treeio.EditTree(v.Tx, v.Tx, v.Now, edits, modes)
	if err != nil {
		return root, false, err
	}
	slices.SortFunc(late, func(a, b *fileRevert) int { return cmp.Compare(strings.Count(b.path, "/"), strings.Count(a.path, "/")) })
	for _, f := range late {
		e, err := inspect.EntryAt(v.Tx.Load, root, f.path)
		if err != nil {
			return root, false, err
		}
		if e == nil || e.Kind != manifest.Subdir {
			continue
		}
		dir, err := v.Tx.Load(e.ID)
		if err != nil {
			return root, false, err
		}
		if len(dir.Entries) > 0 {
			if f.changes = false; f.to != nil {
				f.keepWhole(v, "the directory there holds files that are not of this work")
				f.unpair(v)
				v.keepBelow(f)
				return root, true, nil
			}
			continue
		}
		if root, err = treeio.EditTree(v.Tx, v.Tx, root, []treeio.Edit{f.edit()}, nil); err != nil {
			return root, false, err
		}
	}
	return root, false, nil
}

// filled are the directories below which something comes to be.
func (v *reverting) filled() map[string]bool {
	filled := map[string]bool{}
	for _, f := range v.files {
		if f.changes && f.to != nil {
			for dir := path.Dir(f.path); dir != "." && !filled[dir]; dir = path.Dir(dir) {
				filled[dir] = true
			}
		}
	}
	return filled
}

// modeAsDir is the mode that a path had when it last was a directory.
func (v *reverting) modeAsDir(name string) (uint32, error) {
	steps, err := v.who.Steps(name)
	for _, s := range slices.Backward(steps) {
		if e := s.From.Entry; e != nil && e.Kind == manifest.Subdir {
			return e.Mode, err
		}
	}
	return 0o755, err
}

// keepBelow keeps what the work made in a directory that stays: without it neither that would be there, nor
// what the directory was made instead of.
func (v *reverting) keepBelow(dir *fileRevert) {
	for _, f := range v.files {
		if f.changes && f.to == nil && f.pair == nil && strings.HasPrefix(f.path, dir.path+"/") {
			f.to, f.changes = f.now, false
			f.kept = append(f.kept, KeptPart{Path: f.path, Reason: "its directory stays", By: dir.kept[0].By})
		}
	}
}

// lost looks whether the tree holds what was decided: what comes somewhere is there, and what stays is where it
// was. Of what cannot be together, that which would change stays instead, as a conflict; some is true then.
func (v *reverting) lost(root oid.ID) (some bool, err error) {
	for _, f := range v.files {
		if f.covered {
			continue
		}
		at, want := f.path, f.to
		if !f.changes {
			if at, want = f.at, f.was; want == nil || !f.touched {
				continue
			}
		}
		if want == nil {
			continue
		}
		e, err := inspect.EntryAt(v.Tx.Load, root, at)
		if err != nil {
			return some, err
		}
		if manifest.SameEntries(e, want) || manifest.SameKindDir(e, want) {
			continue
		}
		for _, other := range v.files {
			if other.changes && !other.covered && (other.path == at || strings.HasPrefix(at, other.path+"/") || strings.HasPrefix(other.path, at+"/")) {
				other.keepWhole(v, "what others put there is in its way")
				other.unpair(v)
				some = true
			}
		}
	}
	return some, nil
}

// gitAtWork finds the checkpoint that knows where HEAD was when the work that is taken back began: that of the prompt, else
// the newest before its first call.
func (v *reverting) gitAtWork() (c *manifest.Checkpoint, err error) {
	began := int64(0)
	for _, at := range v.first {
		if began == 0 || at < began {
			began = at
		}
	}
	if began == 0 {
		return nil, nil
	}
	err = v.Query(v.Ctx, func(db *manifest.DB) error {
		for _, t := range v.work.Turns {
			if !t.Until.IsZero() && t.Until.UnixNano() <= began {
				continue // nothing of it is left to take back
			}
			for newest, err := range db.Checkpoints(manifest.Query{Before: t.Seq + 1, All: true, Limit: 1}) {
				c = &newest
				return err
			}
		}
		before, ok, err := db.At(time.Unix(0, began))
		if ok {
			c = &before
		}
		return err
	})
	return c, err
}
