package revert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// chosenExist refuses (*NoPathError) an argument that names neither what the work changed nor anything that is there.
func (v *reverting) chosenExist(paths []string) error {
	others, err := pathspec.Unmatched(v.Run.Options.Paths, paths)
	if err != nil {
		return err
	}
	return pathspec.MatchSome(v.Tx.Load, others, v.Now)
}

// present is the present tree, with what hooks have left since the newest checkpoint.
func (v *reverting) present() (*attribution.Present, error) {
	newest, err := v.NewestCheckpoint()
	if err != nil {
		return nil, err
	}
	now := &attribution.Present{Time: v.Env.Time(), Root: v.Now, Load: v.Tx.Load, Windows: window.Pending(v.Project)}
	if newest != nil {
		now.At, err = v.Scan.Written(newest.Root)
	}
	return now, err
}

// unread leaves alone what the scan could not read, or no longer captures: it is there, whatever the tree says. It
// should have been reverted, unless nothing of the work was left in it when it was last seen.
func (v *reverting) unread(f *fileRevert) error {
	if f.now != nil || !f.touched || !problem.UnreadOf(v.Scan.Problems, v.Scan.Problems).Has(f.path) {
		return nil
	}
	f.touched, f.decided = false, true
	n := len(f.steps)
	for n > 1 && f.steps[n-1].To.Entry == nil && f.steps[n-1].Class != attribution.Operation {
		n-- // it was not removed, but left out
	}
	links, err := v.historyOf(f.path, f.steps[:n]).chain(v)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(links, func(l work.Link) bool { return l.Own }) {
		v.skipUnread(f.path)
	}
	return nil
}

// skipUnread notes why a path that should have been reverted stays unchanged.
func (v *reverting) skipUnread(path string) {
	p := problem.Problem{Path: path, Reason: "it cannot be read as it is now"}
	for _, found := range v.Scan.Problems {
		if found.Path == path || strings.HasPrefix(path, found.Path+"/") {
			p.Code, p.Reason = found.Code, found.Reason
		}
	}
	p.Failed = true
	v.skips = append(v.skips, p)
}

// notCovered are the files that the work's edits wrote, which are there, and which no state holds; elsewhere those of them
// outside the project.
func (v *reverting) notCovered() (paths, elsewhere []string, err error) {
	var today *rules.Scopes
	for _, path := range v.who.Declared(v.work.Has) {
		if file := filepath.FromSlash(path); filepath.IsAbs(file) {
			if info, err := os.Lstat(file); err == nil && !info.IsDir() && v.Sel == nil {
				elsewhere = append(elsewhere, path)
			}
			continue
		}
		if v.Sel != nil && !v.Sel.Has(path) {
			continue
		}
		if e, err := inspect.EntryAt(v.Tx.Load, v.Now, path); err != nil || e != nil {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		info, err := os.Lstat(filepath.Join(v.Root(), filepath.FromSlash(path)))
		if err != nil || info.IsDir() {
			continue
		}
		if today == nil {
			today = v.Today()
		}
		if !today.Captures(path, false) {
			paths = append(paths, path)
		}
	}
	return paths, elsewhere, nil
}

// statesThere refuses work that is older than every state: what was there before is unknown. What it could have written
// there, and others, stays.
func (v *reverting) statesThere() error {
	oldest := v.who.Oldest()
	if oldest == nil || oldest.Parent == (manifest.CheckpointID{}) {
		return nil // nothing was removed before it
	}
	w := v.work
	gone := &work.StatesGoneError{Time: w.First.Start, Prompt: w.First.Prompt, Oldest: oldest.Time}
	if w.Newest {
		gone.Since = len(w.Turns) // the checkpoints of their prompts are left
	}
	v.gone = gone
	lost, err := v.who.Lost(w.Has)
	if err != nil {
		return err
	}
	if len(lost) == 0 && w.Matched == 0 && w.All && w.Session != "" {
		return v.everThere(gone)
	}
	refuse := false
	for _, l := range lost {
		switch {
		case l.Path != "" && v.Sel != nil && !v.Sel.Has(l.Path), v.doneBefore(&l):
		case l.Sure || v.o.IncludeShared:
			if !refuse || l.Work.Start.Before(gone.Time) {
				gone.Time, gone.Prompt = l.Work.Start, l.Work.Prompt
			}
			refuse = true
			if l.Path != "" {
				gone.Paths = append(gone.Paths, l.Path)
			}
		default:
			if e, err := inspect.EntryAt(v.Tx.Load, v.Now, l.Path); err != nil {
				return err
			} else if e == nil {
				continue // nothing stays
			}
			f := &fileRevert{path: l.Path}
			f.share(&attribution.Step{Path: l.Path, Owner: l.Owner}, v)
			v.before = append(v.before, f.shared)
		}
	}
	if refuse {
		return gone
	}
	return nil
}

// everThere refuses a session of which nothing is left but its name: what it did was removed.
func (v *reverting) everThere(gone error) error {
	return v.Query(v.Ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: v.work.Session, All: true}) {
			if err != nil || c.Session == v.work.Session {
				return err // it did nothing
			}
		}
		return gone
	})
}

// doneBefore reports whether an earlier revert has taken back all of what that was a part of.
func (v *reverting) doneBefore(l *attribution.Lost) bool {
	for _, d := range v.again {
		if d.Whole && len(d.Chosen) == 0 && d.Work.Has(&l.Work) && l.Work.Start.Before(d.Time) && (l.Sure || d.Shared) {
			return true
		}
	}
	return false
}

// beginningsThere refuses work on a path whose state before is unknown: a touch has what a call left, and
// the states before it were removed.
func (v *reverting) beginningsThere(paths []string, steps map[string][]attribution.Step) error {
	if v.gone == nil {
		return nil
	}
	for _, path := range paths {
		s := steps[path]
		if len(s) == 0 || !s[0].Found() {
			continue
		}
		if _, some := s[0].Of(v.work.Has); some {
			return v.gone
		}
	}
	return nil
}
