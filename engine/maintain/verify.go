package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Verified is what verify or repair found.
type Verified struct {
	Checkpoints, Chunks int
	Damaged             []Damage
	Pulled              []Damage // what is damaged of pulled logs: a pull with PullOptions.Check fetches it again
	Repaired            []string // what repair did, a line each
	Strays              []Stray  // what is not the store's
	Final               bool     // a repair has left all that is damaged as it is
}

// OK reports whether every checkpoint is whole.
func (v *Verified) OK() bool { return len(v.Damaged) == 0 }

// isKnown reports whether all that is damaged are checkpoints that a repair has left so.
func isKnown(v *Verified, left []manifest.CheckpointID) bool {
	return !slices.ContainsFunc(v.Damaged, func(d Damage) bool { return !slices.Contains(left, d.Checkpoint) })
}

// torn lists the checkpoints that are damaged, each once.
func (v *Verified) torn() (ids []manifest.CheckpointID) {
	for _, d := range v.Damaged { // those of one checkpoint follow each other
		if d.Checkpoint != (manifest.CheckpointID{}) && (len(ids) == 0 || ids[len(ids)-1] != d.Checkpoint) {
			ids = append(ids, d.Checkpoint)
		}
	}
	return ids
}

// Damage names a path of a checkpoint that cannot be restored. An empty Path
// means the whole checkpoint, a zero Checkpoint the store itself.
type Damage struct {
	Path       string
	Checkpoint manifest.CheckpointID
	Reason     string
	Of         string // the name of the pulled log that the checkpoint is of; "" for the store's own
}

// Verify checks that every checkpoint is whole: that the log can be read, and
// that every manifest and every object is there. With readData every byte is
// read and hashed. Damage is in the result, not an error.
func Verify(ctx context.Context, p *project.Project, readData bool) (*Verified, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	v := &Verified{}
	short, err := p.Shortened(true)
	if err != nil {
		return nil, p.Classify(err)
	}
	if short != nil {
		v.Damaged = append(v.Damaged, Damage{Reason: short.Text()})
		for _, c := range short.Gone {
			v.Damaged = append(v.Damaged, Damage{Checkpoint: c.ID, Reason: "it was saved on " + c.Time.Local().Format(time.DateTime) + pinnedToo(c.Pinned) + ", and the log has lost it"})
		}
	}
	bad := map[oid.ID]string{}
	var checking func(cas.Checking)
	if p.Progress != nil {
		checking = func(c cas.Checking) {
			p.Progress(project.ProgressInfo{Phase: "verify", Unit: "pack", Files: int64(c.Packs), TotalFiles: int64(c.AllPacks),
				Bytes: c.Bytes, TotalBytes: c.AllBytes})
		}
	}
	stats, err := p.Store.Verify(ctx, readData, func(d cas.Damage) {
		for _, id := range d.Objects {
			bad[id] = d.Reason
		}
		v.Damaged = append(v.Damaged, Damage{Reason: fmt.Sprintf("%s at byte %d: %s", d.Pack, d.Offset, d.Reason)})
	}, checking)
	if err != nil {
		return nil, p.Classify(err)
	}
	v.Chunks = int(stats.Objects)
	checkpoints, unreadable, err := readableCheckpoints(ctx, p)
	if err != nil {
		return nil, err
	}
	v.Damaged = append(v.Damaged, unreadable...)
	if len(v.Damaged) > 0 {
		v.Damaged = append(v.Damaged, unlogged(ctx, p, checkpoints)...)
	}
	v.Checkpoints = len(checkpoints)
	w := &wholeness{p: p, bad: bad, good: map[oid.ID]bool{}, v: v}
	count := p.Counting("verify", "checkpoint")
	for i, c := range checkpoints {
		count(i, len(checkpoints))
		if err := w.checkpoint(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := w.pulled(ctx); err != nil {
		return nil, err
	}
	count(len(checkpoints), len(checkpoints))
	switch {
	case !v.OK():
		v.Final = isKnown(v, p.ReadTorn())
	case p.ReadOnly == nil:
		if err := p.NoteTorn(nil); err != nil { // what was lost is there again, or gone
			return nil, err
		}
	}
	v.Strays, err = Strays(p)
	return v, err
}

// DamagedLog says what is wrong with the log; "": nothing. It reads the log, and no objects.
func DamagedLog(ctx context.Context, p *project.Project) (string, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if pack := p.Store.BrokenLog(); pack != "" {
		return pack + " is damaged, and what it had is not listed", nil
	}
	for _, err := range p.Store.Commits(1) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return "", p.Classify(err)
		}
	}
	short, err := p.Shortened(true)
	if short == nil || err != nil {
		return "", p.Classify(err)
	}
	return short.Text(), nil
}

