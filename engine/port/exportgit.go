package port

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// ExportGitOptions of rewind export --format git.
type ExportGitOptions struct {
	Dir string // absolute; made if it is missing, must be empty else
	// Checkpoints are those that become commits, in any order; nil: all but safety ones.
	Checkpoints []manifest.Checkpoint
	// Unchanged makes a commit of each, also where it has the tree of the one before, and, without
	// Checkpoints, of the safety ones.
	Unchanged    bool
	WithPrecious bool
}

// ExportedGit is what became of it.
type ExportedGit struct {
	Dir, Branch string
	Head        string // id of the newest commit
	Commits     int
	Unchanged   int      // checkpoints that are no commits of their own
	Tags        []string // names of checkpoints that are tags
	NoTags      []string // those that git does not take
	Empty       int      // empty directories, which git does not hold
	LeftOut     int      // paths that are marked as precious
}

// GitBranch is the branch that checkpoints are exported to.
const GitBranch = "checkpoints"

var gitAuthor = gitprogram.Person{Name: "rewind", Email: "rewind@localhost"}

// ExportGit writes checkpoints as commits of a new, bare repository: the same checkpoints and options,
// the same commit ids. It is made beside its place and put there when it is complete. Errors:
// *CheckoutDirError, those of gitprogram.
func ExportGit(ctx context.Context, p *project.Project, o ExportGitOptions) (_ *ExportedGit, err error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := place(p, &o.Dir, ""); err != nil {
		return nil, err
	}
	list, err := exportedCheckpoints(ctx, p, o)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &project.NothingError{What: "export"}
	}
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o777); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(filepath.Dir(o.Dir), rootfs.Reserved("export-"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = removeAll(temp)
		}
	}()
	x := &gitExport{p: p, o: o, blobs: map[oid.ID]int{}, links: map[string]int{}, done: &ExportedGit{Dir: o.Dir, Branch: GitBranch}}
	if x.w, err = gitprogram.Create(ctx, temp, GitBranch); err != nil {
		return nil, err
	}
	if err = x.commits(ctx, list); err != nil {
		x.w.Abort()
		return nil, p.Classify(err)
	}
	if err = x.w.Close(); err != nil {
		return nil, err
	}
	head, err := gitprogram.Output(ctx, temp, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	x.done.Head = strings.TrimSpace(string(head))
	if err = os.Chmod(temp, 0o755); err != nil {
		return nil, err
	}
	_ = os.Remove(o.Dir) // it is empty, if it is there
	if err = os.Rename(temp, o.Dir); err != nil {
		return nil, err
	}
	x.done.Empty, x.done.LeftOut = len(x.empty), len(x.leftOut)
	return x.done, nil
}

