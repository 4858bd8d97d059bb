package port

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"crypto/rand"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// ImportOptions of rewind import: one source.
type ImportOptions struct {
	Older  string   // directory with the older program's checkpoints
	Git    string   // a git repository, and of it
	Revs   []string // revisions; none: all
	Pi     bool     // with Git: the snapshots of pi's older extension, and what its sessions bind to them
	DryRun bool
}

// Imported is what an import did, or would do.
type Imported struct {
	From     string
	Found    int                   // checkpoints of the source
	Known    int                   // those that were imported before
	Added    []manifest.Checkpoint // the oldest first
	Bindings int
	Skipped  []ImportSkip
	Said     int                  // of Added: with the conversation
	Unsaid   []ImportSkip         // of Added: without the conversation that the source has
	LeftOut  int                  // paths that no checkpoint can hold: .git, submodules, devices
	Newest   *manifest.Checkpoint // that was taken to stay the newest; nil for none
	DryRun   bool
}

// ImportSkip is a checkpoint that could not be taken over.
type ImportSkip struct{ Name, Reason string }

// importItem is one checkpoint of a source.
type importItem struct {
	name   string
	names  []string            // what the checkpoint may be called: the first that fits and is free
	record manifest.Checkpoint // as far as the source tells; with an id that the source alone makes
	build  func(*importing) (oid.ID, error)
	said   func(*importing) (*manifest.Transcript, error) // nil: the source has no conversation of it
}

// importing is one import at work.
type importing struct {
	ctx     context.Context
	p       *project.Project
	tx      *commit.Tx
	said    *conversation.Import
	leftOut int
}

// errSkip: one checkpoint cannot be taken over; the others can.
type errSkip struct{ reason string }

func (e *errSkip) Error() string { return e.reason }

func skipf(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = problem.Text(err)
		}
	}
	return &errSkip{fmt.Sprintf(format, args...)}
}

// importID is the id of what a source has under a name: importing twice adds nothing.
func importID(source string) (id manifest.CheckpointID) {
	sum := oid.Sum([]byte("rewind import\x00" + source))
	copy(id[:], sum[:])
	return id
}

