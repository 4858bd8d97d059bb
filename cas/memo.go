package cas

import (
	"sync"

	"github.com/rewind-cli/rewind/cas/pack"
)

// memoBytes bounds the whole objects that a memo keeps.
const memoBytes = 32 << 20

// objectMemo makes whole objects of deltas for those who read a pack from end
// to end. The versions of a file follow each other there, so that the base of
// a delta was mostly made a moment ago; without that every object would cost its
// whole chain.
type objectMemo struct {
	base  func(pack.Prefix) (*pack.Entry, []byte, error) // as it is stored
	mu    sync.Mutex
	known map[pack.Prefix][]byte
	order []pack.Prefix // oldest first
	bytes int
}

func newObjectMemo(base func(pack.Prefix) (*pack.Entry, []byte, error)) *objectMemo {
	return &objectMemo{base: base, known: map[pack.Prefix][]byte{}}
}

// whole makes the object of a delta. The result is not to be changed.
func (m *objectMemo) whole(e *pack.Entry, data []byte) ([]byte, error) {
	out, err := pack.AppendObject(nil, e, data, func(x pack.Prefix) (*pack.Entry, []byte, error) {
		m.mu.Lock()
		whole, ok := m.known[x]
		m.mu.Unlock()
		if ok {
			known := &pack.Entry{Length: len(whole)}
			copy(known.ID[:], x[:])
			return known, whole, nil
		}
		return m.base(x)
	})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	x := pack.PrefixOf(e.ID)
	if _, ok := m.known[x]; !ok {
		m.known[x] = out
		m.order = append(m.order, x)
		for m.bytes += len(out); m.bytes > memoBytes && len(m.order) > 1; {
			m.bytes -= len(m.known[m.order[0]])
			delete(m.known, m.order[0])
			m.order = m.order[1:]
		}
	}
	return out, nil
}
