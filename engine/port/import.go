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
	"github.com/rewind-cli/rewind/engine/session"
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
	From                string
	Found               int                   // checkpoints of the source
	Known               int                   // those that were imported before
	Added               []manifest.Checkpoint // the oldest first
	Bindings            int
	Skipped             []ImportSkip
	Conversations       int                  // of Added: with the conversation
	WithoutConversation []ImportSkip         // of Added: without the conversation that the source has
	LeftOut             int                  // paths that no checkpoint can hold: .git, submodules, devices
	Newest              *manifest.Checkpoint // that was taken to stay the newest; nil for none
	DryRun              bool
}

// ImportSkip is a checkpoint that could not be taken over.
type ImportSkip struct{ Name, Reason string }

// importItem is one checkpoint of a source.
type importItem struct {
	name         string
	names        []string            // what the checkpoint may be called: the first that fits and is free
	record       manifest.Checkpoint // as far as the source tells; with an id that the source alone makes
	build        func(*importing) (oid.ID, error)
	conversation func(*importing) (*manifest.Transcript, error) // nil: the source has no conversation of it
}

// importSource is what a program has saved.
type importSource struct {
	items   []importItem
	skipped []ImportSkip
	bind    func(there map[manifest.CheckpointID]bool) []manifest.Binding // to checkpoints that are there; nil: none
	end     func()                                                        // nil: nothing to close
}

// importing is one import at work.
type importing struct {
	ctx           context.Context
	p             *project.Project
	tx            *commit.Tx
	conversations *conversation.Import
	known         map[manifest.CheckpointID]manifest.Checkpoint // of the source, imported before
	taken         map[string]bool                               // names that are not free
	rules         oid.ID
	done          *Imported
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
		if err := p.BeginWriting(ctx); err != nil {
			return nil, err
		}
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	im := &importing{ctx: ctx, p: p, done: &Imported{DryRun: o.DryRun, From: o.Older}}
	var from importSource
	if o.Older != "" {
		from, err = olderSource(o.Older)
	} else {
		im.done.From = o.Git
		from, err = gitSource(ctx, p, o)
	}
	if err != nil {
		return nil, err
	}
	if from.end != nil {
		defer from.end()
	}
	if err := im.lookUp(from); err != nil {
		return nil, p.Classify(err)
	}
	begin := commit.Begin
	if o.DryRun {
		begin = commit.Look
	}
	im.tx = begin(p).KeepDirs()
	defer im.tx.Discard()
	im.conversations = conversation.NewImport(ctx, p, im.tx)
	if err := im.putRules(o.Older != ""); err != nil {
		return nil, err
	}
	if err := im.items(from.items); err != nil {
		return nil, p.Classify(err)
	}
	bindings := im.bindings(from)
	if o.DryRun || len(im.done.Added) == 0 && len(bindings) == 0 {
		return im.done, nil
	}
	if err := im.conversations.Flush(); err != nil {
		return nil, p.Classify(err)
	}
	if err := im.commit(bindings); err != nil {
		return nil, err
	}
	p.RefreshMirror()
	return im.done, nil
}

// lookUp finds which checkpoints of a source were imported before, and which of their names are taken.
func (im *importing) lookUp(from importSource) error {
	im.done.Skipped, im.done.Found = from.skipped, len(from.items)+len(from.skipped)
	im.known, im.taken = map[manifest.CheckpointID]manifest.Checkpoint{}, map[string]bool{}
	return im.p.Look(im.ctx, func(db *manifest.DB) error {
		for _, it := range from.items {
			c, ok, err := db.ByID(it.record.ID)
			if err != nil {
				return err
			}
			if ok {
				im.known[it.record.ID] = c
			}
			for _, name := range it.names {
				if project.NameFree(db, name, it.record.ID) != nil {
					im.taken[name] = true
				}
			}
		}
		return nil
	})
}

// items takes over the checkpoints of a source that are not known yet.
func (im *importing) items(items []importItem) error {
	progress := project.ProgressInfo{Phase: "import", Unit: "checkpoint", TotalFiles: int64(len(items))}
	for _, it := range items {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		if progress.Files++; im.p.Progress != nil {
			im.p.Progress(progress)
		}
		if old, ok := im.known[it.record.ID]; ok {
			im.conversations.Knows(old.Transcript)
			im.done.Known++
		} else if err := im.item(it); err != nil {
			return err
		}
	}
	return nil
}

