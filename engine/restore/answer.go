package restore

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// cutArgs keeps what fits into an operation, without half a letter.
func cutArgs(s string) string {
	if len(s) <= manifest.MaxArgs {
		return s
	}
	const more = "…"
	return strings.ToValidUTF8(s[:manifest.MaxArgs-len(more)], "") + more
}

// putPaths stages the list of what an operation changed, with the line of a conversation that moves along, and counts it.
func (r *Run) putPaths(op *manifest.Operation, changes []treeio.Change, moved []byte) (oid.ID, error) {
	op.Created, op.Replaced, op.Deleted = 0, 0, 0 // of the plan, where less was done
	for _, c := range changes {
		switch {
		case c.Action == treeio.Replace || c.Action == treeio.Mode:
			op.Replaced++
		case movesDirectory(c):
		case c.Action == treeio.Create:
			op.Created++
		case c.Action == treeio.Delete:
			op.Deleted++
		}
	}
	return r.Tx.Put(append(oplog.EncodePaths(changes), moved...))
}

// movesDirectory reports whether a change creates or deletes a directory.
func movesDirectory(c treeio.Change) bool {
	return c.Action == treeio.Create && c.After.Kind == manifest.Subdir || c.Action == treeio.Delete && c.Before.Kind == manifest.Subdir
}

// Count counts the files and symlinks among paths that are created or deleted, as list does. Empty are the directories among
// them that contain no other of the paths.
func (r *Restored) Count(paths []string) (files, empty int) {
	for _, name := range r.Named(paths) {
		if strings.HasSuffix(name, "/") {
			empty++
		} else {
			files++
		}
	}
	return files, empty
}

// Named gives paths that are created or deleted without the directories that contain others of them: what Count counts. A
// directory ends in a slash.
func (r *Restored) Named(paths []string) (named []string) {
	around := dirsAround(paths)
	for _, p := range paths {
		switch {
		case !r.Directories[p]:
			named = append(named, p)
		case !around[p]:
			named = append(named, p+"/")
		}
	}
	return named
}

// Files is how many files and symlinks Count counts.
func (r *Restored) Files(paths []string) int {
	n, _ := r.Count(paths)
	return n
}

// dirsAround are the directories that others of the paths are in.
func dirsAround(paths []string) map[string]bool {
	parents := map[string]bool{}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "." && !parents[dir]; dir = path.Dir(dir) {
			parents[dir] = true
		}
	}
	return parents
}

// commitOperation records an operation with what was put for it.
func (r *Run) commitOperation(op *manifest.Operation) error {
	at, err := r.Tx.Commit(context.WithoutCancel(r.Ctx), func() ([]manifest.Record, error) {
		return []manifest.Record{{Operation: op}}, nil
	}, nil)
	op.Seq = at.Seq
	return err
}

// lookInto lists what goes with the directories that something else takes the place of.
func (r *Run) lookInto(changes []treeio.Change) (within map[string][]treeio.Change, err error) {
	within = map[string][]treeio.Change{}
	for _, c := range changes {
		if c.Action != treeio.Replace || c.Before.Kind != manifest.Subdir || c.After.Kind == manifest.Subdir {
			continue
		}
		err := manifest.Walk(r.Tx.Load, c.Before.ID, func(below string, e manifest.Entry) error {
			within[c.Path] = append(within[c.Path], treeio.Change{Path: c.Path + "/" + below, Action: treeio.Delete, Before: e})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return within, nil
}

// report turns a plan or an outcome into the answer.
func (r *Run) report(way *Way, changes []treeio.Change, skips []problem.Problem) *Restored {
	answer := way.found
	out := &answer
	out.Checkpoint, out.DryRun, out.Skip = way.Target, r.Options.DryRun, skips
	if way.saw != nil && r.Sel == nil && way.hunks == nil {
		out.NotCaptured, out.Gone = way.saw.outside, r.gone(way.saw)
	} else if way.GitThen != nil && r.Sel == nil {
		out.Gone = r.gone(r.sightOf(*way.GitThen, nil))
	}
	if way.git != nil {
		out.GitState, out.GitLeft = way.git.lines, out.GitLeft || way.git.left
	}
	if out.Git = r.gitMoved(way, changes); r.Options.Git >= GitExact || out.Git != nil && out.Git.Gone() && way.git.changes() {
		out.Git = nil // it comes back
	}
	out.Nested = nestedIn(r.Project, changes)
	if way.before != nil {
		out.Prompts = way.before.Prompts
		out.Older = r.Op.Verb == "back" && way.before.Older != nil
	}
	out.Conversation = way.move.Answer()
	if out.Conversation != nil && out.Prompts == nil {
		out.Prompts = out.Conversation.Prompts
	}
	out.Others, out.Outside, out.Own, out.Unclear = way.others.list, way.others.outside, way.others.own, way.others.unclear
	out.Instead = r.instead(way, out.Prompts)
	out.Directories = map[string]bool{}
	for _, c := range changes {
		if slices.Contains(way.with, c.Path) {
			out.Along = append(out.Along, c.Path)
		}
		if movesDirectory(c) {
			out.Directories[c.Path] = true
		}
		if way.saw != nil && way.saw.torn[c.Path] && c.Action != treeio.Delete {
			out.Torn = append(out.Torn, c.Path)
		}
		switch c.Action {
		case treeio.Create:
			out.Create = append(out.Create, c.Path)
		case treeio.Replace:
			out.Replace = append(out.Replace, c.Path)
			for _, below := range way.within[c.Path] {
				out.Delete = append(out.Delete, below.Path)
				out.Directories[below.Path] = movesDirectory(below)
			}
		case treeio.Delete:
			out.Delete = append(out.Delete, c.Path)
		case treeio.Mode:
			out.Mode = append(out.Mode, c.Path)
		}
	}
	slices.Sort(out.Delete)
	return out
}

// pathsExist refuses (*NoPathError) an argument that matches nothing in any of the trees.
func (r *Run) pathsExist(roots ...oid.ID) error {
	if r.Sel == nil {
		return nil
	}
	return pathspec.MatchSome(r.Tx.Load, r.Options.Paths, append(roots, r.Now)...)
}

// ForgottenPaths are paths of which nothing is known any more. Forget keeps no names, so that only those can be named that the
// working tree has.
type ForgottenPaths struct {
	Count int
	Named []string
}

// forgottenOf gives the paths that operations changed and that were forgotten since.
func (r *Run) forgottenOf(ops []manifest.Operation) (out ForgottenPaths, err error) {
	keys := map[string]bool{}
	for _, op := range ops {
		for _, key := range strings.Fields(op.Forgotten) {
			keys[key] = true
		}
	}
	if len(keys) == 0 {
		return out, nil
	}
	out.Count = len(keys)
	err = manifest.Walk(r.Tx.Load, r.Now, func(path string, _ manifest.Entry) error {
		if keys[rules.ForgottenKey(r.Project, path)] {
			out.Named = append(out.Named, path)
		}
		return nil
	})
	return out, err
}

// nestedIn counts the changes in each of the projects below this one that have a store of their own.
func nestedIn(p *project.Project, changes []treeio.Change) (list []NestedChange) {
	if len(changes) == 0 {
		return nil
	}
	nested, count := p.NestedStores(), map[string]int{}
	if len(nested) == 0 {
		return nil
	}
	for _, c := range changes {
		if n := project.NestedOf(nested, c.Path); n != nil {
			count[n.Path]++
		}
	}
	for _, path := range slices.Sorted(maps.Keys(count)) {
		list = append(list, NestedChange{path, count[path]})
	}
	return list
}
