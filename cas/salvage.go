package cas

import (
	"errors"
	"path/filepath"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// blockIsGood checks every object of a block. Failing to read is no damage.
func (s *Store) blockIsGood(payload []byte) (bool, error) {
	d, err := s.decode(payload)
	if err != nil {
		return false, unlessMalformed(err)
	}
	for i := range d.entries {
		if good, err := s.entryIsGood(d, i); !good || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Store) entryIsGood(d *decoded, i int) (bool, error) {
	e, data, err := d.at(i)
	if err != nil {
		return false, unlessMalformed(err)
	}
	if !e.delta {
		return oid.Sum(data) == e.id, nil
	}
	_, err = s.Get(nil, e.id)
	var damaged *DamagedError
	var missing *NotFoundError
	if errors.As(err, &damaged) || errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}

// unlessMalformed leaves the errors that do not say that bytes are wrong.
func unlessMalformed(err error) error {
	if isMalformed(err) {
		return nil
	}
	return err
}

// rewrite writes what is good of a pack under a temporary name and puts it in
// the pack's place. Every step leaves either the old pack or the new one.
func (s *Store) rewrite(p *pack, f vfs.File, size, counted int64) (lost []oid.ID, err error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := vfs.Replacement{Before: func() error { return s.remove(filepath.Join(s.o.Dir, p.name.indexFile())) }}
	err = s.replace(filepath.Join(s.o.Dir, p.name.file()), r, func(out vfs.File) (err error) {
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
		second := filepath.Join(mirror, p.name.file())
		if info, err := s.fs.Lstat(second); err == nil && sameFile(before, info) {
			if err := s.relink(filepath.Join(s.o.Dir, p.name.file()), second); err != nil {
				return nil, err
			}
		}
	}
	s.mu.Lock()
	s.ready = false
	var kept []*pack
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
func (s *Store) copyGood(p *pack, f vfs.File, size, counted int64, out vfs.File) (lost []oid.ID, err error) {
	var buf []byte
	at, from, ordinal := int64(0), int64(headerSize), uint64(0)
	region := blake3.New()
	put := func(b []byte) error {
		_, err := out.WriteAt(b, at)
		at += int64(len(b))
		return err
	}
	commitNow := func(c commit) error {
		c.ordinal, c.since = ordinal, uint64(at-from)
		c.seal(region)
		buf = appendRecord(buf[:0], p.seed, at, commitRecord, c.append(nil))
		err := put(buf)
		from, region = at, blake3.New()
		ordinal++
		return err
	}
	if err := put(packHeader{name: p.name, store: s.o.StoreID}.append(nil)); err != nil {
		return nil, err
	}
	var last uint64
	err = eachRecord(f, p.seed, headerSize, size, func(r record) error {
		if r.typ == commitRecord {
			c, err := parseCommit(r.payload)
			if err != nil || c.seq != 0 && c.seq <= last {
				return nil
			}
			last = max(last, c.seq)
			return commitNow(c)
		}
		payload, gone, err := s.goodPart(r.payload)
		if err != nil {
			return err
		}
		if r.offset < counted {
			lost = append(lost, gone...)
		}
		if payload == nil {
			return nil
		}
		buf = appendRecord(buf[:0], p.seed, at, blockRecord, payload)
		region.Write(buf)
		return put(buf)
	})
	if err == nil && at > from && p.name.kind == dataPack {
		err = commitNow(commit{})
	}
	return lost, err
}

// goodPart is a block's payload with only the objects that are good.
func (s *Store) goodPart(payload []byte) (good []byte, lost []oid.ID, err error) {
	d, err := s.decode(payload)
	if err != nil {
		if b, err := parseBlock(payload); err == nil {
			lost = idsOf(b.entries)
		}
		return nil, lost, unlessMalformed(err)
	}
	var entries []entry
	var body []byte
	for i := range d.entries {
		e, data, err := d.at(i)
		if err != nil {
			return nil, nil, err
		}
		ok, err := s.entryIsGood(d, i)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			lost = append(lost, e.id)
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
	return appendBlock(nil, codecRaw, entries, body), lost, nil
}