// complete brings back what only the mirror has. Errors: *account.DamagedStoreError where something is missing: nothing that
// is not referred to may be dropped then.
func complete(ctx context.Context, p *project.Project) error {
	if err := p.Store.Complete(ctx); err != nil {
		return p.Classify(err)
	}
	return uncut(p)
}

// uncut says that the log has lost its end. An older state of the store, put in its place, is none of that.
func uncut(p *project.Project) error {
	s, err := p.Shortened(true)
	if s == nil || !s.Cut || err != nil {
		return p.Classify(err)
	}
	return &account.DamagedStoreError{What: "the log", Err: errors.New(s.Text())}
}

func pinnedToo(pinned bool) string {
	if pinned {
		return ", and pinned"
	}
	return ""
}

// unlogged names the checkpoints that only the database still knows: what the
// log says of them is damaged. logged are those of the log.
func unlogged(ctx context.Context, p *project.Project, logged []manifest.Checkpoint) []Damage {
	known := map[manifest.CheckpointID]bool{}
	for _, c := range logged {
		known[c.ID] = true
	}
	list, err := p.List(ctx, project.ListOptions{All: true})
	if err != nil {
		return nil // the database reads the same log
	}
	var damage []Damage
	for _, c := range list {
		if !known[c.ID] {
			damage = append(damage, Damage{Checkpoint: c.ID, Reason: "its entry in the log cannot be read"})
		}
	}
	return damage
}

// readableCheckpoints reads the log as far as it can be read: oldest first.
func readableCheckpoints(ctx context.Context, p *project.Project) (all []manifest.Checkpoint, damage []Damage, err error) {
	replayed, err := manifest.Replay(ctx, p.Log(), 1, func(e *manifest.EntryError) error {
		damage = append(damage, Damage{Reason: e.Error()})
		return nil
	})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		damage = append(damage, Damage{Reason: "the log: " + problem.Text(err)})
	}
	if replayed != nil {
		all = replayed.Checkpoints()
		slices.Reverse(all)
	}
	return all, damage, nil
}

// wholeness walks trees. A directory that was found whole is not walked again,
// so that the work is that of the distinct directories, not of all checkpoints.
type wholeness struct {
	p    *project.Project
	bad  map[oid.ID]string // why
	good map[oid.ID]bool
	v    *Verified
	lack map[oid.ID]manifest.Kind // objects of trees that cannot be had; may be nil
}

// lacks notes an object that cannot be had.
func (w *wholeness) lacks(id oid.ID, kind manifest.Kind) {
	if w.lack != nil {
		w.lack[id] = kind
	}
}

func (w *wholeness) checkpoint(ctx context.Context, c manifest.Checkpoint) error {
	report := func(path, reason string) {
		w.v.Damaged = append(w.v.Damaged, Damage{Path: path, Checkpoint: c.ID, Reason: reason})
	}
	for _, extra := range []oid.ID{c.Coverage, c.Rules} {
		if reason := w.missing(extra); reason != "" {
			report("", "its coverage or rules: "+reason)
		}
	}
	if c.Transcript != nil {
		if reason := w.conversation(c.Transcript.Content); reason != "" {
			report("", "its conversation: "+reason)
		}
	}
	if _, err := w.dir(ctx, c.Git, ".git", report); err != nil {
		return err
	}
	_, err := w.dir(ctx, c.Root, "", report)
	return err
}

