package maintain

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
)

// ObeyForgotten lets go of the objects of git that another account has forgotten: those that it names, and what the commits that
// only this account holds have at the paths. Until this has been done, that account's forget names this one.
func ObeyForgotten(ctx context.Context, p *project.Project) {
	sought := gitstate.ToLookFor(p)
	if sought == nil {
		_ = gitstate.ObeyForgotten(p)
		return
	}
	found, err := lookFor(ctx, p, sought)
	if err == nil {
		err = gitstate.ObeyWith(p, found)
	}
	if err != nil && ctx.Err() == nil {
		p.Notify("objects of git that another account has forgotten may still be held here: " + problem.Text(p.Classify(err)))
	}
}

// lookFor gives the ids of what the commits that git has no more, and that this account holds, have at the paths that are sought.
func lookFor(ctx context.Context, p *project.Project, sought *gitstate.Sought) (found []string, err error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	log, err := ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	repos, err := repositories(p, gitstate.InStore(p), log, true)
	if err != nil {
		return nil, err
	}
	dirs := gitstate.HeldWith(p, commonsOf(repos))
	if len(dirs) == 0 {
		return nil, nil
	}
	keys := map[string]bool{} // true: what is there is forgotten; false: something below it
	for _, key := range sought.Above {
		keys[key] = false
	}
	for _, key := range sought.Paths {
		keys[key] = true
	}
	for _, r := range repos {
		ids, err := r.lookFor(ctx, p, dirs, keys)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	return found, nil
}

// place is a directory in a commit.
type place struct{ tree, path string }

func (r *repository) lookFor(ctx context.Context, p *project.Project, dirs []string, keys map[string]bool) (found []string, err error) {
	if r.workTree == "" {
		return nil, nil
	}
	o, err := r.objects(p, dirs)
	defer o.close()
	if err != nil {
		return nil, err
	}
	commits, err := o.alone(ctx)
	if err != nil {
		return nil, err
	}
	for i := range commits {
		commits[i] += "^{tree}"
	}
	var trees, files []string
	level, whole := map[place]bool{}, r.isSought(p, keys)
	if err := o.kinds(ctx, commits, func(_ int, id, kind string) {
		switch {
		case kind != "tree":
		case whole:
			trees = append(trees, id)
		default:
			level[place{id, ""}] = true
		}
	}); err != nil {
		return nil, err
	}
	for len(level) > 0 {
		next := map[place]bool{}
		if err := o.entries(ctx, level, func(at string, e treeEntry) {
			switch is, above := r.soughtAt(p, at, keys); {
			case is && e.mode == treeMode:
				trees = append(trees, e.id)
			case is && e.mode != submoduleMode:
				files = append(files, e.id)
			case above && e.mode == treeMode:
				next[place{e.id, at}] = true
			}
		}); err != nil {
			return nil, err
		}
		level = next
	}
	below, err := o.filesBelow(ctx, trees)
	return append(files, below...), err
}

// soughtAt reports whether what the repository's commits have at a path is sought, or may be above that.
func (r *repository) soughtAt(p *project.Project, at string, keys map[string]bool) (is, above bool) {
	file := filepath.Join(r.workTree, filepath.FromSlash(at))
	if rel, err := filepath.Rel(p.Root(), file); err == nil && rel != "." && filepath.IsLocal(rel) {
		is, above = keys[rules.ForgottenKey(p, filepath.ToSlash(rel))]
		return is, above
	}
	rel, err := filepath.Rel(file, p.Root()) // the project is below
	return false, err == nil && filepath.IsLocal(rel)
}

// isSought reports whether the whole repository is in a directory that is sought.
func (r *repository) isSought(p *project.Project, keys map[string]bool) bool {
	rel, err := filepath.Rel(p.Root(), r.workTree)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return false
	}
	for at := filepath.ToSlash(rel); at != ""; at, _ = rootfs.Split(at) {
		if keys[rules.ForgottenKey(p, at)] {
			return true
		}
	}
	return false
}

// entries calls each with what directories have, and where.
func (o repoObjects) entries(ctx context.Context, places map[place]bool, each func(at string, e treeEntry)) error {
	paths := map[string][]string{}
	for at := range places {
		paths[at.tree] = append(paths[at.tree], at.path)
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(paths)), maxTrees) {
		out, err := o.git.Output(ctx, inLines(some), "cat-file", "--batch")
		if err != nil {
			return err
		}
		eachObject(out, func(tree gitObject, content []byte) {
			for _, e := range inTree(content, o.size/2) {
				for _, dir := range paths[tree.id] {
					if dir != "" {
						dir += "/"
					}
					each(dir+e.name, e)
				}
			}
		})
	}
	return nil
}

// Modes of entries, as git has them.
const (
	treeMode      = "40000"
	submoduleMode = "160000"
)

// maxTrees is how many directories are read at a time: a few megabytes.
const maxTrees = 4096
