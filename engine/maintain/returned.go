package maintain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// CatchUp brings a store forward from its mirror, as Project.CatchUp does, and keeps what was saved on the older state that
// was in its place.
func CatchUp(ctx context.Context, p *project.Project) {
	p.CatchUp()
	if err := joinBranch(ctx, p); err != nil {
		p.Notify(fmt.Sprintf("the store of %s does not have what was saved in the state that this account's mirror has: %s", p.Root(), problem.Text(p.Classify(err))))
	}
	_ = keepSince(ctx, p)     // whoever collects tries again, before anything goes
	_ = ForgetNotices(ctx, p) // so does the next command, and a hook before it tells
}

// ForgetNotices takes out of the notices of this account what another account forgot in the project. What that was is said
// by the coverage of the safety checkpoint of a notice's operation; where that is gone, no name is kept.
func ForgetNotices(ctx context.Context, p *project.Project) error {
	if !notice.Any(p.Env) {
		return nil
	}
	var forgotten uint64
	safety := map[uint64]manifest.Checkpoint{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Kind == manifest.OpForget {
				forgotten = max(forgotten, op.Seq)
			}
			if c, ok, err := db.ByID(op.Safety); err == nil && ok {
				safety[op.Seq] = c
			}
		}
		return nil
	})
	if err != nil || forgotten == 0 {
		return err
	}
	keys := map[uint64]map[string]bool{}
	return notice.Forget(ctx, p, forgotten, func(op uint64, path string) bool {
		c, ok := safety[op]
		if ok && keys[op] == nil && c.Coverage != (oid.ID{}) {
			data, err := p.ReadObject(c.Coverage)
			if ok = err == nil; ok {
				keys[op] = ForgottenIn(data)
			}
		}
		return !ok || keys[op][ForgottenKey(p, path)]
	})
}