// pulled looks at the checkpoints of pulled logs.
func (w *wholeness) pulled(ctx context.Context) error {
	own := w.v.Damaged
	w.v.Damaged = nil
	err := eachPulled(ctx, w.p, func(l project.PulledLog, c manifest.Checkpoint) error {
		n := len(w.v.Damaged)
		err := w.checkpoint(ctx, c)
		for i := range w.v.Damaged[n:] {
			w.v.Damaged[n+i].Of = l.Name
		}
		return err
	})
	w.v.Pulled, w.v.Damaged = w.v.Damaged, own
	return w.p.Classify(err)
}

// dir reports what is damaged in a directory and below, and whether it is whole.
func (w *wholeness) dir(ctx context.Context, id oid.ID, path string, report func(path, reason string)) (whole bool, err error) {
	if id == (oid.ID{}) || w.good[id] {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	dir, err := w.p.LoadDir(id)
	if err != nil {
		w.lacks(id, manifest.Subdir)
		report(path, problem.Text(err))
		return false, nil
	}
	whole = true
	for _, e := range dir.Entries {
		below := rootfs.Join(path, e.Name)
		ok := true
		switch e.Kind {
		case manifest.Subdir:
			if ok, err = w.dir(ctx, e.ID, below, report); err != nil {
				return false, err
			}
		case manifest.File:
			if reason := w.missing(e.ID); reason != "" {
				w.lacks(e.ID, manifest.File)
				report(below, reason)
				ok = false
			}
		case manifest.Chunked:
			if reason := w.list(e.ID); reason != "" {
				report(below, reason)
				ok = false
			}
		}
		whole = whole && ok
	}
	if whole {
		w.good[id] = true
	}
	return whole, nil
}

// missing says why an object cannot be had, "" if it can.
func (w *wholeness) missing(id oid.ID) string {
	if id == (oid.ID{}) {
		return ""
	}
	if reason, ok := w.bad[id]; ok {
		return reason
	}
	has, err := w.p.Store.Has(id)
	switch {
	case err != nil:
		return problem.Text(err)
	case !has:
		return fmt.Sprintf("object %s is missing", id)
	}
	return ""
}

func (w *wholeness) list(id oid.ID) string {
	if reason := w.missing(id); reason != "" {
		w.lacks(id, manifest.Chunked)
		return reason
	}
	data, err := w.p.ReadObject(id)
	if err != nil {
		w.lacks(id, manifest.Chunked)
		return problem.Text(err)
	}
	list, err := cas.ParseList(data)
	if err != nil {
		return problem.Text(err)
	}
	first := ""
	for _, c := range list.Chunks {
		if reason := w.missing(c.ID); reason != "" {
			w.lacks(c.ID, manifest.File)
			first = cmp.Or(first, reason)
		}
	}
	return first
}

// conversation says what a stored conversation lacks, "" if it is whole.
func (w *wholeness) conversation(content oid.ID) string {
	var reason string
	store := conversation.StoreIn(context.Background(), w.p.Store.Get, nil)
	err := transcript.Walk(store, content, func(id oid.ID) (bool, error) {
		if w.good[id] {
			return false, nil
		}
		if reason = w.missing(id); reason != "" {
			return false, errors.New(reason)
		}
		data, err := w.p.Store.Get(nil, id)
		if err != nil {
			return false, err
		}
		if list, err := cas.ParseList(data); err == nil {
			for _, chunk := range list.Chunks {
				if reason = w.missing(chunk.ID); reason != "" {
					return false, errors.New(reason)
				}
			}
		}
		w.good[id] = true
		return true, nil
	})
	if err != nil {
		return problem.Text(err)
	}
	return ""
}
