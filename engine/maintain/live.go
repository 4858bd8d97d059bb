package maintain

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// marker collects the ids of all objects that something still needs.
type marker struct {
	live  map[oid.ID]struct{}
	added []oid.ID // since somebody emptied it
	load  func(oid.ID) (manifest.Dir, error)
	get   func([]byte, oid.ID) ([]byte, error)

	marked func(done, total int) // called with the number of marked checkpoints; may be nil

	strict bool                    // an object that is lost is an error
	hurt   bool                    // something was lost of what was marked last
	torn   map[oid.ID]bool         // directories and lists that something is lost of
	lost   []manifest.CheckpointID // checkpoints that something is lost of
}

// seen adds an id; it reports whether it was there already. Zero ids are nothing.
func (m *marker) seen(id oid.ID) bool {
	if id == (oid.ID{}) {
		return true
	}
	if _, ok := m.live[id]; ok {
		return true
	}
	m.add(id)
	return false
}

func (m *marker) has(id oid.ID) bool {
	_, ok := m.live[id]
	return ok
}

func (m *marker) add(id oid.ID) {
	m.live[id] = struct{}{}
	m.added = append(m.added, id)
}

// tree marks a directory and all that it holds. A directory that was marked
// before was marked whole.
func (m *marker) tree(ctx context.Context, id oid.ID) error {
	if m.seen(id) {
		m.hurt = m.hurt || m.torn[id]
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer m.tears(id)()
	dir, err := m.load(id)
	if err != nil {
		return m.pass(err)
	}
	for _, e := range dir.Entries {
		switch e.Kind {
		case manifest.Subdir:
			if err := m.tree(ctx, e.ID); err != nil {
				return err
			}
		case manifest.Chunked:
			if err := m.list(e.ID); err != nil {
				return err
			}
		case manifest.File:
			m.seen(e.ID)
		}
	}
	return nil
}

func (m *marker) list(id oid.ID) error {
	if m.seen(id) {
		m.hurt = m.hurt || m.torn[id]
		return nil
	}
	defer m.tears(id)()
	data, err := m.get(nil, id)
	if err != nil {
		return m.pass(err)
	}
	list, err := cas.ParseList(data)
	if err != nil {
		return err
	}
	for _, c := range list.Chunks {
		if !m.has(c.ID) {
			m.add(c.ID)
		}
	}
	return nil
}

// record marks what one entry of the log refers to.
func (m *marker) record(ctx context.Context, r manifest.Record) error {
	switch {
	case r.Checkpoint != nil:
		c := r.Checkpoint
		m.hurt = false
		defer func() {
			if m.hurt && !slices.Contains(m.lost, c.ID) {
				m.lost = append(m.lost, c.ID)
			}
		}()
		m.seen(c.Coverage)
		m.seen(c.Rules)
		if c.Transcript != nil {
			if err := m.conversation(c.Transcript.Content); err != nil {
				return fmt.Errorf("checkpoint %s: its conversation: %w", c.ID, err)
			}
		}
		if err := m.tree(ctx, c.Root); err != nil {
			return fmt.Errorf("checkpoint %s: %w", c.ID, err)
		}
	case r.Operation != nil:
		o := r.Operation
		m.seen(o.Paths)
		if err := m.tree(ctx, o.Before); err != nil {
			return err
		}
		return m.tree(ctx, o.After)
	case r.Touch != nil:
		if err := m.touched(r.Touch); err != nil {
			return fmt.Errorf("what a hook saw of %s: %w", r.Touch.Path, err)
		}
	case r.Amend != nil:
		for _, a := range r.Amend.Records {
			if err := m.record(ctx, a.Record); err != nil {
				return err
			}
		}
	case r.Rewrite != nil:
		for _, root := range r.Rewrite.Roots {
			if err := m.tree(ctx, root); err != nil {
				return err
			}
		}
	}
	return nil
}

// conversation marks all that a stored conversation consists of.
func (m *marker) conversation(content oid.ID) error {
	store := conversation.StoreIn(context.Background(), m.get, nil)
	return transcript.Walk(store, content, func(id oid.ID) (bool, error) {
		if m.has(id) {
			m.hurt = m.hurt || m.torn[id]
			return false, nil
		}
		m.add(id)
		data, err := m.get(nil, id)
		if err != nil {
			defer m.tears(id)()
			return false, m.pass(err)
		}
		if list, err := cas.ParseList(data); err == nil {
			for _, chunk := range list.Chunks {
				m.seen(chunk.ID)
			}
		}
		return true, nil
	})
}
