package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Repair rebuilds what can be rebuilt: packs that the objects directory has
// lost, from the mirror; indexes; the good records of damaged packs;
// objects that are damaged but whose content the working tree still has; the
// database. What is still damaged afterwards is in the result.
func Repair(ctx context.Context, p *project.Project) (*Verified, error) {
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	lock, err := p.Lock(ctx, project.SweepLock)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	var done []string
	say := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
	var checking func(string, cas.Checking)
	if p.Progress != nil {
		checking = func(step string, c cas.Checking) {
			p.Progress(project.ProgressInfo{Phase: "repair: " + step, Unit: "pack", Files: int64(c.Packs), TotalFiles: int64(c.AllPacks),
				Bytes: c.Bytes, TotalBytes: c.AllBytes})
		}
	}
	before, err := knownBefore(ctx, p)
	if err != nil {
		return nil, err
	}
	err = p.Store.Repair(ctx, func(r cas.Repaired) {
		say("%s", describeFix(r))
		before.less = before.less || r.What == cas.FixSalvaged || r.What == cas.FixRemoved
	}, checking)
	if err == nil {
		err = p.AcceptShortened()
	}
	if err != nil {
		return nil, p.Classify(err)
	}
	if err := recapture(ctx, p, say); err != nil {
		return nil, err
	}
	tree, err := p.Lock(ctx, account.TreeLockName)
	if err != nil {
		return nil, err
	}
	removed, err := RemoveHeld(ctx, p)
	tree.Release()
	if err != nil {
		return nil, err
	}
	for _, path := range removed {
		say("removed %s, which a restore that was killed left: the store has its content", path)
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	err = manifest.Rebuild(ctx, p.DatabaseOptions(), p.Log())
	release()
	if err != nil {
		return nil, p.Classify(err)
	}
	p.RefreshMirror()
	say("rebuilt the database from the log")
	v, err := Verify(ctx, p, true)
	if err != nil {
		return nil, err
	}
	if err := p.NoteTorn(v.torn()); err != nil {
		return nil, err
	}
	v.Repaired = done
	lost, err := before.lost(ctx, p)
	if err != nil {
		return nil, err
	}
	v.Damaged = append(lost, v.Damaged...)
	ids := make([]manifest.CheckpointID, 0, len(lost))
	for _, d := range lost {
		if d.Checkpoint != (manifest.CheckpointID{}) {
			ids = append(ids, d.Checkpoint)
		}
	}
	return v, p.Classify(p.AcceptLost(ids))
}

// known is what was known of checkpoints before a repair.
type known struct {
	listed []project.Listed
	saved  []project.Saved // by the account
	gone   []project.Saved // that the log has lost
	less   bool            // records were left out of packs
}

func knownBefore(ctx context.Context, p *project.Project) (*known, error) {
	k := &known{saved: p.Saved()}
	short, err := p.Shortened(true)
	if err != nil {
		return nil, p.Classify(err)
	}
	if short != nil {
		k.gone = short.Gone
	}
	k.listed, err = p.List(ctx, project.ListOptions{All: true})
	if project.IsDamage(err) {
		err = nil // the account may know more
	}
	return k, err
}

// lost names the checkpoints that are not there any more.
func (k *known) lost(ctx context.Context, p *project.Project) (damage []Damage, err error) {
	replayed, err := manifest.Replay(ctx, p.Log(), 1, manifest.Skip)
	if err != nil {
		return nil, p.Classify(err)
	}
	if k.less && len(k.listed)+len(k.saved)+len(k.gone) == 0 {
		damage = append(damage, Damage{Reason: "nothing else knows which checkpoints the damaged packs had: those that are not listed now are lost"})
	}
	there := map[manifest.CheckpointID]bool{}
	for _, c := range replayed.Checkpoints() {
		there[c.ID] = true
	}
	missing := func(id manifest.CheckpointID, at time.Time, what string) {
		if !there[id] {
			there[id] = true // reported once
			damage = append(damage, Damage{Checkpoint: id, Reason: fmt.Sprintf("it is lost: it was saved on %s%s", at.Local().Format(time.DateTime), what)})
		}
	}
	for _, c := range k.listed {
		what := pinnedToo(c.Pinned) + fmt.Sprintf(", and had the number %d", c.N)
		if c.Name != "" {
			what += " and the name " + c.Name
		}
		missing(c.ID, c.Time, what)
	}
	if k.less { // else another account's gc may have removed it
		k.gone = append(k.gone, k.saved...)
	}
	for _, c := range k.gone {
		missing(c.ID, c.Time, pinnedToo(c.Pinned))
	}
	return damage, nil
}

// recapture brings objects back that checkpoints need and the store has lost, where a file of the working tree still has
// their content. It stores nothing else of the tree.
func recapture(ctx context.Context, p *project.Project, say func(string, ...any)) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := account.RemoveIfThere(p.StatCacheFile()); err != nil {
		return err
	}
	checkpoints, _, err := readableCheckpoints(ctx, p)
	if err != nil {
		return err
	}
	w := &wholeness{p: p, good: map[oid.ID]bool{}, v: &Verified{}, lack: map[oid.ID]manifest.Kind{}}
	for _, c := range checkpoints {
		if err := w.checkpoint(ctx, c); err != nil {
			return err
		}
	}
	if len(w.lack) == 0 {
		return nil
	}
	tree, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Rehash: true, Look: true})
	if err != nil {
		return err
	}
	defer func() { _ = tree.Discard() }()
	tx := commit.Begin(p)
	for len(w.lack) > 0 {
		for id, kind := range w.lack {
			delete(w.lack, id)
			data, err := tree.Tx.Get(nil, id)
			if err != nil {
				continue // no file has it any more
			}
			if _, err := tx.Put(data); err != nil {
				return errors.Join(err, tx.Discard())
			}
			if err := w.below(data, kind); err != nil {
				return errors.Join(err, tx.Discard())
			}
		}
	}
	if err := tx.Flush(); err != nil {
		return errors.Join(p.Classify(err), tx.Discard())
	}
	stored := tx.StoredBytes()
	if stored == 0 {
		return tx.Discard()
	}
	record := manifest.Record{Operation: &manifest.Operation{Time: p.Env.Time().UTC(), Kind: manifest.OpRepair}}
	if _, err := tx.Commit(ctx, func() ([]manifest.Record, error) { return []manifest.Record{record}, nil }, nil); err != nil {
		return err
	}
	say("recovered %d bytes from the working tree", stored)
	return nil
}

