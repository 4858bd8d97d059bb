package cas

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// Reader reads objects that are made of each other, as the versions of a file are: read in their order, oldest
// first, each costs one delta instead of its whole chain. It keeps up to 32 MB of them, and is safe for concurrent use.
type Reader struct {
	s     *Store
	memo  *objectMemo
	other func(dst []byte, id oid.ID) ([]byte, error)
}

// NewReader makes a Reader. What cannot be read so is asked of other, which is Get of the store or of a batch.
func (s *Store) NewReader(other func(dst []byte, id oid.ID) ([]byte, error)) *Reader {
	return &Reader{s, newObjectMemo(s.baseOf), other}
}

// View gives an object's bytes, all of them checked against the id. They are not to be changed. Errors: those of other.
func (r *Reader) View(id oid.ID) ([]byte, error) {
	if data := r.read(id); data != nil && oid.Sum(data) == id {
		return data, nil
	}
	return r.other(nil, id)
}

// read gives what may be the object; nil where it is not to be had so.
func (r *Reader) read(id oid.ID) []byte {
	m := r.memo
	m.mu.Lock()
	known := m.known[pack.PrefixOf(id)]
	m.mu.Unlock()
	if known != nil {
		return known
	}
	e, data := r.s.asStored(id)
	if e != nil && e.Delta {
		var err error
		if data, err = m.whole(e, data); err != nil {
			return nil
		}
	}
	return data
}

// asStored gives what the store has under an id, a whole object or a delta; nil where it is not to be had so.
func (s *Store) asStored(id oid.ID) (*pack.Entry, []byte) {
	if s.prepare() != nil {
		return nil, nil
	}
	at, ok := s.find(id)
	if !ok {
		return nil, nil
	}
	e, data, err := s.stored(at, pack.PrefixOf(id))
	if err != nil {
		return nil, nil
	}
	return e, data
}

// Chain reads objects as a Reader does, one after the other, and uses their memory again. It is not safe for concurrent
// use.
type Chain struct {
	r    *Reader
	kept []whole // those used last first
	most int
}

// whole is an object that was checked against its id.
type whole struct {
	id   oid.ID
	data []byte
	own  []byte // memory to be used again; nil where data is somebody else's
}

// NewChain makes a Chain whose objects stay as they are for so many further calls of View.
func (r *Reader) NewChain(stay int) *Chain { return &Chain{r: r, most: 2*stay + 3} }

// View gives an object's bytes, all of them checked against the id. They are not to be changed, and are another
// object's some calls later: see NewChain. Errors: those of other.
func (c *Chain) View(id oid.ID) ([]byte, error) {
	if i := slices.IndexFunc(c.kept, func(w whole) bool { return w.id == id }); i >= 0 {
		c.use(i)
		return c.kept[0].data, nil
	}
	e, data := c.r.s.asStored(id)
	found := whole{id: id, data: data}
	if e != nil && e.Delta {
		if i := c.base(e.Base); i >= 0 {
			c.use(i)
		}
		found.own = c.spare()
		out, err := pack.AppendObject(found.own[:0], e, data, func(x pack.Prefix) (*pack.Entry, []byte, error) {
			if i := c.base(x); i >= 0 {
				w := &c.kept[i]
				return &pack.Entry{ID: w.id, Length: len(w.data)}, w.data, nil
			}
			return c.r.s.baseOf(x)
		})
		if err != nil {
			e = nil
		} else {
			found.data, found.own = out, out
		}
	}
	if e == nil || oid.Sum(found.data) != id {
		out, err := c.r.other(nil, id)
		if err != nil {
			return nil, err
		}
		found.data, found.own = out, out
	}
	if len(c.kept) == c.most {
		c.kept = c.kept[:c.most-1]
	}
	c.kept = slices.Insert(c.kept, 0, found)
	return found.data, nil
}

// base is where the object of a prefix is kept; -1 for nowhere.
func (c *Chain) base(x pack.Prefix) int {
	return slices.IndexFunc(c.kept, func(w whole) bool { return pack.PrefixOf(w.id) == x })
}

// use puts an object that is kept in front.
func (c *Chain) use(i int) {
	w := c.kept[i]
	copy(c.kept[1:], c.kept[:i])
	c.kept[0] = w
}

// spare gives the memory of the object that was not used for the longest time, which is not kept from then on.
func (c *Chain) spare() []byte {
	last := len(c.kept) - 1
	if last < c.most-1 {
		return nil
	}
	own := c.kept[last].own
	c.kept[last] = whole{}
	c.kept = c.kept[:last]
	return own
}
