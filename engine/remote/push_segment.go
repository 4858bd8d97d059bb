package remote

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
)

// log sends the commits behind the mark.
func (u *pushing) log(ctx context.Context) error {
	u.generation = nil
	defer u.leave()
	if err := u.use(ctx); err != nil {
		return err
	}
	last, err := u.p.Store.Last()
	if err != nil {
		return err
	}
	g, err := u.gather(ctx)
	if err == nil {
		err = u.forgetting() // the note of it is there before the log says it
	}
	if err != nil {
		return err
	}
	if u.m.Forgot = u.m.Forgot || g.forgets && u.m.Seq > 0; u.m.Forgot {
		u.done.Moved = true
		u.newWriter()
		if g, err = u.gather(ctx); err != nil {
			return err
		}
	}
	if len(g.commits) == 0 { // gc has written the log anew, or all is about precious files
		u.m.At = positionText(last)
		return u.write(markName, u.m)
	}
	if !u.looked {
		u.needs = map[[16]byte]oid.ID{}
		for id := range g.lacks {
			u.needs[[16]byte(id[:])] = id
		}
	}
	if err := g.objects(ctx, u.p, "push", u.sent, u.pack); err != nil {
		return err
	}
	for _, c := range g.commits {
		g.bundle.Commit(c)
	}
	if err := u.segment(ctx, g); err != nil {
		return err
	}
	u.index(ctx)
	return nil
}

// segment sends commits, with the objects that are in no pack.
func (u *pushing) segment(ctx context.Context, g *gathered) error {
	n := segmentName{writer: u.m.Writer, first: g.commits[0].Seq, last: g.commits[len(g.commits)-1].Seq, parent: noParent}
	h := head{Before: u.m.Before, Packs: u.m.Packs}
	if u.m.First {
		h.Machine, _ = os.Hostname()
		u.m.Machine = h.Machine
		h.Root = strconv.Quote(u.p.Root())
	}
	if before, ok := parseStamp(u.m.Before); ok {
		n.parent = parentOf(before)
	}
	if k, err := u.Key(); err == nil { // who does not have it pushes without
		if err := h.sign(k, ofSegment, g.bundle.Bytes()); err != nil {
			return err
		}
	}
	sealed, err := u.seal(h, g.bundle)
	if err != nil {
		return err
	}
	n.stamp = stampOf(sealed)
	if err := u.sent.write(g.bundled); err != nil {
		return err
	}
	s := spool{Name: n.String(), Mark: u.m, Checkpoints: g.checkpoints, Packs: u.m.Packs}
	s.Mark.Seq, s.Mark.Payload, s.Mark.At = g.newest.Seq, commitHash(g.newest), positionText(g.newest.Position)
	if u.m.First {
		s.Mark.Base = n.parent
	}
	s.Mark.Before, s.Mark.Packs, s.Mark.First = n.stamp.String(), nil, false
	s.Mark.Unmerged++
	s.Mark.Sent += len(g.bundled)
	s.Mark.Whole = s.Mark.Sent
	if err := u.writeSpool(s, sealed); err != nil {
		return err
	}
	u.leave()
	return u.send(ctx, s, sealed)
}

func (u *pushing) seal(h head, bundle *cas.Bundle) ([]byte, error) {
	data, err := h.padded(bundle.Bytes())
	if err != nil {
		return nil, err
	}
	return u.encrypt(data)
}

// send sends what is in the spool, and notes that it is there.
func (u *pushing) send(ctx context.Context, s spool, sealed []byte) error {
	if err := u.put(ctx, s.Name, sealed); err != nil {
		return err
	}
	if len(s.Packs) > 0 {
		// A process that was asleep for days between a pack and its segment finds out here, and not before: from now on, gc keeps what is there.
		if err := u.arePacks(ctx, s.Packs); err != nil {
			return err
		}
		if err := u.notePacks(s.Packs); err != nil {
			return err
		}
	}
	u.done.Checkpoints += s.Checkpoints
	s.Mark.Time, s.Mark.Boot = u.p.Env.Time(), u.started()
	if err := u.write(markName, s.Mark); err != nil {
		return err
	}
	u.m = s.Mark
	return u.dropSpool()
}

func (u *pushing) put(ctx context.Context, name string, sealed []byte) error {
	if err := u.forgetting(); err != nil {
		return err
	}
	u.done.Requests++
	err := u.b.Put(ctx, name, sealed)
	if denied(err) && !u.Conditional {
		err = u.putNew(ctx, name, sealed, err)
	}
	if err != nil {
		return err
	}
	u.done.Bytes += int64(len(sealed))
	return nil
}

// putNew is put with credentials that allow only to write what is not there yet: a clone was not there when remote add found out that the place can
// be asked for that. Where it helps, that is noted; else the error is that of before.
func (u *pushing) putNew(ctx context.Context, name string, sealed []byte, before error) error {
	b, err := u.openAs(true)
	if err != nil {
		return before
	}
	u.done.Requests++
	if err := b.Put(ctx, name, sealed); err != nil {
		return before
	}
	u.b, u.Conditional = b, true
	return change(ctx, u.p, func(all map[string]Config) {
		if c, ok := all[u.Name]; ok && c.ID == u.ID {
			c.Conditional = true
			all[u.Name] = c
		}
	})
}

// positionText names a place in the log and what is before it.
func positionText(at cas.Position) string {
	return fmt.Sprintf("%d/%d/%d/%x", at.Pack, at.Offset, at.Seq, at.Sum)
}
