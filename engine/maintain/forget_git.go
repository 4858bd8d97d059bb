package maintain

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// maxGitFile is the largest file of git's own state that is searched, in bytes; a checkpoint whose state has a larger one
// loses it.
const maxGitFile = 16 << 20

// gitState takes git's own state out of a record where that has what is to be forgotten: the name of a path in an
// index, a text in a reflog or in the configuration. A part of it would be of no use.
func (f *conversations) gitState(state *oid.ID) (changed bool, err error) {
	if state.IsZero() {
		return false, nil
	}
	has, known := f.gitStates[*state]
	if !known {
		text, byText := f.outside.(textMark)
		err := manifest.Walk(f.tx.Load, *state, func(path string, e manifest.Entry) (err error) {
			if byText && text.text([]byte(path), 0) > 0 { // the name of a branch
				has = true
			}
			if e.Kind != manifest.Subdir && !has {
				has, err = f.inGitFile(e)
			}
			return err
		})
		if project.IsLost(err) {
			has, err = true, nil
		}
		if err != nil {
			return false, err
		}
		f.gitStates[*state] = has
	}
	if has {
		*state = oid.ID{}
	}
	return has, nil
}

func (f *conversations) inGitFile(e manifest.Entry) (bool, error) {
	if e.Size > maxGitFile {
		return true, nil
	}
	r, err := f.tx.Open(e)
	if err != nil {
		return false, err
	}
	defer r.Close() // read only: nothing can be lost
	data, err := io.ReadAll(r)
	return err == nil && f.outside.text(data, 0) > 0, err
}

// GitHas is what a git repository of the project still has of what is forgotten. The next checkpoint holds it again.
type GitHas struct {
	Repo    string   // its path below the root, "" for that around the project
	Objects []string // ids of those with the content of a path, which are held with it
	Files   []string // of its git directory: relative to the root, or absolute
	Commits []string // ids of those whose message or author has it
}

// maxMessages is how many commits of a repository are searched, the newest first.
const maxMessages = 100_000

// inGit looks for the text in the repositories that the newest checkpoint knows, and that are still there.
func (f *textForgetter) inGit(ctx context.Context, said *LogState, result *Forgotten) error {
	around, _ := gitrepo.Find(f.p.Root())
	for _, c := range slices.Backward(said.Checkpoints) {
		if c.Git.IsZero() {
			continue
		}
		list, _, err := gitstate.LoadAll(f.tx, c.Git, f.p.Root())
		if project.IsLost(err) {
			continue
		} else if err != nil {
			return err
		}
		for _, s := range list {
			has := GitHas{Repo: s.Name(f.p.Root())}
			if s.Common == around.CommonDir {
				has.Repo = ""
			} else if !gitstate.Below(f.p.Root(), around.CommonDir, s.Common) {
				continue
			}
			if has.Files = f.inGitDir(s.Common); gitrepo.IsGitDir(s.Common) {
				has.Commits = f.inMessages(ctx, s.Common)
			}
			if len(has.Files)+len(has.Commits) > 0 {
				result.Git = append(result.Git, has)
			}
		}
		return ctx.Err()
	}
	return nil
}

// inGitDir are the files of a git directory with the text in the name or the content.
func (f *textForgetter) inGitDir(common string) (files []string) {
	_ = filepath.WalkDir(common, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is not known
		}
		rel, err := filepath.Rel(common, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"objects", "lfs", "annex", "modules"}, rel) {
				return fs.SkipDir
			}
			return nil
		}
		data, err := vfs.ReadRegular(file, maxGitFile)
		if f.has(filepath.ToSlash(rel)) || err == nil && f.mark.text(data, 0) > 0 {
			if name, err := filepath.Rel(f.p.Root(), file); err == nil && filepath.IsLocal(name) {
				file = filepath.ToSlash(name)
			}
			files = append(files, file)
		}
		return nil
	})
	return files
}

// inMessages are the commits with the text, of all that a reference or a reflog reaches. Without the git program none is known.
func (f *textForgetter) inMessages(ctx context.Context, common string) (ids []string) {
	out, err := gitprogram.Repository{GitDir: common}.Output(ctx, nil, "log", "--all", "--reflog", "--no-show-signature", "-z", "--max-count="+strconv.Itoa(maxMessages), "--format=%H%n%an%n%ae%n%cn%n%ce%n%B")
	if err != nil {
		return nil
	}
	for commit := range strings.SplitSeq(string(out), "\x00") {
		if id, text, ok := strings.Cut(commit, "\n"); ok && f.has(text) {
			ids = append(ids, id)
		}
	}
	return ids
}

// letGo lets go of the objects that are held with the content of what is forgotten, and that git itself has no more.
func (f *forgetter) letGo(said *LogState, result *Forgotten) error {
	var state oid.ID
	for _, c := range said.Checkpoints {
		if !c.Git.IsZero() {
			state = c.Git
		}
	}
	if state.IsZero() && len(gitstate.HeldDirs(f.p)) == 0 {
		return nil
	}
	ids := slices.Clone(gitstate.Forgotten(f.p)) // git may have lost it since
	for _, e := range f.files {
		more, err := f.gitIDs(e)
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	names := map[string]string{} // of the repositories, by their git directories
	if !state.IsZero() {
		list, _, err := gitstate.LoadAll(f.tx, state, f.p.Root())
		if err != nil && !project.IsLost(err) {
			return err
		}
		for _, s := range list {
			names[s.Common] = s.Name(f.p.Root())
		}
	}
	if around, ok := gitrepo.Find(f.p.Root()); ok {
		names[around.CommonDir] = ""
	}
	commons := slices.Sorted(maps.Keys(names))
	done, err := gitstate.LetGo(f.p, commons, ids, result.DryRun)
	result.HeldObjects, result.HeldPacks = done.Objects, done.Packs
	for _, common := range commons {
		if ids := done.InGit[common]; len(ids) > 0 {
			result.Git = append(result.Git, GitHas{Repo: names[common], Objects: ids})
		}
	}
	if err != nil || result.DryRun {
		return err
	}
	return gitstate.NoteForgotten(f.p, ids, false)
}

// gitIDs are the ids that git has for a file: by either sum, and with the ends of lines as git converts them.
func (f *forgetter) gitIDs(e manifest.Entry) (ids []string, err error) {
	r, err := f.tx.Open(e)
	if project.IsLost(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer r.Close() // read only: nothing can be lost
	head := gitprogram.FileHeader(e.Size)
	if e.Size > maxGitFile {
		one, two := sha1.New(), sha256.New()
		both := io.MultiWriter(one, two)
		if _, err = io.WriteString(both, head); err == nil {
			_, err = io.Copy(both, r)
		}
		if project.IsLost(err) {
			return nil, nil
		}
		return []string{hex.EncodeToString(one.Sum(nil)), hex.EncodeToString(two.Sum(nil))}, err
	}
	data, err := io.ReadAll(r)
	if project.IsLost(err) {
		return nil, nil
	}
	for _, text := range [][]byte{data, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))} {
		text = append([]byte(gitprogram.FileHeader(uint64(len(text)))), text...)
		one, two := sha1.Sum(text), sha256.Sum256(text)
		ids = append(ids, hex.EncodeToString(one[:]), hex.EncodeToString(two[:]))
	}
	return ids, err
}
