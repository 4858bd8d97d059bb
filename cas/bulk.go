package cas

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// bulk streams blocks into data packs. Its batch guards it.
type bulk struct {
	s     *Store
	dense bool

	name     pack.Name
	pack     *packFile
	file     vfs.File
	contents pack.Contents
	ordinal  uint64
	end      int64 // of what was written
	region   *blake3.Hasher
	from     int64 // start of the region
	buf      []byte
	syncing  chan error  // the fsync of a flush in the background
	flushed  int         // flushes of this pack
	packs    []pack.Name // all that were begun
}

// begin creates the next pack.
func (k *bulk) begin() error {
	k.name = pack.Name{Kind: pack.Data, Tag: k.s.o.Random()}
	k.pack = k.s.newPack(k.name)
	file, err := k.s.create(k.pack.path)
	if err != nil {
		return err
	}
	k.file = file
	k.packs = append(k.packs, k.name)
	k.pack.file = file
	header := pack.Header{Name: k.name, Store: k.s.o.StoreID, Dense: k.dense}
	if err := k.write(header.Append(nil)); err != nil {
		return err
	}
	k.contents = pack.Contents{Covered: pack.HeaderSize}
	k.ordinal, k.flushed, k.from, k.region = 0, 0, pack.HeaderSize, blake3.New()
	k.s.mirrorPack(k.name)
	return nil
}

func (k *bulk) write(b []byte) error {
	if _, err := k.file.WriteAt(b, k.end); err != nil {
		return fmt.Errorf("write %s: %w", k.name.File(), err)
	}
	k.end += int64(len(b))
	return nil
}

// add writes a block.
func (k *bulk) add(b *stagedBlock, payload []byte) error {
	if k.file == nil {
		if err := k.begin(); err != nil {
			return err
		}
	}
	at := k.end
	k.buf = pack.AppendRecord(k.buf[:0], k.pack.seed, at, pack.BlockRecord, payload)
	k.region.Write(k.buf)
	if err := k.write(k.buf); err != nil {
		return err
	}
	k.contents.AddBlock(at, k.end, b.entries)
	b.mu.Lock()
	b.at = &location{k.pack, pack.Place{BlockRef: pack.BlockRef{Offset: at, Size: int32(k.end - at)}, Pos: 0}}
	b.open, b.entries, b.body, b.payload = false, nil, nil, nil
	b.mu.Unlock()
	switch {
	case k.end >= k.s.limits.dataPack, k.contents.Objects() >= k.s.limits.objects:
		return k.flush(true)
	case k.end-k.from >= k.s.limits.flush:
		return k.flush(false)
	}
	return nil
}

// flush commits what was written and lets it become durable in the background.
// Sealed ends the pack.
func (k *bulk) flush(sealed bool) error {
	if err := k.settled(); err != nil {
		return err
	}
	if k.end > k.from {
		if err := k.commit(); err != nil {
			return err
		}
	}
	k.flushed++
	k.contents.Sealed = sealed
	// What an index covers counts as durable: it is written after the fsync.
	done := make(chan error, 1)
	k.syncing = done
	file, name, c := k.file, k.name, k.contents
	if sealed {
		k.contents = pack.Contents{}
	} else {
		c = c.Clone()
	}
	go func() {
		err := k.s.sync(file)
		if err == nil {
			err = k.s.syncDir()
		}
		if err == nil {
			err = k.s.writeIndex(name, &c)
		}
		done <- err
	}()
	if sealed {
		// The file stays open for those who read what is staged.
		k.s.mu.Lock()
		k.s.leave(k.pack)
		k.s.mu.Unlock()
		k.file, k.pack, k.end = nil, nil, 0
	}
	return nil
}

// settled waits for the flush in the background.
func (k *bulk) settled() error {
	if k.syncing == nil {
		return nil
	}
	err := <-k.syncing
	k.syncing = nil
	return err
}

// commit appends an unsequenced commit.
func (k *bulk) commit() error {
	c := pack.Commit{Ordinal: k.ordinal, Since: uint64(k.end - k.from)}
	c.Seal(k.region)
	at := k.end
	k.buf = pack.AppendRecord(k.buf[:0], k.pack.seed, at, pack.CommitRecord, c.Append(nil))
	if err := k.write(k.buf); err != nil {
		return err
	}
	k.contents.AddCommit(0, at, k.end)
	k.ordinal++
	k.from, k.region = k.end, blake3.New()
	return nil
}

// finish makes all that was added durable.
func (k *bulk) finish() error {
	if k.file != nil {
		if err := k.flush(true); err != nil {
			return err
		}
	}
	return k.settled()
}

// discard gives up what was not flushed.
func (k *bulk) discard() error {
	err := k.settled()
	if k.file == nil {
		return err
	}
	if k.flushed > 0 {
		err = errors.Join(err, k.file.Truncate(k.from), k.file.Close())
	} else {
		err = errors.Join(err, k.file.Close(), k.s.unlink(k.name))
	}
	k.file = nil
	return err
}

// unlink removes both names of a pack, and its index. The one in the mirror goes
// first: a pack that has only that one counts as lost, not as collected.
func (s *Store) unlink(n pack.Name) error {
	mirror, err := s.ownMirror()
	errs := []error{err}
	if mirror != "" {
		errs = append(errs, s.remove(filepath.Join(mirror, n.File())))
	}
	errs = append(errs, s.remove(filepath.Join(s.o.Dir, n.File())))
	errs = append(errs, s.remove(filepath.Join(s.o.Dir, n.IndexFile())))
	return errors.Join(errs...)
}
