package oid

import "encoding/binary"

// Set numbers ids in the order in which they are added, from 0. It takes about 45 bytes an id, where a map takes twice as
// much and more while it grows, and holds no pointers for the garbage collector to follow. Its zero value is empty.
type Set struct {
	ids   []ID
	slots []uint32 // 1 + the number of an id, at its hash or behind it; 0: free. Their count is a power of two
}

// All are the ids, by their numbers. They are not to be changed.
func (s *Set) All() []ID { return s.ids }

// Add gives the number of an id; added is false where it had one already.
func (s *Set) Add(id ID) (n int, added bool) {
	if n, ok := s.Find(id); ok {
		return n, false
	}
	if 4*(len(s.ids)+1) > 3*len(s.slots) {
		s.slots = make([]uint32, max(16, 2*len(s.slots)))
		for n := range s.ids {
			s.put(n)
		}
	}
	s.ids = append(s.ids, id)
	s.put(len(s.ids) - 1)
	return len(s.ids) - 1, true
}

// put notes an id's number in the first free slot.
func (s *Set) put(n int) {
	i := s.hash(s.ids[n][:16])
	for s.slots[i] != 0 {
		i = (i + 1) & (len(s.slots) - 1)
	}
	s.slots[i] = uint32(n) + 1
}

// hash is where the ids with a first half begin to be looked for. An id is a hash itself.
func (s *Set) hash(half []byte) int {
	return int(binary.LittleEndian.Uint64(half[8:]) & uint64(len(s.slots)-1))
}

// Find gives the number of an id.
func (s *Set) Find(id ID) (n int, ok bool) { return s.find(id[:]) }

// FindHalf gives the number of an id of which the first half is known.
func (s *Set) FindHalf(half [16]byte) (n int, ok bool) { return s.find(half[:]) }

func (s *Set) find(key []byte) (n int, ok bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	for i := s.hash(key[:16]); s.slots[i] != 0; i = (i + 1) & (len(s.slots) - 1) {
		n := int(s.slots[i]) - 1
		if string(s.ids[n][:len(key)]) == string(key) {
			return n, true
		}
	}
	return 0, false
}