// keepSince commits the checkpoints again that were saved on an older state of the store.
func keepSince(ctx context.Context, p *project.Project) error {
	payloads, err := p.SavedSince()
	if len(payloads) == 0 || err != nil || p.ReadOnly != nil {
		return err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := commit.Begin(p).Commit(ctx, func() (records []manifest.Record, err error) {
		now, err := manifest.Replay(ctx, p.Log(), 1, manifest.Skip)
		if err != nil {
			return nil, err
		}
		named := map[string]bool{}
		for _, c := range now.Checkpoints() {
			named[c.Name] = true
		}
		for _, payload := range slices.Backward(payloads) {
			r, err := manifest.ParseRecord(payload)
			if err != nil || r.Checkpoint == nil {
				continue
			}
			c := r.Checkpoint
			if _, known := now.ByID(c.ID); known {
				continue
			}
			if _, err := p.LoadDir(c.Root); err != nil {
				continue
			}
			if c.Name != "" && named[c.Name] {
				c.Name, c.Pinned = "", true
			}
			records = append(records, r)
		}
		return records, nil
	}, nil); err != nil {
		return err
	}
	return p.CommittedSince()
}

// joinBranch commits again what only the mirror has, where an older state was put in the store's place and went on in
// another way than the one that the mirror has. Both stay: nothing of the store is replaced.
func joinBranch(ctx context.Context, p *project.Project) error {
	if p.ReadOnly != nil || account.Exists(filepath.Join(p.StoreDir(), project.ForgettingName)) || !p.Store.Diverged() {
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	branch, err := p.Store.Branch()
	if err != nil {
		return err
	}
	defer branch.Close()
	theirs, err := manifest.Replay(ctx, project.LogOf(branch), 1, manifest.Skip)
	if err != nil {
		return err
	}
	b := &branchOf{p: p, from: branch, to: commit.Begin(p)}
	if err := errors.Join(b.put(ctx, theirs), b.to.Flush()); err != nil {
		return errors.Join(err, b.to.Discard())
	}
	joined := false
	err = commit.Appending(ctx, p, func(a *cas.Appender) error {
		if !p.Store.Diverged() {
			return nil // another process was faster
		}
		ours, err := manifest.Replay(ctx, p.Log(), 1, manifest.Skip)
		if err != nil {
			return err
		}
		if records := b.records(ours, theirs); len(records) > 0 {
			if _, err := b.to.CommitIn(a, records); err != nil {
				return err
			}
		}
		joined = true
		return p.Store.Joined()
	})
	if joined && err == nil {
		p.Notify(b.text())
	}
	return errors.Join(err, b.to.Discard())
}

// branchOf takes what only the mirror has into the store.
type branchOf struct {
	p    *project.Project
	from *cas.Store
	to   *commit.Tx

	there, lost int // checkpoints
	broken      map[manifest.CheckpointID]bool
}

// put copies the objects of checkpoints and touches that the store does not have. A checkpoint that is not whole, because what it
// refers to was removed from the store since, is left out.
func (b *branchOf) put(ctx context.Context, theirs *manifest.Replayed) error {
	ours, err := manifest.Replay(ctx, b.p.Log(), 1, manifest.Skip)
	if err != nil {
		return err
	}
	b.broken = map[manifest.CheckpointID]bool{}
	w := b.to.Writer()
	m := &marker{live: map[oid.ID]struct{}{}, get: b.get, load: func(id oid.ID) (manifest.Dir, error) {
		data, err := b.get(nil, id)
		if err != nil {
			return manifest.Dir{}, err
		}
		return manifest.ParseDir(data)
	}}
	for _, c := range theirs.Checkpoints() {
		if _, known := ours.ByID(c.ID); known {
			continue
		}
		m.added = m.added[:0]
		err := m.record(ctx, manifest.Record{Checkpoint: &c})
		for _, id := range m.added {
			if err != nil {
				break
			}
			err = b.copy(w, id)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isMissing(err):
			b.broken[c.ID] = true
			for _, id := range m.added {
				delete(m.live, id)
			}
		case err != nil:
			return err
		}
	}
	return w.Flush()
}

func isMissing(err error) bool {
	return errors.As(err, new(*cas.NotFoundError)) || errors.As(err, new(*cas.DamagedError))
}

// get reads an object of the mirror or of the store.
func (b *branchOf) get(dst []byte, id oid.ID) ([]byte, error) {
	data, err := b.from.Get(dst, id)
	if err != nil {
		return b.p.Store.Get(dst, id)
	}
	return data, nil
}

func (b *branchOf) copy(w *cas.Writer, id oid.ID) error {
	if has, err := b.p.Store.Has(id); has || err != nil {
		return err
	}
	data, err := b.from.Get(nil, id)
	if err == nil {
		_, err = w.Put(id, data, oid.ID{})
	}
	return err
}

// records are those that the log lacks: checkpoints with names and pins as they are, marks of checkpoints that both have,
// and what is known of sessions. A name that the store has given elsewhere becomes a pin.
func (b *branchOf) records(ours, theirs *manifest.Replayed) (records []manifest.Record) {
	b.there, b.lost = 0, 0
	named, sessions := map[string]bool{}, map[string]bool{}
	for _, c := range ours.Checkpoints() {
		named[c.Name] = true
	}
	for _, s := range ours.Sessions() {
		sessions[s.ID] = true
	}
	for _, s := range theirs.Sessions() {
		if !sessions[s.ID] {
			records = append(records, manifest.Record{Session: &s})
		}
	}
	list := theirs.Checkpoints()
	slices.Reverse(list)
	for _, c := range list {
		now, known := ours.ByID(c.ID)
		pin, name := c.Pinned && !now.Pinned, c.Name
		if name != "" && (known && now.Name != "" || named[name]) {
			pin, name = pin || now.Name != name && !now.Pinned, ""
		}
		switch {
		case !known && b.broken[c.ID]:
			b.lost++
		case !known:
			b.there++
			c.Name, c.Pinned = name, c.Pinned || pin
			records = append(records, manifest.Record{Checkpoint: &c})
		case pin || name != "":
			mark := manifest.Mark{Checkpoint: c.ID, Time: b.p.Env.Time().UTC()}
			if pin {
				mark.Pinned = &pin
			}
			if name != "" {
				mark.Name = &name
			}
			records = append(records, manifest.Record{Mark: &mark})
		}
	}
	for _, bound := range theirs.Bindings() {
		if !sessions[bound.Session] {
			records = append(records, manifest.Record{Binding: &bound})
		}
	}
	return records
}

func (b *branchOf) text() string {
	text := fmt.Sprintf("the store of %s was replaced by an older state of it, and that has been saved to since: both states are kept; checkpoints added from the mirror: %d", b.p.Root(), b.there)
	if b.lost > 0 {
		text += fmt.Sprintf("; %d could not be added, because gc or forget has removed their contents", b.lost)
	}
	return text
}
