package maintain

import (
	"context"
	"errors"
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
)

// maxQuestions is how often git is asked what a commit has at a path: a few seconds' worth.
const maxQuestions = 1 << 20

// lookInCommits finds what the commits that git has, or that are held, have at the chosen paths: no checkpoint may have had it as a file.
func (f *forgetter) lookInCommits(ctx context.Context, log *LogState) (err error) {
	if f.repos, err = f.repositories(log, true); err != nil || len(gitstate.HeldDirs(f.p)) == 0 {
		return err
	}
	chosen := map[string]bool{}
	for at := range f.paths {
		chosen[at] = true
	}
	for _, pattern := range f.patterns {
		at, plain := pathspec.PlainPath(path.Clean(pattern))
		if plain {
			chosen[at] = true
		} else {
			f.unsearched = "of a glob, only the paths that checkpoints have are looked for there"
		}
	}
	for _, r := range f.repos {
		var paths, inRepo []string
		for at := range chosen {
			if in, ok := r.path(filepath.Join(f.p.Root(), filepath.FromSlash(at))); ok && !strings.Contains(in, "\n") {
				paths, inRepo = append(paths, at), append(inRepo, in)
			}
		}
		if len(paths) == 0 {
			continue
		}
		ids, found, err := r.objectsAt(ctx, f.p, inRepo)
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			f.unsearched = problem.Text(err)
		}
		f.inCommits = append(f.inCommits, ids...)
		for i := range found {
			f.committed = append(f.committed, paths[i])
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

// objectsAt gives the ids of the files that commits have at some paths, or below, and which of the paths, by their place, a commit has.
func (r *repository) objectsAt(ctx context.Context, p *project.Project, paths []string) (ids []string, found map[int]bool, err error) {
	format, size := "sha1", 40
	var tips [65][]string
	for id := range r.ids {
		tips[len(id)] = append(tips[len(id)], id)
	}
	if len(tips[64]) > len(tips[40]) {
		format, size = "sha256", 64
	}
	git := gitprogram.Repository{GitDir: r.common, Objects: gitstate.HeldDirs(p)}
	if !r.isThere(p) {
		git.GitDir, err = emptyGitDir(p, format)
		defer os.RemoveAll(git.GitDir)
		if err != nil {
			return nil, nil, err
		}
	}
	lines := func(words []string) []byte { return []byte(strings.Join(append(words, ""), "\n")) }
	out, err := git.Output(ctx, lines(tips[size]), "rev-list", "--ignore-missing", "--all", "--reflog", "--stdin")
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for commit := range strings.FieldsSeq(string(out)) {
		for _, at := range paths {
			names = append(names, commit+":"+at)
		}
		if len(names) > maxQuestions {
			return nil, nil, errors.New("there are too many commits")
		}
	}
	var trees []string
	found = map[int]bool{}
	kinds := func(names []string, each func(i int, id, kind string)) error {
		out, err := git.Output(ctx, lines(names), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
		for i, line := range strings.Split(string(out), "\n") {
			if words := strings.Fields(line); err == nil && len(words) == 3 && len(words[0]) == size && words[2] != "0" { // else it is missing, or empty
				each(i, words[0], words[1])
			}
		}
		return err
	}
	err = kinds(names, func(i int, id, kind string) {
		switch found[i%len(paths)] = true; kind {
		case "tree":
			trees = append(trees, id)
		case "blob":
			ids = append(ids, id)
		}
	})
	if err != nil || len(trees) == 0 {
		return ids, found, err
	}
	slices.Sort(trees)
	out, err = git.Output(ctx, lines(slices.Compact(trees)), "rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--stdin")
	if err != nil {
		return ids, found, err
	}
	return ids, found, kinds(strings.Fields(string(out)), func(_ int, id, kind string) {
		if kind == "blob" {
			ids = append(ids, id)
		}
	})
}
