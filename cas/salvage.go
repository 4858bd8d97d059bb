package cas

import (
	"errors"
	"path/filepath"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// blockIsGood checks every object of a block. Failing to read is no damage.
func (s *Store) blockIsGood(payload []byte) (bool, error) {
	b, err := pack.DecodeBlock(payload)
	if err != nil {
		return false, unlessMalformed(err)
	}
	for e, data := range b.All() {
		if good, err := s.entryIsGood(e, data); !good || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Store) entryIsGood(e *pack.Entry, data []byte) (bool, error) {
	if !e.Delta {
		return oid.Sum(data) == e.ID, nil
	}
	_, err := s.Get(nil, e.ID)
	if errors.As(err, new(*DamagedError)) || errors.As(err, new(*NotFoundError)) {
		return false, nil
	}
	return err == nil, err
}

// unlessMalformed leaves the errors that do not say that bytes are wrong.
func unlessMalformed(err error) error {
	if pack.IsMalformed(err) {
		return nil
	}
	return err
}

// rewrite writes what is good of a pack under a temporary name and puts it in
// the pack's place. Every step leaves either the old pack or the new one.
func (s *Store) rewrite(p *packFile, f vfs.File, size, counted int64) (lost []oid.ID, err error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := vfs.Replacement{Before: func() error { return s.remove(filepath.Join(s.o.Dir, p.name.IndexFile())) }}
	err = s.replace(filepath.Join(s.o.Dir, p.name.File()), r, func(out vfs.File) (err error) {
		lost, err = s.copyGood(p, f, size, counted, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	mirror, err := s.ownMirror()
	if err != nil {
		return nil, err
	}
	if mirror != "" {
		// The name in the mirror leads to the damaged bytes, or to another file that may have what is damaged here.
		second := filepath.Join(mirror, p.name.File())
		if info, err := s.fs.Lstat(second); err == nil && sameFile(before, info) {
			if err := s.relink(filepath.Join(s.o.Dir, p.name.File()), second); err != nil {
				return nil, err
			}
		}
	}
	s.mu.Lock()
	s.ready = false
	var kept []*packFile
	for _, k := range s.packs {
		if k.name != p.name {
			kept = append(kept, k)
		} else {
			s.leave(k)
		}
	}
	s.packs = kept
	s.mu.Unlock()
	s.cache.clear()
	return lost, nil
}

// copyGood copies the good records of a pack to out, and returns the objects
// that counted and had to be left behind, as far as their ids are known.
func (s *Store) copyGood(p *packFile, f vfs.File, size, counted int64, out vfs.File) (lost []oid.ID, err error) {
	var buf []byte
	at, from, ordinal := int64(0), int64(pack.HeaderSize), uint64(0)
	region := blake3.New()
	put := func(b []byte) error {
		_, err := out.WriteAt(b, at)
		at += int64(len(b))
		return err
	}
	commitNow := func(c pack.Commit) error {
		c.Ordinal, c.Since = ordinal, uint64(at-from)
		c.Seal(region)
		buf = pack.AppendRecord(buf[:0], p.seed, at, pack.CommitRecord, c.Append(nil))
		err := put(buf)
		from, region = at, blake3.New()
		ordinal++
		return err
	}
	if err := put(pack.Header{Name: p.name, Store: s.o.StoreID}.Append(nil)); err != nil {
		return nil, err
	}
	var last uint64
	err = pack.EachRecord(f, p.seed, pack.HeaderSize, size, nil, func(r pack.Record) error {
		if r.Type == pack.CommitRecord {
			c, err := pack.ParseCommit(r.Payload)
			if err != nil || c.Seq != 0 && c.Seq <= last {
				return nil
			}
			last = max(last, c.Seq)
			return commitNow(c)
		}
		payload, gone, err := s.goodPart(r.Payload)
		if err != nil {
			return err
		}
		if r.Offset < counted {
			lost = append(lost, gone...)
		}
		if payload == nil {
			return nil
		}
		buf = pack.AppendRecord(buf[:0], p.seed, at, pack.BlockRecord, payload)
		region.Write(buf)
		return put(buf)
	})
	if err == nil && at > from && p.name.Kind == pack.Data {
		err = commitNow(pack.Commit{})
	}
	return lost, err
}

// goodPart is a block's payload with only the objects that are good.
func (s *Store) goodPart(payload []byte) (good []byte, lost []oid.ID, err error) {
	b, err := pack.DecodeBlock(payload)
	if err != nil {
		return nil, b.IDs(), unlessMalformed(err)
	}
	var entries []pack.Entry
	var body []byte
	for e, data := range b.All() {
		ok, err := s.entryIsGood(e, data)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			lost = append(lost, e.ID)
			continue
		}
		entries = append(entries, *e)
		body = append(body, data...)
	}
	if len(lost) == 0 {
		return payload, nil, nil
	}
	if len(entries) == 0 {
		return nil, lost, nil
	}
	return pack.RawBlock(entries, body), lost, nil
}
