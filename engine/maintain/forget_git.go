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
	Files   []string // of its git directory, relative to the root or absolute; of exclude files elsewhere, what git calls them
	Commits []string // ids of those whose message or author has it
	Tags    []string // likewise
	Notes   []string // ids of notes with it
	Trees   []string // ids of directories with it in a name
	Partly  bool     // it has too many objects: not all commits, tags and trees were searched
}

// repository is one that a checkpoint or an operation has the state of, or that is around the project now.
type repository struct {
	common   string          // its common git directory
	workTree string          // "" of one that is not checked out
	name     string          // for a person: "" of that around the project
	ids      map[string]bool // objects that its states name: see State.Mentions
}

// repositories are those of the project, that around it first. With ids, the objects are collected that their states name.
func repositories(p *project.Project, objects gitstate.Objects, log *LogState, ids bool) ([]*repository, error) {
	states := map[oid.ID]bool{}
	for _, c := range log.Checkpoints {
		states[c.Git] = true
	}
	newest, older := log.undoable(nil)
	for _, o := range slices.Concat(newest, older) {
		states[o.GitBefore], states[o.GitAfter] = true, true
	}
	delete(states, oid.ID{})
	known := map[string]*repository{}
	if around, ok := gitrepo.Find(p.Root()); ok {
		known[around.CommonDir] = &repository{around.CommonDir, around.WorkTree, "", map[string]bool{}}
	}
	for id := range states {
		list, _, err := gitstate.LoadAll(objects, id, p.Root())
		for _, s := range list {
			if known[s.Common] == nil {
				known[s.Common] = &repository{s.Common, s.WorkTree, s.Name(p.Root()), map[string]bool{}}
			}
			if ids && err == nil {
				err = s.Mentions(known[s.Common].ids)
			}
		}
		if err != nil && !project.IsLost(err) {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(known), func(a, b *repository) int { return strings.Compare(a.name, b.name) }), nil
}

func commonsOf(repos []*repository) (commons []string) {
	for _, r := range repos {
		commons = append(commons, r.common)
	}
	return commons
}

// isThere reports whether the repository's git directory is there, and the project's: a store can come from anywhere, and says itself
// where its repositories are.
func (r *repository) isThere(p *project.Project) bool {
	around, _ := gitrepo.Find(p.Root())
	return gitrepo.IsGitDir(r.common) && (r.common == around.CommonDir || gitstate.Below(p.Root(), around.CommonDir, r.common))
}

// inGit looks for the text in the repositories that are still there.
func (f *textForgetter) inGit(ctx context.Context, result *Forgotten) error {
	around, _ := gitrepo.Find(f.p.Root())
	around.Getenv = f.p.Env.Variable
	for _, r := range f.repos {
		if !r.isThere(f.p) {
			continue
		}
		has := GitHas{Repo: r.name, Files: f.inGitDir(r.common)}
		if r.common == around.CommonDir {
			has.Files = append(has.Files, f.inExcludes(around)...)
		}
		f.inObjects(ctx, r.common, &has)
		if len(has.Files)+len(has.Commits)+len(has.Tags)+len(has.Notes)+len(has.Trees) > 0 || has.Partly {
			result.Git = append(result.Git, has)
		}
	}
	return ctx.Err()
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

// inExcludes are the files outside of the git directory with the text whose rules git applies to the project.
func (f *textForgetter) inExcludes(r gitrepo.Repo) (files []string) {
	sources, _, _ := r.Excludes(f.p.Env.Home) // what cannot be read is in no rules
	for _, s := range sources {
		if s.Name != gitrepo.InfoExclude && (f.has(s.Name) || f.mark.text(bytes.Clone(s.Text), 0) > 0) {
			files = append(files, s.Name)
		}
	}
	return files
}

// letGo lets go of the objects that are held with the content of what is forgotten, and that git itself has no more.
func (f *forgetter) letGo(ctx context.Context, result *Forgotten) error {
	defer func() { result.Unsearched = f.unsearched }()
	if len(f.repos) == 0 && len(gitstate.HeldDirs(f.p)) == 0 {
		return nil
	}
	ids := slices.Concat(f.inCommits, gitstate.Forgotten(f.p)) // git may have lost these since
	for _, e := range f.files {
		more, err := f.gitIDs(e)
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	done, err := gitstate.LetGo(f.p, commonsOf(f.repos), ids, result.DryRun)
	result.HeldObjects, result.HeldPacks, result.gitIDs = done.Objects, done.Packs, ids
	for _, r := range f.repos {
		if ids := done.InGit[r.common]; len(ids) > 0 {
			result.Git = append(result.Git, GitHas{Repo: r.name, Objects: ids})
		}
	}
	if err != nil || result.DryRun {
		return err
	}
	if err := f.ask(ctx); err != nil {
		return err
	}
	if err := gitstate.NoteForgotten(f.p, ids, f.sought, done.Kept); err != nil || len(ids) == 0 {
		return err
	}
	result.Beside, err = gitstate.NoteBeside(f.p, commonsOf(f.repos), ids)
	return err
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