// below adds what an object that came back refers to, where the store has lost that too.
func (w *wholeness) below(data []byte, kind manifest.Kind) error {
	need := func(id oid.ID, kind manifest.Kind) error {
		if id == (oid.ID{}) || w.good[id] {
			return nil
		}
		w.good[id] = true // looked at
		has, err := w.p.Store.Has(id)
		if err == nil && !has {
			w.lack[id] = kind
		}
		return err
	}
	switch kind {
	case manifest.Subdir:
		dir, err := manifest.ParseDir(data)
		if err != nil {
			return err
		}
		for _, e := range dir.Entries {
			if e.Kind == manifest.Subdir || e.IsFile() {
				if err := need(e.ID, e.Kind); err != nil {
					return err
				}
			}
		}
	case manifest.Chunked:
		list, err := cas.ParseList(data)
		if err != nil {
			return err
		}
		for _, c := range list.Chunks {
			if err := need(c.ID, manifest.File); err != nil {
				return err
			}
		}
	}
	return nil
}

func describeFix(r cas.Repaired) string {
	text := r.Pack + ": "
	switch r.What {
	case cas.FixReturned:
		text += "restored from the mirror"
	case cas.FixSalvaged:
		text += "rewritten without its damaged parts"
	case cas.FixCut:
		text += "removed an incomplete write at its end"
	case cas.FixNamed:
		text += "is in the mirror again"
	case cas.FixRemoved:
		text += "removed, because nothing in it could be read"
	default:
		text += "was repaired"
	}
	if n := len(r.Lost); n > 0 {
		text += fmt.Sprintf("; %d of its objects cannot be read any more", n)
	}
	return text
}
