package engine

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
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
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

// Split cuts a hunk between its changes; one with a single change stays as it is.
func (f *FileHunks) Split(h linediff.Hunk) []linediff.Hunk {
	if len(h.Changes) < 2 {
		return []linediff.Hunk{h}
	}
	var out []linediff.Hunk
	for i, c := range h.Changes {
		from, to := h.A, h.AEnd
		if i > 0 {
			from = max(h.Changes[i-1].AEnd, c.A-defaultContext)
		}
		if i+1 < len(h.Changes) {
			to = min(h.Changes[i+1].A, c.AEnd+defaultContext)
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

// ChangedSinceError: a path is no longer what the hunks were made from. Nothing was changed.
type ChangedSinceError struct{ Path string }

func (e *ChangedSinceError) Error() string {
	return patch.Quote(e.Path) + " changed since its hunks were shown"
}

// Hunks compares the working tree with a checkpoint, path by path, as a restore would change it. Of o, A is the
// checkpoint and Paths and WithPrecious count.
func Hunks(ctx context.Context, p *project.Project, o DiffOptions) ([]*FileHunks, error) {
	var out []*FileHunks
	o = DiffOptions{A: o.A, Paths: o.Paths, WithPrecious: o.WithPrecious, Reverse: true, Patch: true}
	err := compareTrees(ctx, p, o, func(w *diffWriter, diffs []FileDiff) error {
		diffs, err := w.write(diffs)
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
func (f *FileHunks) cut(w *diffWriter, d FileDiff) error {
	if d.Hunks == 0 || d.Status != patch.Modified || kindWord(d.Old) != "file" || d.Hidden {
		return nil
	}
	read := func(e *manifest.Entry) ([]string, error) {
		data, err := w.content(w.file(d.Path, e))
		return linediff.Lines(string(data)), err
	}
	var err error
	if f.now, err = read(d.Old); err != nil {
		return err
	}
	if f.then, err = read(d.New); err != nil {
		return err
	}
	f.Hunks = linediff.Hunks(linediff.Diff(f.now, f.then, linediff.Options{}), defaultContext, len(f.now))
	f.Head, _, _ = strings.Cut(d.Patch, "\n@@ ")
	f.Head += "\n"
	return nil
}

// RestoreHunks brings what was chosen of some paths to a checkpoint, which is o.Checkpoint, and beside it what o.Paths
// selects, if it is set; the conversation stays. It is a restore like every other: with a safety checkpoint, and taken back by UndoRestore.
// Errors are those of Restore, and *ChangedSinceError.
func RestoreHunks(ctx context.Context, p *project.Project, o RestoreOptions, choices []HunkChoice) (*Restored, error) {
	o.Half, o.Prompt = conversation.CodeOnly, 0
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
	return runRestore(ctx, p, o, manifest.OpRestore, func(r *restoring) (*restore.Plan, error) {
		r.op.Checkpoint, r.target = o.Checkpoint.ID, r.o.Checkpoint
		var edits []restore.Edit
		var err error
		for _, c := range choices {
			now, err := entryAt(r.tx.Load, r.now, c.File.Path)
			if err != nil {
				return nil, err
			}
			if !sameEntries(now, c.File.Old) {
				return nil, &ChangedSinceError{c.File.Path}
			}
			e, err := r.chosen(c)
			if err != nil {
				return nil, err
			}
			edits = append(edits, restore.Edit{Path: c.File.Path, Entry: e})
		}
		var plan *restore.Plan
		if more {
			plan, err = r.planWithHunks(edits)
		} else {
			plan, err = r.planHunks(paths, edits)
		}
		if err != nil {
			return nil, err
		}
		// What is there is read once more: it has to be what the person saw.
		if err := plan.Read(r.ctx, r.tx); err != nil {
			return nil, err
		}
		for _, c := range plan.Changes {
			if old, ok := seen[c.Path]; ok && c.Action != restore.Create && c.Action != restore.Mode && !sameEntries(&c.Before, old) {
				return nil, &ChangedSinceError{c.Path}
			}
		}
		return plan, nil
	})
}

// planHunks changes just these paths.
func (r *restoring) planHunks(paths []string, edits []restore.Edit) (*restore.Plan, error) {
	modes, err := r.dirModes(paths)
	if err != nil {
		return nil, err
	}
	target, err := restore.EditTree(r.tx, r.tx, r.now, edits, modes)
	if err != nil {
		return nil, err
	}
	return restore.NewPlan(r.ctx, restore.Options{
		Progress: r.told(),
		FS:       r.fs, Source: r.tx, Current: r.now, Target: target, Select: restore.NewExactly(paths), Store: rules.StorePath(r.Project), Workers: r.tx.Workers(),
	})
}

// planWithHunks restores what is selected as every restore does, to a checkpoint that has the edits.
func (r *restoring) planWithHunks(edits []restore.Edit) (*restore.Plan, error) {
	c := r.o.Checkpoint
	if err := r.pathsExist(c.Root); err != nil {
		return nil, err
	}
	target, err := restore.EditTree(r.tx, r.tx, c.Root, edits, nil)
	if err != nil {
		return nil, err
	}
	return r.planTree(c, target)
}

// dirModes are the modes that the checkpoint has of the directories above paths.
func (r *restoring) dirModes(paths []string) (map[string]uint32, error) {
	modes := map[string]uint32{}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if _, ok := modes[dir]; ok {
				break
			}
			e, err := entryAt(r.tx.Load, r.o.Checkpoint.Root, dir)
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

// sameEntries reports whether two entries are the same path's, both may be nil.
func sameEntries(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameContent(a, b) && a.Mode == b.Mode
}

// chosen is what a path becomes.
func (r *restoring) chosen(c HunkChoice) (manifest.Entry, error) {
	f := c.File
	if c.Whole || len(f.Hunks) == 0 {
		if f.New == nil {
			return manifest.Entry{}, nil
		}
		return *f.New, nil
	}
	var changes []linediff.Change
	for _, h := range c.Hunks {
		changes = append(changes, h.Changes...)
	}
	slices.SortFunc(changes, func(a, b linediff.Change) int { return a.A - b.A })
	changes = slices.Compact(changes)
	for i := 1; i < len(changes); i++ {
		if changes[i].A < changes[i-1].AEnd {
			return manifest.Entry{}, errors.New("the chosen hunks overlap")
		}
	}
	data := []byte(linediff.Apply(f.now, f.then, changes))
	e := *f.Old
	kind, id, n, err := r.tx.Content(0, bytes.NewReader(data), int64(len(data)), f.Old.ID)
	if err != nil {
		return e, err
	}
	if n != int64(len(data)) {
		return e, fmt.Errorf("%s: %w", patch.Quote(f.Path), io.ErrShortWrite)
	}
	e.Kind, e.ID, e.Size = kind, id, uint64(n)
	return e, nil
}
