package maintain

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
)

// maxQuestions is how often git is asked what a commit has at a path: a few seconds' worth.
const maxQuestions = 1 << 20

// lookInCommits finds what the commits that git has, or that are held, have at the chosen paths: no checkpoint may have had it as a file.
func (f *forgetter) lookInCommits(ctx context.Context, log *LogState) (err error) {
	if f.repos, err = repositories(f.p, f.tx, log, true); err != nil {
		return err
	}
	dirs := gitstate.HeldWith(f.p, commonsOf(f.repos))
	elsewhere, err := f.p.HoldElsewhere()
	if err != nil || len(dirs) == 0 && !elsewhere {
		return err
	}
	chosen := maps.Clone(f.paths)
	for _, pattern := range f.patterns {
		at, plain := pathspec.PlainPath(path.Clean(pattern))
		if plain {
			chosen[at] = true
		} else {
			f.unsearched = "of a glob, only the paths that checkpoints have are looked for there"
		}
	}
	for at := range chosen {
		f.sought.Paths = append(f.sought.Paths, rules.ForgottenKey(f.p, at))
		for at, _ = rootfs.Split(at); at != ""; at, _ = rootfs.Split(at) {
			f.sought.Above = append(f.sought.Above, rules.ForgottenKey(f.p, at))
		}
	}
	for _, r := range f.repos {
		err := f.lookIn(ctx, r, dirs, chosen)
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			f.unsearched = problem.Text(err)
		}
	}
	return nil
}

// mayBeElsewhere reports whether another account may hold commits that have a path, and has not looked for it yet, or has not let go of
// it in the store of another work tree.
func (f *forgetter) mayBeElsewhere(pattern string) (bool, error) {
	at, plain := pathspec.PlainPath(path.Clean(pattern))
	if !plain {
		return false, nil
	}
	hold, err := f.p.HoldElsewhere()
	if err != nil {
		return false, err
	}
	if !gitstate.IsSought(f.p, rules.ForgottenKey(f.p, at)) {
		return hold, nil
	}
	if hold {
		if behind, _, err := f.p.HomesBehind(gitstate.Note(f.p)); err != nil || len(behind) > 0 {
			return true, err
		}
	}
	return gitstate.IsBehindBeside(f.p, commonsOf(f.repos))
}

// lookIn looks in one repository.
func (f *forgetter) lookIn(ctx context.Context, r *repository, dirs []string, chosen map[string]bool) error {
	var paths, inRepo []string
	for at := range chosen {
		if in, ok := r.path(filepath.Join(f.p.Root(), filepath.FromSlash(at))); ok && !strings.Contains(in, "\n") {
			paths, inRepo = append(paths, at), append(inRepo, in)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	o, err := r.objects(f.p, dirs)
	defer o.close()
	if err != nil {
		return err
	}
	ids, found, err := o.at(ctx, inRepo)
	f.inCommits = append(f.inCommits, ids...)
	for i := range found {
		f.committed = append(f.committed, paths[i])
	}
	return err
}

// ask notes what references and reflogs of the states name and cannot be read here, once all is let go of: another account may hold it.
func (f *forgetter) ask(ctx context.Context) error {
	if elsewhere, err := f.p.HoldElsewhere(); err != nil || !elsewhere {
		return err
	}
	dirs := gitstate.HeldWith(f.p, commonsOf(f.repos))
	for _, r := range f.repos {
		o, err := r.objects(f.p, dirs)
		if err == nil {
			err = o.kinds(ctx, o.tips, func(_ int, id, kind string) {
				if kind == "missing" && r.ids[id] && strings.Trim(id, "0") != "" {
					f.sought.Asked = append(f.sought.Asked, id)
				}
			})
		}
		o.close()
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			f.unsearched = problem.Text(err)
		}
	}
	return nil
}

// path is what the commits of the repository call a file, "" for the whole work tree. ok is false where they cannot have it.
func (r *repository) path(file string) (at string, ok bool) {
	if r.workTree == "" {
		return "", false
	}
	if rel, err := filepath.Rel(r.workTree, file); err == nil && rel != "." && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), true
	}
	rel, err := filepath.Rel(file, r.workTree)
	return "", err == nil && filepath.IsLocal(rel)
}