// item takes over one checkpoint, or notes why it is skipped.
func (im *importing) item(it importItem) (err error) {
	r := it.record
	stored := im.tx.StoredBytes()
	r.Root, err = it.build(im)
	if skip := (*errSkip)(nil); errors.As(err, &skip) {
		im.done.Skipped = append(im.done.Skipped, ImportSkip{it.name, skip.reason})
		return nil
	}
	if err != nil {
		return fmt.Errorf("import %s: %w", it.name, err)
	}
	if it.conversation != nil {
		r.Transcript, err = it.conversation(im)
		if skip := (*errSkip)(nil); errors.As(err, &skip) {
			im.done.WithoutConversation = append(im.done.WithoutConversation, ImportSkip{it.name, skip.reason})
		} else if err != nil {
			return fmt.Errorf("import the conversation of %s: %w", it.name, err)
		} else {
			r.Session, r.Agent = r.Transcript.Session, r.Transcript.Agent
			im.done.Conversations++
		}
	}
	r.Kind, r.Rules = inspect.ImportedKind, im.rules
	for _, name := range it.names {
		if !im.taken[name] && project.CheckName(name) == nil {
			r.Name, im.taken[name] = name, true
			break
		}
	}
	r.StoredBytes = uint64(max(im.tx.StoredBytes()-stored, 0))
	if err := im.relate(&r); err != nil {
		return err
	}
	im.done.Added = append(im.done.Added, r)
	return nil
}

// bindings are those of a source to checkpoints that are imported, now or before.
func (im *importing) bindings(from importSource) []manifest.Binding {
	if from.bind == nil {
		return nil
	}
	there := map[manifest.CheckpointID]bool{}
	for id := range im.known {
		there[id] = true
	}
	for _, c := range im.done.Added {
		there[c.ID] = true
	}
	bindings := from.bind(there)
	for _, b := range bindings {
		im.done.Bindings += len(b.Entries)
	}
	return bindings
}

// commit makes all of it durable.
func (im *importing) commit(bindings []manifest.Binding) error {
	done := im.done
	_, err := im.tx.Commit(im.ctx, func() (records []manifest.Record, err error) {
		newest, err := im.p.NewestCheckpoint()
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
			if done.Newest, err = stayNewest(im.p, newest, done); err != nil {
				return nil, err
			}
			records = append(records, manifest.Record{Checkpoint: done.Newest})
		}
		return records, nil
	}, nil)
	return err
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

// relate counts what a checkpoint has, and what is new since the one before it in the import.
func (im *importing) relate(r *manifest.Checkpoint) error {
	top, err := im.tx.Load(r.Root)
	if err != nil {
		return err
	}
	r.Files, r.Bytes = top.Totals()
	if len(im.done.Added) == 0 {
		r.Added = r.Files
		return nil
	}
	before := im.done.Added[len(im.done.Added)-1]
	r.Parent = before.ID
	return manifest.Diff(im.tx.Load, before.Root, r.Root, r.Count)
}

// putRules puts those of an imported checkpoint: what they leave out, its source cannot have had, and
// a restore deletes none of it. Of git's commits that is what git ignores. What the older program left
// out is not known, so all is: its restores deleted nothing either.
func (im *importing) putRules(all bool) error {
	c := ignore.Config{CaptureIgnored: "none", StorePath: rules.Below(im.p, im.p.StoreDir()), AccountPath: rules.Below(im.p, im.p.Env.AccountDir()),
		SessionPaths: rules.SessionPaths(im.p, session.Kept(im.p))}
	if all {
		c.Ignore = []string{"*"}
	}
	r, err := ignore.Compile(c)
	if err != nil {
		return err
	}
	im.rules, err = im.tx.Put(r.Encode())
	return err
}

// dir puts a directory's manifest, and gives its entry.
func (im *importing) dir(name string, mode uint32, entries []manifest.Entry) (manifest.Entry, error) {
	slices.SortFunc(entries, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(entries); i++ {
		if name := entries[i].Name; entries[i-1].Name == name {
			return manifest.Entry{}, skipf("it has the name %q twice in a directory", name)
		}
	}
	d := manifest.Dir{Entries: entries}
	e := manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: mode}
	e.Files, e.Size = d.Totals()
	var err error
	e.ID, err = im.tx.Dir(0, d.Append(nil), oid.ID{})
	return e, err
}

// takes reports whether a checkpoint can hold a name; what it cannot is counted.
func (im *importing) takes(name string) bool {
	if rootfs.CheckName(name) != nil || len(name) > 255 || rootfs.IsReserved(name) {
		im.done.LeftOut++
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