// exportedCheckpoints are those that are asked for, as the log has them now, the oldest first.
func exportedCheckpoints(ctx context.Context, p *project.Project, o ExportGitOptions) (list []manifest.Checkpoint, err error) {
	err = p.Look(ctx, func(db *manifest.DB) error {
		if o.Checkpoints != nil {
			for _, c := range o.Checkpoints {
				now, err := project.Living(db, c.ID)
				if err != nil {
					return err
				}
				list = append(list, now)
			}
			return nil
		}
		return manifest.Each(db.Checkpoints(manifest.Query{All: o.Unchanged}), func(c manifest.Checkpoint) error {
			list = append(list, c)
			return nil
		})
	})
	slices.SortFunc(list, func(a, b manifest.Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	list = slices.CompactFunc(list, func(a, b manifest.Checkpoint) bool { return a.Seq == b.Seq })
	return list, p.Classify(err)
}

// gitExport is one export at work.
type gitExport struct {
	p              *project.Project
	o              ExportGitOptions
	w              *gitprogram.Writer
	blobs          map[oid.ID]int // marks of contents
	links          map[string]int // marks of links' targets
	empty, leftOut map[string]bool
	done           *ExportedGit
}

// load is a manifest without what is left out: so what is marked, or no longer, is a change.
func (x *gitExport) load(id oid.ID) (manifest.Dir, error) {
	d, err := x.p.LoadDir(id)
	if err != nil || x.o.WithPrecious {
		return d, err
	}
	d.Entries = slices.DeleteFunc(d.Entries, func(e manifest.Entry) bool { return e.Precious })
	return d, nil
}

func (x *gitExport) commits(ctx context.Context, list []manifest.Checkpoint) error {
	x.empty, x.leftOut = map[string]bool{}, map[string]bool{}
	now := project.ProgressInfo{Phase: "export", Unit: "checkpoint", TotalFiles: int64(len(list))}
	var tree oid.ID
	parent := 0
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		var changes []manifest.Change
		err := manifest.Diff(x.load, tree, c.Root, func(ch manifest.Change) error {
			changes = append(changes, ch)
			return nil
		})
		if err != nil {
			return err
		}
		if !x.o.WithPrecious {
			if err := x.countPrecious(tree, c.Root); err != nil {
				return err
			}
		}
		tree = c.Root
		removes, files := x.split(changes)
		if len(removes)+len(files) == 0 && parent != 0 && !x.o.Unchanged {
			x.done.Unchanged++
		} else if parent, err = x.commit(c, parent, removes, files); err != nil {
			return err
		}
		if c.Name != "" && gitprogram.TagName(c.Name) {
			x.done.Tags = append(x.done.Tags, c.Name)
			if err := x.w.Tag(c.Name, parent); err != nil {
				return err
			}
		} else if c.Name != "" {
			x.done.NoTags = append(x.done.NoTags, c.Name)
		}
		if now.Files++; x.p.Progress != nil {
			x.p.Progress(now)
		}
	}
	return nil
}

// countPrecious notes which marked paths came.
func (x *gitExport) countPrecious(from, to oid.ID) error {
	return manifest.Diff(x.p.LoadDir, from, to, func(ch manifest.Change) error {
		if ch.New != nil && ch.New.Precious {
			x.leftOut[ch.Path] = true
		}
		return nil
	})
}

// split gives the paths to take out and the files to put, which is all that git knows.
func (x *gitExport) split(changes []manifest.Change) (removes []string, files []manifest.Change) {
	for _, ch := range changes {
		if ch.New != nil && ch.New.Kind == manifest.Subdir && ch.New.Files == 0 {
			x.empty[ch.Path] = true
		}
		switch {
		case manifest.HasContent(ch.New):
			if manifest.HasContent(ch.Old) && gitMode(*ch.Old) == gitMode(*ch.New) && ch.Old.ID == ch.New.ID && ch.Old.Target == ch.New.Target {
				continue // permissions that git does not hold
			}
			files = append(files, ch)
		case manifest.HasContent(ch.Old):
			removes = append(removes, ch.Path)
		}
	}
	return removes, files
}

func (x *gitExport) commit(c manifest.Checkpoint, parent int, removes []string, files []manifest.Change) (int, error) {
	marks := make([]int, len(files))
	for i, ch := range files {
		var err error
		if marks[i], err = x.blob(*ch.New); err != nil {
			return 0, fmt.Errorf("export %s: %w", patch.Quote(ch.Path), err)
		}
	}
	mark, err := x.w.Commit(gitprogram.Commit{Branch: GitBranch, Parent: parent, Author: gitAuthor, Time: c.Time, Message: gitMessage(c)})
	if err != nil {
		return 0, err
	}
	for _, path := range removes {
		if err := x.w.Remove(path); err != nil {
			return 0, err
		}
	}
	for i, ch := range files {
		if err := x.w.File(gitMode(*ch.New), ch.Path, marks[i]); err != nil {
			return 0, err
		}
	}
	x.done.Commits++
	return mark, nil
}

func (x *gitExport) blob(e manifest.Entry) (mark int, err error) {
	if e.Kind == manifest.Symlink {
		if mark = x.links[e.Target]; mark == 0 {
			mark, err = x.w.Blob(strings.NewReader(e.Target), int64(len(e.Target)))
			x.links[e.Target] = mark
		}
		return mark, err
	}
	if mark = x.blobs[e.ID]; mark != 0 {
		return mark, nil
	}
	r, err := project.ContentOf(x.p.Store.Get, e)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	mark, err = x.w.Blob(r, int64(e.Size))
	x.blobs[e.ID] = mark
	return mark, err
}

func gitMode(e manifest.Entry) string {
	switch {
	case e.Kind == manifest.Symlink:
		return "120000"
	case e.Mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// gitMessage is a checkpoint's commit message: its permanent number and its subject; the
// prompt; and what identifies it.
func gitMessage(c manifest.Checkpoint) string {
	title := cmp.Or(c.Description, c.Prompt, strings.TrimSpace(string(c.Kind)+" "+c.Tool))
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	if r := []rune(title); len(r) > 72 {
		title = string(r[:71]) + "…"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s\n", c.Seq, title)
	for _, text := range []string{c.Description, c.Prompt} {
		if text = strings.TrimSpace(text); text != "" && text != title {
			b.WriteString("\n" + text + "\n")
		}
	}
	b.WriteByte('\n')
	for _, t := range []struct{ key, value string }{
		{"Rewind-Id", c.ID.String()}, {"Rewind-Kind", string(c.Kind)}, {"Rewind-Tool", c.Tool},
		{"Rewind-Agent", c.Agent}, {"Rewind-Session", c.Session}, {"Rewind-Git-Head", c.GitHead},
	} {
		if t.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", t.key, strings.Join(strings.Fields(t.value), " "))
		}
	}
	return b.String()
}
