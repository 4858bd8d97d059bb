package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// FileHunks is what a restore of one path would change, in parts that can be chosen. It says what was
// there when it was made: RestoreHunks refuses a path that is something else by then.
type FileHunks struct {
	manifest.Change // Old is what is there now, New what the checkpoint has; nil: nothing
	Status          patch.Status
	Hunks           []linediff.Hunk // of texts that both are there; none: the path as a whole is the only part
	Head            string          // the lines of the patch before the first hunk; without hunks, all of it
	Hidden          bool            // its content is not in Head, since it is precious

	now, then []string // lines
}

// Hunk is the text of one hunk, with its head.
func (f *FileHunks) Hunk(h linediff.Hunk) string {
	var out strings.Builder
	patch.WriteHunk(&out, f.now, f.then, h, "")
	return out.String()
}

// Split cuts a hunk between its changes; one with a single change stays whole.
func (f *FileHunks) Split(h linediff.Hunk) []linediff.Hunk {
	if len(h.Changes) < 2 {
		return []linediff.Hunk{h}
	}
	var out []linediff.Hunk
	for i, c := range h.Changes {
		from, to := h.A, h.AEnd
		if i > 0 {
			from = max(h.Changes[i-1].AEnd, c.A-inspect.DefaultContext)
		}
		if i+1 < len(h.Changes) {
			to = min(h.Changes[i+1].A, c.AEnd+inspect.DefaultContext)
		}
		out = append(out, linediff.Hunk{A: from, AEnd: to, B: c.B - (c.A - from), BEnd: c.BEnd + (to - c.AEnd), Changes: h.Changes[i : i+1 : i+1]})
	}
	return out
}

// HunkChoice is what is to be taken of a path.
type HunkChoice struct {
	File  *FileHunks
	Whole bool            // all of it: content, mode, whether it is there
	Hunks []linediff.Hunk // else those of File.Hunks, or of File.Split, in any order
}

func (c *HunkChoice) changes() (changes []linediff.Change) {
	for _, h := range c.Hunks {
		changes = append(changes, h.Changes...)
	}
	return changes
}

// ChangedSinceError: a path is no longer what the hunks were made from. Nothing was changed.
type ChangedSinceError struct{ Path string }

func (e *ChangedSinceError) Error() string {
	return patch.Quote(e.Path) + " changed since its hunks were shown"
}

// Hunks compares the working tree with a checkpoint, path by path, as a restore would change it. Of o, A is the
// checkpoint and Paths and WithPrecious count.
func Hunks(ctx context.Context, p *project.Project, o inspect.DiffOptions) ([]*FileHunks, error) {
	var out []*FileHunks
	o = inspect.DiffOptions{A: o.A, Paths: o.Paths, WithPrecious: o.WithPrecious, Reverse: true, Patch: true}
	err := inspect.CompareTrees(ctx, p, o, func(w *inspect.DiffWriter, diffs []inspect.FileDiff) error {
		diffs, err := w.Write(diffs)
		if err != nil {
			return err
		}
		for _, d := range diffs {
			f := &FileHunks{Change: d.Change, Status: d.Status, Hidden: d.Hidden, Head: d.Patch}
			if err := f.cut(w, d); err != nil {
				return err
			}
			out = append(out, f)
		}
		return nil
	})
	return out, err
}

// cut makes hunks of what has lines on both sides.
func (f *FileHunks) cut(w *inspect.DiffWriter, d inspect.FileDiff) error {
	if d.Hunks == 0 || d.Status != patch.Modified || inspect.KindWord(d.Old) != "file" || d.Hidden {
		return nil
	}
	read := func(e *manifest.Entry) ([]string, error) {
		data, err := w.Content(w.File(d.Path, e))
		return linediff.Lines(string(data)), err
	}
	var err error
	if f.now, err = read(d.Old); err != nil {
		return err
	}
	if f.then, err = read(d.New); err != nil {
		return err
	}
	f.Hunks = linediff.Hunks(linediff.Diff(f.now, f.then, linediff.Options{}), inspect.DefaultContext, len(f.now))
	f.Head, _, _ = strings.Cut(d.Patch, "\n@@ ")
	f.Head += "\n"
	return nil
}

