package cas

import "sync"

// memoBytes bounds the whole objects that a memo keeps.
const memoBytes = 32 << 20

// objectMemo makes whole objects of deltas for those who read a pack from end
// to end. The versions of a file follow each other there, so that the base of
// a delta was mostly made a moment ago; without that every object would cost its
// whole chain.
type objectMemo struct {
	s     *Store
	mu    sync.Mutex
	known map[prefix][]byte
	order []prefix // oldest first
	bytes int
}

func newObjectMemo(s *Store) *objectMemo {
	return &objectMemo{s: s, known: map[prefix][]byte{}}
}

// whole makes the object of a delta. The result is not to be changed.
func (m *objectMemo) whole(e *entry, data []byte) ([]byte, error) {
	out, err := m.s.undelta(nil, e, data, func(x prefix) (*entry, []byte, error) {
		m.mu.Lock()
		whole, ok := m.known[x]
		m.mu.Unlock()
		if ok {
			known := &entry{length: len(whole)}
			copy(known.id[:], x[:])
			return known, whole, nil
		}
		return m.s.baseOf(x)
	})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	x := prefixOf(e.id)
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
