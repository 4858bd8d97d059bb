package remote

import (
	"bytes"
	"context"
	"fmt"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// gathered is what a push sends.
type gathered struct {
	commits     []cas.Commit
	newest      cas.Commit // of those that were looked at, as the log has it
	checkpoints int
	forgets     bool                // one of the commits says that something was forgotten
	ids         []oid.ID            // of the objects that the remote lacks
	made        map[oid.ID][]byte   // of these, those that the store does not have
	lacks       map[oid.ID]struct{} // of these, those that are in no bundle yet

	bundle  *cas.Bundle
	bundled []oid.ID // in the bundle
}

// gather finds the commits behind the mark, and the objects that they need.
func (u *pushing) gather(ctx context.Context) (*gathered, error) {
	strip := newStripper(u.p, u.sent.whole)
	needs := reach.New(reach.Options{Dir: strip.load, Get: u.p.Store.Get, Known: u.sent.whole})
	g := &gathered{made: strip.made, lacks: map[oid.ID]struct{}{}, bundle: u.p.Store.NewBundle(u.sent.has)}
	for c, err := range u.p.Store.Commits(u.m.Seq + 1) {
		if err != nil {
			return nil, err
		}
		if c.Seq <= u.m.Seq {
			continue
		}
		g.newest = c
		record, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			g.commits = append(g.commits, c) // of a later version: it goes as it is
			continue
		}
		g.forgets = g.forgets || record.Amend != nil || record.Operation != nil && record.Operation.Kind == manifest.OpForget ||
			record.Delete != nil && record.Delete.Reason == manifest.ReasonForget
		stripped, send := withoutGit(record), true
		if !u.Precious {
			if stripped, send, err = strip.record(stripped); err != nil {
				return nil, fmt.Errorf("entry %d of the log: %w", c.Seq, err)
			}
		}
		if !send {
			continue
		}
		// What a later version may have put into a record goes along, where the record stays as it is.
		if data := stripped.Append(nil); !bytes.Equal(data, record.Append(nil)) {
			record, c.Payload = stripped, data
		}
		g.commits = append(g.commits, c)
		if record.Checkpoint != nil {
			g.checkpoints++
		}
		if err := needs.Record(ctx, record); err != nil {
			return nil, fmt.Errorf("entry %d of the log: %w", c.Seq, err)
		}
	}
	for _, id := range needs.Added() {
		if _, ok := u.sent.there[id]; !ok {
			g.ids = append(g.ids, id)
			g.lacks[id] = struct{}{}
		}
	}
	return g, nil
}

// manyObjects is how many objects are looked for in whole blocks: for fewer, it would cost more to look at the store's blocks than to
// compress them again.
var manyObjects = 1000

// objects bundles the objects of a project's store, and gives bundles that are full to pack. Beside what s says, the other side has by then what was bundled.
func (g *gathered) objects(ctx context.Context, p *project.Project, phase string, s *sent, pack func(context.Context, *cas.Bundle, []oid.ID) error) error {
	count := p.Counting(phase, "object")
	added := func(ids ...oid.ID) error {
		for _, id := range ids {
			if _, ok := g.lacks[id]; ok { // else it is there twice
				delete(g.lacks, id)
				g.bundled = append(g.bundled, id)
				s.bases[[16]byte(id[:])] = true
			}
		}
		count(len(g.ids)-len(g.lacks), len(g.ids))
		if g.bundle.Size() < maxObject-maxObject/16 {
			return ctx.Err()
		}
		err := pack(ctx, g.bundle, g.bundled)
		g.bundle, g.bundled = p.Store.NewBundle(s.has), nil
		return err
	}
	lacks := func(id oid.ID) bool { _, ok := g.lacks[id]; return ok }
	if len(g.ids) >= manyObjects {
		err := p.Store.WholeBlocks(lacks, func(ids []oid.ID, payload []byte) error {
			g.bundle.AddBlock(payload)
			return added(ids...)
		})
		if err != nil {
			return err
		}
	}
	for _, id := range g.ids {
		if !lacks(id) {
			continue
		}
		if data, ok := g.made[id]; ok {
			g.bundle.AddBytes(id, data)
		} else if err := g.bundle.Add(id); err != nil {
			if project.IsLost(err) {
				continue // verify names it; what is whole must not stay here for it
			}
			return err
		}
		if err := added(id); err != nil {
			return err
		}
	}
	return nil
}