// RestoreHunks brings what was chosen of some paths to a checkpoint, which is o.Checkpoint, and beside it what o.Paths
// selects, if it is set; the conversation stays. It is a restore like every other: with a safety checkpoint, and taken back by UndoRestore.
// Errors are those of Restore, and *ChangedSinceError.
func RestoreHunks(ctx context.Context, p *project.Project, o Options, choices []HunkChoice) (*Restored, error) {
	o.Half, o.Prompt = conversation.CodeOnly, 0
	if err := isTarget(o.Checkpoint); err != nil {
		return nil, err
	}
	more := len(o.Paths) > 0
	seen := map[string]*manifest.Entry{}
	paths := make([]string, 0, len(choices))
	for _, c := range choices {
		seen[c.File.Path] = c.File.Old
		paths = append(paths, c.File.Path)
		if more {
			o.Paths = append(o.Paths[:len(o.Paths):len(o.Paths)], pathspec.EscapeGlob(c.File.Path))
		}
	}
	return Do(ctx, p, o, manifest.OpRestore, func(r *Run) (way Way, err error) {
		var edits []treeio.Edit
		for _, c := range choices {
			now, err := inspect.EntryAt(r.Tx.Load, r.Now, c.File.Path)
			if err != nil {
				return way, err
			}
			if !manifest.SameEntries(now, c.File.Old) {
				return way, &ChangedSinceError{c.File.Path}
			}
			e, err := r.chosen(c)
			if err != nil {
				return way, err
			}
			edits = append(edits, treeio.Edit{Path: c.File.Path, Entry: e})
		}
		if more {
			way, err = r.planWithHunks(edits)
		} else {
			way, err = r.planHunks(paths, edits)
		}
		if err != nil {
			return way, err
		}
		way.hunks = choices
		// What is there is read once more: it has to be what the person saw.
		if err := way.Plan.Read(r.Ctx, r.Tx); err != nil {
			return way, err
		}
		for _, c := range way.Plan.Changes {
			if old, ok := seen[c.Path]; ok && c.Action != treeio.Create && c.Action != treeio.Mode && !manifest.SameEntries(&c.Before, old) {
				return way, &ChangedSinceError{c.Path}
			}
		}
		return way, nil
	})
}

// planHunks changes just these paths, and what is of the same databases.
func (r *Run) planHunks(paths []string, edits []treeio.Edit) (way Way, err error) {
	way.Target = r.Options.Checkpoint
	modes, err := r.dirModes(paths)
	if err != nil {
		return way, err
	}
	all, edits, err := r.editDatabases(way.Target.Root, paths, edits)
	if err != nil {
		return way, err
	}
	target, err := treeio.EditTree(r.Tx, r.Tx, r.Now, edits, modes)
	if err != nil {
		return way, err
	}
	o := r.PlanOptions(target, treeio.NewExactly(all))
	if with := all[len(paths):]; len(with) > 0 {
		way.with, way.saw = with, r.sightOf(way.Target, rules.Of(r.Project, r.Tx, way.Target))
		saw := way.saw
		o.Unseen = func(path string, dir bool) problem.Cause {
			if !slices.Contains(with, path) {
				return problem.Cause{} // it was chosen
			}
			return saw.Unseen(path, dir)
		}
	}
	way.Plan, err = treeio.NewPlan(r.Ctx, o)
	return way, err
}

// planWithHunks restores what is selected as every restore does, to a checkpoint that has the edits.
func (r *Run) planWithHunks(edits []treeio.Edit) (way Way, err error) {
	c := r.Options.Checkpoint
	if err := r.pathsExist(c.Root); err != nil {
		return way, err
	}
	target, err := treeio.EditTree(r.Tx, r.Tx, c.Root, edits, nil)
	if err != nil {
		return way, err
	}
	return r.planTree(c, target, r.selected(c))
}

// dirModes are the modes that the checkpoint has of the directories above paths.
func (r *Run) dirModes(paths []string) (map[string]uint32, error) {
	modes := map[string]uint32{}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if _, ok := modes[dir]; ok {
				break
			}
			e, err := inspect.EntryAt(r.Tx.Load, r.Options.Checkpoint.Root, dir)
			if err != nil {
				return nil, err
			}
			if e != nil && e.Kind == manifest.Subdir {
				modes[dir] = e.Mode
			}
		}
	}
	return modes, nil
}

// chosen is what a path becomes.
func (r *Run) chosen(c HunkChoice) (manifest.Entry, error) {
	f := c.File
	if c.Whole || len(f.Hunks) == 0 {
		if f.New == nil {
			return manifest.Entry{}, nil
		}
		return *f.New, nil
	}
	changes := c.changes()
	slices.SortFunc(changes, func(a, b linediff.Change) int { return a.A - b.A })
	changes = slices.Compact(changes)
	for i := 1; i < len(changes); i++ {
		if changes[i].A < changes[i-1].AEnd {
			return manifest.Entry{}, errors.New("the chosen hunks overlap")
		}
	}
	data := []byte(linediff.Apply(f.now, f.then, changes))
	e := *f.Old
	kind, id, n, err := r.Tx.Content(0, bytes.NewReader(data), int64(len(data)), f.Old.ID)
	if err != nil {
		return e, err
	}
	if n != int64(len(data)) {
		return e, fmt.Errorf("%s: %w", patch.Quote(f.Path), io.ErrShortWrite)
	}
	e.Kind, e.ID, e.Size = kind, id, uint64(n)
	return e, nil
}
