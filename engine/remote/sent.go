package remote

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// sent is the list of the objects that are in the remote: a file of ids, to which each push adds. What is behind the number that
// the mark says means nothing.
type sent struct {
	file  *os.File
	whole map[oid.ID]struct{} // with all that they refer to
	there map[oid.ID]struct{} // of an interrupted push, not all of what they refer to
	bases map[[16]byte]bool   // both, by the first half of the id
	n     int                 // in the file
	bound map[[16]byte]bool   // what deltas rely on, since the last pack
}

// readSent reads the ids that the mark counts. A file that is shorter than that, or missing, says nothing: then everything goes again.
func (r *Remote) readSent(m *mark) (*sent, error) {
	name := filepath.Join(r.dir, sentName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|vfs.NoFollow|vfs.NoWait, 0o600)
	if err != nil {
		return nil, err
	}
	if r.p.Owner != nil {
		if err := r.p.Owner(name); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	s := &sent{file: f, whole: map[oid.ID]struct{}{}, there: map[oid.ID]struct{}{}, bases: map[[16]byte]bool{}, bound: map[[16]byte]bool{}}
	data := make([]byte, m.Sent*len(oid.ID{}))
	switch _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(data))), data); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		m.Whole, m.Sent = 0, 0
	case err != nil:
		return nil, errors.Join(err, f.Close())
	}
	for ; s.n < m.Sent; s.n++ {
		id := oid.ID(data[s.n*len(oid.ID{}):])
		if s.n < m.Whole {
			s.whole[id] = struct{}{}
		} else {
			s.there[id] = struct{}{}
		}
		s.bases[[16]byte(id[:])] = true
	}
	return s, nil
}

// has reports whether the remote has an object, also as what other objects are deltas of.
func (s *sent) has(x [16]byte) bool {
	if s.bases[x] && s.bound != nil {
		s.bound[x] = true
	}
	return s.bases[x]
}

// write writes ids behind those that count. They count when the mark says so.
func (s *sent) write(ids []oid.ID) error {
	data := make([]byte, 0, len(ids)*len(oid.ID{}))
	for _, id := range ids {
		data = append(data, id[:]...)
	}
	if _, err := s.file.WriteAt(data, int64(s.n*len(oid.ID{}))); err != nil {
		return fmt.Errorf("write %s: %w", s.file.Name(), err)
	}
	return s.file.Sync()
}

// pack is what a pack holds. Its deltas can rely on each other, and on what came before it.
func (s *sent) pack(of stamp, ids []oid.ID) packed {
	p := packed{stamp: of.String()}
	for _, id := range ids {
		p.ids = append(p.ids, [16]byte(id[:]))
		delete(s.bound, [16]byte(id[:]))
	}
	for x := range s.bound {
		p.bases = append(p.bases, x)
	}
	clear(s.bound)
	return p
}

func (s *sent) close() error { return s.file.Close() }

// spool is a sealed segment on its way, and the mark that holds when it has arrived. It is on disk before the first request, so that
// what is sent after an interruption is the same object: another one with the same commits would be a second log.
type spool struct {
	Name string `json:"name"`
	Mark mark   `json:"mark"`
	// Checkpoints is how many it brings.
	Checkpoints int `json:"checkpoints"`
	// Packs are those that it names: stamps.
	Packs []string `json:"packs,omitempty"`
}

const spooledName = "segment"

// writeSpool makes a segment durable before it is sent. The description comes last.
func (r *Remote) writeSpool(s spool, sealed []byte) error {
	if err := account.WriteFile(filepath.Join(r.dir, spooledName), sealed, r.p.Owner); err != nil {
		return err
	}
	return r.write(spoolName, s)
}

// readSpool reads what is on its way; ok is false where nothing is.
func (r *Remote) readSpool() (s spool, sealed []byte, ok bool, err error) {
	if err := r.read(spoolName, &s); err != nil || s.Name == "" {
		return s, nil, false, nil // torn: it is made anew
	}
	n, good := parseSegmentName(s.Name)
	sealed, err = vfs.ReadSmall(filepath.Join(r.dir, spooledName), maxSealed, vfs.NoFollow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, nil, false, err
	}
	if !good || err != nil || stampOf(sealed) != n.stamp {
		return s, nil, false, nil // what is damaged is made anew: if it was sent after all, the log is there twice
	}
	return s, sealed, true, nil
}

func (r *Remote) dropSpool() error {
	return errors.Join(account.RemoveIfThere(filepath.Join(r.dir, spoolName)), account.RemoveIfThere(filepath.Join(r.dir, spooledName)))
}
