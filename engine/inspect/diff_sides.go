package inspect

import (
	"context"
	"errors"
	"io"
	"os"
	"path"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// DiffSides writes the files that differ into two directories, which exist and are empty: as they were, and as
// they are. A symlink becomes a file that holds its target, so that nothing outside is looked at through it;
// hidden files and directories are left out. It gives what was written. Renames are not looked for.
func DiffSides(ctx context.Context, p *project.Project, o DiffOptions, oldDir, newDir string) ([]FileDiff, error) {
	var out []FileDiff
	err := CompareTrees(ctx, p, o, func(w *DiffWriter, diffs []FileDiff) error {
		old, err := os.OpenRoot(oldDir)
		if err != nil {
			return err
		}
		defer old.Close()
		new, err := os.OpenRoot(newDir)
		if err != nil {
			return err
		}
		defer new.Close()
		for _, d := range diffs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if d.Hidden || !manifest.HasContent(d.Old) && !manifest.HasContent(d.New) {
				continue
			}
			if err := w.writeSide(old, d.Path, d.Old); err != nil {
				return err
			}
			if err := w.writeSide(new, d.Path, d.New); err != nil {
				return err
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}

func (w *DiffWriter) writeSide(root *os.Root, name string, e *manifest.Entry) error {
	if !manifest.HasContent(e) {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	r, err := project.ContentOf(w.get, *e)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