// repoObjects reads the objects of a repository, and those that are held.
type repoObjects struct {
	git   gitprogram.Repository
	size  int      // of an id, in hexadecimal digits
	tips  []string // what the repository's states name
	empty string   // the git directory, if the repository has none
	dirs  []string // that hold objects
}

func (r *repository) objects(p *project.Project, dirs []string) (o repoObjects, err error) {
	var tips [65][]string
	for id := range r.ids {
		tips[len(id)] = append(tips[len(id)], id)
	}
	format := "sha1"
	if o.size = 40; len(tips[64]) > len(tips[40]) {
		format, o.size = "sha256", 64
	}
	o.git, o.tips, o.dirs = gitprogram.Repository{GitDir: r.common, Objects: dirs}, tips[o.size], dirs
	if !r.isThere(p) {
		o.empty, err = emptyGitDir(p, format)
		o.git.GitDir = o.empty
	}
	return o, err
}

func (o repoObjects) close() {
	if o.empty != "" {
		_ = os.RemoveAll(o.empty)
	}
}

func inLines(words []string) []byte { return []byte(strings.Join(append(words, ""), "\n")) }

// kinds calls each with what names are: an id and a kind, or the name and "missing". What is empty is left out.
func (o repoObjects) kinds(ctx context.Context, names []string, each func(i int, id, kind string)) error {
	out, err := o.git.Output(ctx, inLines(names), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(out), "\n") {
		switch words := strings.Fields(line); {
		case len(words) == 3 && len(words[0]) == o.size && words[2] != "0":
			each(i, words[0], words[1])
		case i < len(names) && line == names[i]+" missing":
			each(i, names[i], "missing")
		}
	}
	return nil
}

// alone are the commits that are held and that git has no more: no state may name them.
func (o repoObjects) alone(ctx context.Context) (commits []string, err error) {
	held := &heldObjects{dirs: o.dirs}
	if err := held.list(); err != nil {
		return nil, err
	}
	return commits, o.kinds(ctx, slices.Collect(maps.Keys(held.candidates())), func(_ int, id, kind string) {
		if kind == "commit" {
			commits = append(commits, id)
		}
	})
}

// at gives the ids of the files that commits have at some paths, or below, and which of the paths, by their place, a commit has.
func (o repoObjects) at(ctx context.Context, paths []string) (ids []string, found map[int]bool, err error) {
	commits, err := o.alone(ctx)
	if err != nil {
		return nil, nil, err
	}
	out, err := o.git.Output(ctx, inLines(o.tips), "rev-list", "--ignore-missing", "--all", "--reflog", "--stdin")
	if err != nil {
		return nil, nil, err
	}
	commits = append(commits, strings.Fields(string(out))...)
	slices.Sort(commits)
	var names []string
	for _, commit := range slices.Compact(commits) {
		for _, at := range paths {
			names = append(names, commit+":"+at)
		}
		if len(names) > maxQuestions {
			return nil, nil, errors.New("there are too many commits")
		}
	}
	var trees []string
	found = map[int]bool{}
	err = o.kinds(ctx, names, func(i int, id, kind string) {
		switch kind {
		case "missing":
			return
		case "tree":
			trees = append(trees, id)
		case "blob":
			ids = append(ids, id)
		}
		found[i%len(paths)] = true
	})
	if err != nil {
		return ids, found, err
	}
	below, err := o.filesBelow(ctx, trees)
	return append(ids, below...), found, err
}

// filesBelow are the ids of all files in some trees.
func (o repoObjects) filesBelow(ctx context.Context, trees []string) (ids []string, err error) {
	if len(trees) == 0 {
		return nil, nil
	}
	slices.Sort(trees)
	out, err := o.git.Output(ctx, inLines(slices.Compact(trees)), "rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--stdin")
	if err != nil {
		return nil, err
	}
	return ids, o.kinds(ctx, strings.Fields(string(out)), func(_ int, id, kind string) {
		if kind == "blob" {
			ids = append(ids, id)
		}
	})
}