// Import takes over what another program has saved: all of it in one commit, or nothing. Times and
// names stay; nothing of the source is changed. A checkpoint that is damaged or hostile is left out, and
// named. What was the newest checkpoint before is taken once more at the end, so that last, undo
// and the next save go on from it.
func Import(ctx context.Context, p *project.Project, o ImportOptions) (*Imported, error) {
	if !o.DryRun {
		if err := p.Writing(ctx); err != nil {
			return nil, err
		}
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	done := &Imported{DryRun: o.DryRun}
	var items []importItem
	var bind func(map[manifest.CheckpointID]bool) []manifest.Binding
	var end func()
	if o.Older != "" {
		done.From = o.Older
		items, done.Skipped, err = olderItems(o.Older)
	} else {
		done.From = o.Git
		items, bind, end, err = gitItems(ctx, p, o)
	}
	if end != nil {
		defer end()
	}
	if err != nil {
		return nil, err
	}
	done.Found = len(items) + len(done.Skipped)
	known := map[manifest.CheckpointID]*manifest.Checkpoint{}
	taken := map[string]bool{}
	err = p.Look(ctx, func(db *manifest.DB) error {
		for _, it := range items {
			c, ok, err := db.ByID(it.record.ID)
			if err != nil {
				return err
			}
			if ok {
				known[it.record.ID] = &c
			}
			for _, name := range it.names {
				if project.NameFree(db, name, it.record.ID) != nil {
					taken[name] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, p.Classify(err)
	}
	begin := commit.Begin
	if o.DryRun {
		begin = commit.Look
	}
	im := &importing{ctx: ctx, p: p, tx: begin(p).KeepDirs()}
	defer im.tx.Discard()
	im.said = conversation.NewImport(ctx, p, im.tx)
	encoded, err := importRules(p, o.Older != "")
	if err != nil {
		return nil, err
	}
	ruleset, err := im.tx.Put(encoded)
	if err != nil {
		return nil, err
	}
	progress := project.ProgressInfo{Phase: "import", Unit: "checkpoint", TotalFiles: int64(len(items))}
	there := map[manifest.CheckpointID]bool{}
	var before *manifest.Checkpoint
	for _, it := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := it.record
		if progress.Files++; p.Progress != nil {
			p.Progress(progress)
		}
		if old := known[r.ID]; old != nil {
			im.said.Knows(old.Transcript)
			done.Known++
			there[r.ID] = true
			continue
		}
		stored := im.tx.StoredBytes()
		root, err := it.build(im)
		if skip := (*errSkip)(nil); errors.As(err, &skip) {
			done.Skipped = append(done.Skipped, ImportSkip{it.name, skip.reason})
			continue
		}
		if err != nil {
			return nil, p.Classify(fmt.Errorf("import %s: %w", it.name, err))
		}
		if it.said != nil {
			r.Transcript, err = it.said(im)
			if skip := (*errSkip)(nil); errors.As(err, &skip) {
				done.Unsaid = append(done.Unsaid, ImportSkip{it.name, skip.reason})
			} else if err != nil {
				return nil, p.Classify(fmt.Errorf("import the conversation of %s: %w", it.name, err))
			} else {
				r.Session, r.Agent = r.Transcript.Session, r.Transcript.Agent
				done.Said++
			}
		}
		r.Kind, r.Root, r.Rules = inspect.ImportedKind, root, ruleset
		for _, name := range it.names {
			if !taken[name] && project.CheckName(name) == nil {
				r.Name, taken[name] = name, true
				break
			}
		}
		r.StoredBytes = uint64(max(im.tx.StoredBytes()-stored, 0))
		if err := relateImported(im.tx, &r, before); err != nil {
			return nil, p.Classify(err)
		}
		there[r.ID] = true
		done.Added = append(done.Added, r)
		before = &done.Added[len(done.Added)-1]
	}
	done.LeftOut = im.leftOut
	var bindings []manifest.Binding
	if bind != nil {
		bindings = bind(there)
		for _, b := range bindings {
			done.Bindings += len(b.Entries)
		}
	}
	if o.DryRun || len(done.Added) == 0 && len(bindings) == 0 {
		return done, nil
	}
	if err := im.said.Flush(); err != nil {
		return nil, p.Classify(err)
	}
	_, err = im.tx.Commit(ctx, func() (records []manifest.Record, err error) {
		newest, err := p.NewestCheckpoint()
		if err != nil {
			return nil, err
		}
		for i := range done.Added {
			records = append(records, manifest.Record{Checkpoint: &done.Added[i]})
		}
		for i := range bindings {
			records = append(records, manifest.Record{Binding: &bindings[i]})
		}
		if newest != nil && len(done.Added) > 0 {
			if done.Newest, err = stayNewest(p, newest, done); err != nil {
				return nil, err
			}
			records = append(records, manifest.Record{Checkpoint: done.Newest})
		}
		return records, nil
	}, nil)
	if err != nil {
		return nil, err
	}
	p.RefreshMirror()
	return done, nil
}

// stayNewest is the checkpoint that was the newest, taken again.
func stayNewest(p *project.Project, newest *manifest.Checkpoint, done *Imported) (*manifest.Checkpoint, error) {
	id, err := manifest.NewCheckpointID(rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &manifest.Checkpoint{
		ID: id, Time: p.Env.Time().UTC(), Kind: manifest.Manual, Root: newest.Root, Files: newest.Files, Bytes: newest.Bytes,
		Coverage: newest.Coverage, Partial: newest.Partial, Rules: newest.Rules, Parent: done.Added[len(done.Added)-1].ID,
		GitHead: newest.GitHead, GitBranch: newest.GitBranch,
		Description: fmt.Sprintf("as %s, after an import of %d", newest.ID.String()[:8], len(done.Added)),
	}
	if !c.Time.After(newest.Time) {
		c.Time = newest.Time.Add(time.Microsecond)
	}
	return c, nil
}

// relateImported counts what a checkpoint has, and what is new since the one before it in the import.
func relateImported(t *commit.Tx, r, before *manifest.Checkpoint) error {
	r.Files, r.Bytes = 0, 0
	top, err := t.Load(r.Root)
	if err != nil {
		return err
	}
	for _, e := range top.Entries {
		r.Bytes += e.Size
		if e.Kind == manifest.Subdir {
			r.Files += e.Files
		} else {
			r.Files++
		}
	}
	if before == nil {
		r.Added = r.Files
		return nil
	}
	r.Parent = before.ID
	return manifest.Diff(t.Load, before.Root, r.Root, func(ch manifest.Change) error {
		file := func(e *manifest.Entry) bool { return e.Kind != manifest.Subdir }
		switch {
		case ch.Old == nil:
			if file(ch.New) {
				r.Added++
			}
		case ch.New == nil:
			if file(ch.Old) {
				r.Deleted++
			}
		default:
			r.Modified++
		}
		return nil
	})
}

// importRules are those of an imported checkpoint: what they leave out, its source cannot have had, and
// a restore deletes none of it. Of git's commits that is what git ignores. What the older program left
// out is not known, so all is: its restores deleted nothing either.
func importRules(p *project.Project, all bool) ([]byte, error) {
	c := ignore.Config{CaptureIgnored: "none", StorePath: rules.Below(p, p.StoreDir()), AccountPath: rules.Below(p, p.Env.AccountDir()),
		SessionPaths: rules.SessionPaths(p, conversation.Kept(p))}
	if all {
		c.Ignore = []string{"*"}
	}
	r, err := ignore.Compile(c)
	if err != nil {
		return nil, err
	}
	return r.Encode(), nil
}

// dir puts a directory's manifest, and gives its entry.
func (im *importing) dir(name string, mode uint32, entries []manifest.Entry) (manifest.Entry, error) {
	slices.SortFunc(entries, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
	e := manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: mode}
	for i, child := range entries {
		if i > 0 && entries[i-1].Name == child.Name {
			return e, skipf("it has the name %q twice in a directory", child.Name)
		}
		e.Size += child.Size
		if child.Kind == manifest.Subdir {
			e.Files += child.Files
		} else {
			e.Files++
		}
	}
	var err error
	e.ID, err = im.tx.Dir(0, manifest.Dir{Entries: entries}.Append(nil), oid.ID{})
	return e, err
}

// takes reports whether a checkpoint can hold a name; what it cannot is counted.
func (im *importing) takes(name string) bool {
	if rootfs.CheckName(name) != nil || len(name) > 255 || rootfs.IsReserved(name) {
		im.leftOut++
		return false
	}
	return true
}

// importTime is a time as the log can hold it.
func importTime(t time.Time) (time.Time, error) {
	if t.Unix() < 0 || t.Unix() > math.MaxInt64/int64(time.Second)-1 {
		return t, skipf("its time is out of range")
	}
	return t.UTC(), nil
}
