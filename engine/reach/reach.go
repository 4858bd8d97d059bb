package reach

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Reach collects the ids of all objects that records of the log need. It is for one goroutine.
type Reach struct {
	// Hurt says, after Tree and Record, that something of what was asked for is lost.
	Hurt bool
	// Lost are the checkpoints of which something is lost.
	Lost []manifest.CheckpointID

	o    Options
	live oid.Set         // without those of o.Known
	torn map[oid.ID]bool // directories and lists that something is lost of
}

// Options say where objects are read, and which count.
type Options struct {
	Dir    func(oid.ID) (manifest.Dir, error)   // loads a directory; nil where no tree is asked for
	Get    func([]byte, oid.ID) ([]byte, error) // appends an object's bytes
	Strict bool                                 // an object that is lost is an error
	Known  map[oid.ID]struct{}                  // what is met already, with all that it needs; nil: nothing
}

// New begins with what o.Known has.
func New(o Options) *Reach { return &Reach{o: o} }

// Added are the ids that were met, in order. They are not to be changed.
func (r *Reach) Added() []oid.ID { return r.live.All() }

// Of begins with nothing, and reads the objects of a project's store.
func Of(p *project.Project, strict bool) *Reach {
	return New(Options{Dir: p.LoadDir, Get: p.Store.Get, Strict: strict})
}

// Has reports whether an object was met.
func (r *Reach) Has(id oid.ID) bool {
	if _, ok := r.live.Find(id); ok {
		return true
	}
	_, ok := r.o.Known[id]
	return ok
}

// seen adds an id; it reports whether it was there already. Zero ids are nothing.
func (r *Reach) seen(id oid.ID) bool {
	if id == (oid.ID{}) || r.Has(id) {
		return true
	}
	r.live.Add(id)
	return false
}

// Tree marks a directory and all that it holds. A directory that was marked
// before was marked whole.
func (r *Reach) Tree(ctx context.Context, id oid.ID) error {
	if r.seen(id) {
		r.Hurt = r.Hurt || r.torn[id]
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	defer r.tears(id)()
	dir, err := r.o.Dir(id)
	if err != nil {
		return r.pass(err)
	}
	for _, e := range dir.Entries {
		switch e.Kind {
		case manifest.Subdir:
			if err := r.Tree(ctx, e.ID); err != nil {
				return err
			}
		case manifest.Chunked:
			if err := r.list(e.ID); err != nil {
				return err
			}
		case manifest.File:
			r.seen(e.ID)
		}
	}
	return nil
}

func (r *Reach) list(id oid.ID) error {
	if r.seen(id) {
		r.Hurt = r.Hurt || r.torn[id]
		return nil
	}
	defer r.tears(id)()
	data, err := r.o.Get(nil, id)
	if err != nil {
		return r.pass(err)
	}
	list, err := cas.ParseList(data)
	if err != nil {
		return err
	}
	for _, c := range list.Chunks {
		r.seen(c.ID)
	}
	return nil
}

// Record marks what one entry of the log refers to.
func (r *Reach) Record(ctx context.Context, of manifest.Record) error {
	switch {
	case of.Checkpoint != nil:
		c := of.Checkpoint
		r.Hurt = false
		defer func() {
			if r.Hurt && !slices.Contains(r.Lost, c.ID) {
				r.Lost = append(r.Lost, c.ID)
			}
		}()
		r.seen(c.Coverage)
		r.seen(c.Rules)
		if c.Transcript != nil {
			if err := r.Conversation(c.Transcript.Content); err != nil {
				return fmt.Errorf("checkpoint %s: its conversation: %w", c.ID, err)
			}
		}
		for _, tree := range []oid.ID{c.Root, c.Git} {
			if err := r.Tree(ctx, tree); err != nil {
				return fmt.Errorf("checkpoint %s: %w", c.ID, err)
			}
		}
	case of.Operation != nil:
		o := of.Operation
		r.seen(o.Paths)
		for _, tree := range []oid.ID{o.Before, o.After, o.GitBefore, o.GitAfter} {
			if err := r.Tree(ctx, tree); err != nil {
				return err
			}
		}
	case of.Touch != nil:
		if err := r.touched(of.Touch); err != nil {
			return fmt.Errorf("what a hook saw of %s: %w", of.Touch.Path, err)
		}
	case of.Amend != nil:
		for _, a := range of.Amend.Records {
			if err := r.Record(ctx, a.Record); err != nil {
				return err
			}
		}
	case of.Rewrite != nil:
		for _, root := range of.Rewrite.Roots {
			if err := r.Tree(ctx, root); err != nil {
				return err
			}
		}
	}
	return nil
}

// Conversation marks all that a stored conversation consists of.
func (r *Reach) Conversation(content oid.ID) error {
	store := conversation.StoreIn(context.Background(), r.o.Get, nil)
	return transcript.Walk(store, content, func(id oid.ID) (bool, error) {
		if r.Has(id) {
			r.Hurt = r.Hurt || r.torn[id]
			return false, nil
		}
		r.live.Add(id)
		data, err := r.o.Get(nil, id)
		if err != nil {
			defer r.tears(id)()
			return false, r.pass(err)
		}
		if list, err := cas.ParseList(data); err == nil {
			for _, chunk := range list.Chunks {
				r.seen(chunk.ID)
			}
		}
		return true, nil
	})
}

// touched marks the content that a touch refers to.
func (r *Reach) touched(t *manifest.Touch) error {
	if t.Entry == nil || t.Entry.ID == (oid.ID{}) {
		return nil
	}
	if t.Entry.Kind == manifest.Chunked {
		// A program that knows no touches may have collected it: that keeps nothing from being swept.
		if err := r.list(t.Entry.ID); !project.IsDamage(err) {
			return err
		}
		return nil
	}
	r.seen(t.Entry.ID)
	return nil
}

// pass is nil for what is lost, which it notes; other errors stay. Where the store was completed from its mirror before, what is
// lost will not come back: what still refers to it must not keep gc or forget from all else.
func (r *Reach) pass(err error) error {
	if r.o.Strict || !project.IsLost(err) {
		return err
	}
	r.Hurt = true
	return nil
}

// tears begins with a directory or a list; what it gives notes at its end whether something of it is lost.
func (r *Reach) tears(id oid.ID) (end func()) {
	was := r.Hurt
	r.Hurt = false
	return func() {
		if r.Hurt {
			if r.torn == nil {
				r.torn = map[oid.ID]bool{}
			}
			r.torn[id] = true
		}
		r.Hurt = r.Hurt || was
	}
}

// IsTorn reports whether a directory of a tree is lost.
func IsTorn(ctx context.Context, p *project.Project, root oid.ID) bool {
	r := Of(p, false)
	err := r.Tree(ctx, root)
	return err == nil && r.Hurt || project.IsDamage(err)
}
