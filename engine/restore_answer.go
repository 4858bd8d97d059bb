package engine

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
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
func (r *restoring) putPaths(op *manifest.Operation, changes []restore.Change, moved []byte) (oid.ID, error) {
	var all []restore.Change
	for _, c := range changes {
		all = append(all, c)
		for _, path := range r.within[c.Path] {
			all = append(all, restore.Change{Path: path, Action: restore.Delete})
		}
	}
	byAction := map[restore.Action][]string{}
	for _, c := range all {
		byAction[c.Action] = append(byAction[c.Action], c.Path)
	}
	op.Created, op.Deleted = uint64(CountPaths(byAction[restore.Create])), uint64(CountPaths(byAction[restore.Delete]))
	op.Replaced = uint64(len(byAction[restore.Replace]) + len(byAction[restore.Mode]))
	return r.tx.Put(append(encodePaths(all), moved...))
}

// CountPaths counts what came, or what went, as list does: a directory that came or went with what is in
// it is said by that.
func CountPaths(paths []string) int {
	around := Around(paths)
	n := 0
	for _, p := range paths {
		if !around[p] {
			n++
		}
	}
	return n
}

// Around are the directories that others of the paths are in.
func Around(paths []string) map[string]bool {
	parents := map[string]bool{}
	for _, p := range paths {
		for dir := path.Dir(p); dir != "." && !parents[dir]; dir = path.Dir(dir) {
			parents[dir] = true
		}
	}
	return parents
}

// commitOperation records an operation with what was put for it.
func (r *restoring) commitOperation(op *manifest.Operation) error {
	at, err := r.tx.Commit(context.WithoutCancel(r.ctx), func() ([]manifest.Record, error) {
		return []manifest.Record{{Operation: op}}, nil
	}, nil)
	op.Seq = at.Seq
	return err
}

// lookInto lists what goes with the directories that something else takes the place of.
func (r *restoring) lookInto(changes []restore.Change) error {
	r.within = map[string][]string{}
	for _, c := range changes {
		if c.Action != restore.Replace || c.Before.Kind != manifest.Subdir || c.After.Kind == manifest.Subdir {
			continue
		}
		err := manifest.Walk(r.tx.Load, c.Before.ID, func(below string, _ manifest.Entry) error {
			r.within[c.Path] = append(r.within[c.Path], c.Path+"/"+below)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// report turns a plan or an outcome into the answer.
func (r *restoring) report(changes []restore.Change, skips []problem.Problem) *Restored {
	out := &Restored{Checkpoint: r.target, DryRun: r.o.DryRun, Recovered: r.recovered, Crashed: r.crashed, Skip: skips, Without: r.without, Stuck: r.stuck, Of: r.of, Since: r.since}
	if r.saw != nil && r.sel == nil {
		out.NotCaptured = r.saw.outside
	}
	out.Git = r.gitMoved(changes)
	out.Others, out.Outside, out.Unclear, out.Own = r.others, r.outside, r.unclear, r.own
	if r.before != nil {
		out.Prompts = r.before.Prompts
		out.Older = r.op.Verb == "back" && r.before.Older != nil
	}
	out.Conversation = r.move.Answer()
	if out.Conversation != nil && out.Prompts == nil {
		out.Prompts = out.Conversation.Prompts
	}
	out.Instead = r.instead(out)
	for _, c := range changes {
		if r.saw != nil && r.saw.torn[c.Path] && c.Action != restore.Delete {
			out.Torn = append(out.Torn, c.Path)
		}
		switch c.Action {
		case restore.Create:
			out.Create = append(out.Create, c.Path)
		case restore.Replace:
			out.Replace = append(out.Replace, c.Path)
			out.Delete = append(out.Delete, r.within[c.Path]...)
		case restore.Delete:
			out.Delete = append(out.Delete, c.Path)
		case restore.Mode:
			out.Mode = append(out.Mode, c.Path)
		}
	}
	slices.Sort(out.Delete)
	return out
}

// pathsExist refuses (*NoPathError) an argument that matches nothing in any of the trees.
func (r *restoring) pathsExist(roots ...oid.ID) error {
	if r.sel == nil {
		return nil
	}
	return pathspec.MatchSome(r.tx.Load, r.o.Paths, append(roots, r.now)...)
}
