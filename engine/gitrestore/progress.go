package gitrestore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// atWork are the files by which git knows what is in progress, with what that is called.
var atWork = []struct{ file, name string }{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	{"sequencer", "cherry-pick"}, {"BISECT_START", "bisect"}, {"BISECT_LOG", "bisect"}, {"SQUASH_MSG", squashMerge},
}

// squashMerge ends with the next commit or reset, and git has no command that ends it.
const squashMerge = "squash merge"

// progressFiles are all files and directories of a git directory that belong to something in progress.
var progressFiles = []string{
	"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD",
	"REBASE_HEAD", "BISECT_START", "BISECT_LOG", "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT", "BISECT_RUN", "BISECT_HEAD",
}

// inProgress names what is in progress in a git directory.
func inProgress(gitDir string) (list []string) {
	for _, w := range atWork {
		name := w.name
		if w.file == "sequencer" && revertsNext(gitDir) {
			name = "revert"
		}
		if _, err := os.Lstat(filepath.Join(gitDir, w.file)); err == nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// revertsNext reports whether the sequencer, which picks or reverts several commits, reverts them.
func revertsNext(gitDir string) bool {
	todo, err := vfs.ReadRegular(filepath.Join(gitDir, "sequencer", "todo"), 0)
	return err == nil && bytes.HasPrefix(todo, []byte("revert "))
}

// planProgress plans to bring back what was in progress. What is in progress now and was not then is a reason to wait.
func (p *planner) planProgress() error {
	was, is := inProgress(p.saved.repo.GitDir), inProgress(p.target.GitDir)
	var ended []string
	for _, name := range is {
		switch {
		case slices.Contains(was, name):
		case p.Mode == Back, name == squashMerge:
			ended = append(ended, name)
		default:
			p.refuse("A %s is in progress. Finish it, or end it, first.", name)
		}
	}
	if len(was)+len(ended) == 0 {
		return nil
	}
	for _, name := range progressFiles {
		same, err := sameTree(filepath.Join(p.saved.repo.GitDir, name), filepath.Join(p.target.GitDir, name))
		if err != nil {
			return err
		}
		if !same {
			p.progress = append(p.progress, name)
		}
	}
	if len(p.progress) == 0 {
		return nil
	}
	for _, name := range was {
		l := Line{What: Progress, Change: Returns, Name: name}
		if slices.Contains(is, name) {
			l.Change = Moves
		}
		p.line(l)
	}
	for _, name := range ended {
		p.line(Line{What: Progress, Change: Goes, Name: name})
	}
	return nil
}

// progressIDs are the ids in those files, which git may need.
func (p *planner) progressIDs() (ids []string) {
	if p.Mode == Missing && !p.worktree {
		return nil
	}
	return p.Plan.progressIDs()
}

// progressIDs are those of the saved state.
func (p *Plan) progressIDs() (ids []string) {
	gitDir := p.savedRepo().GitDir
	for _, name := range progressFiles {
		_ = filepath.WalkDir(filepath.Join(gitDir, name), func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // most are not there
			}
			data, err := vfs.ReadRegular(file, 0)
			if err != nil {
				return nil // applying will find out
			}
			for word := range strings.FieldsSeq(string(data)) {
				if (len(word) == 40 || len(word) == 64) && isHex(word) && !isZero(word) {
					ids = append(ids, word)
				}
			}
			return nil
		})
	}
	return ids
}

// sameTree compares two files or directories, either of which may be missing.
func sameTree(a, b string) (bool, error) {
	list := func(root string) (map[string][]byte, error) {
		files := map[string][]byte{}
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				if vfs.IsMissing(err) {
					return nil
				}
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			files[rel], err = vfs.ReadRegular(file, 0)
			return err
		})
		return files, err
	}
	was, err := list(a)
	if err != nil {
		return false, err
	}
	is, err := list(b)
	if err != nil || len(was) != len(is) {
		return false, err
	}
	for name, data := range was {
		if other, ok := is[name]; !ok || !bytes.Equal(data, other) {
			return false, nil
		}
	}
	return true, nil
}

// applyProgress puts each file and directory in the place of the present one.
func (p *Plan) applyProgress(ctx context.Context, w *work) error {
	for _, name := range p.progress {
		from, to := filepath.Join(p.savedRepo().GitDir, name), filepath.Join(p.target.GitDir, name)
		temp := ""
		if info, err := os.Lstat(from); err == nil {
			temp = w.temp()
			if info.IsDir() {
				if err = os.Mkdir(temp, 0o777); err == nil {
					err = copyTree(ctx, from, temp)
				}
			} else {
				err = copyFile(from, temp, info.Mode().Perm())
			}
			if err != nil {
				return err
			}
		}
		if err := os.Rename(to, w.temp()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := p.stepped("progress is moved away"); err != nil {
			return err
		}
		if temp != "" {
			if err := os.Rename(temp, to); err != nil {
				return err
			}
		}
		w.written = append(w.written, to)
	}
	return nil
}
