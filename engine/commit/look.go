package commit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// lookMemory bounds the contents, in compressed bytes, that a transaction which only looks keeps in memory.
const lookMemory = 8 << 20

// looking is what a transaction that only looks knows of the contents that it does not keep: where they are in the
// working tree.
type looking struct {
	mu     sync.Mutex
	places map[oid.ID]treePlace
}

// treePlace is where an object's bytes are: in a file below the root, from an offset on.
type treePlace struct {
	path         string
	offset, size int64
}

// Look begins a transaction that writes nothing to the disk and cannot be committed: for commands that only show
// what the working tree holds. Directories, and few and small contents, are kept in memory; others are read
// again from the working tree when they are asked for, and checked.
func Look(p *project.Project) *Tx {
	t := begin(p, p.Store.NewMemoryBatch())
	t.looking = &looking{places: map[oid.ID]treePlace{}}
	return t
}

func (l *looking) place(id oid.ID) (treePlace, bool) {
	if l == nil {
		return treePlace{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.places[id]
	return at, ok
}

// leave notes where an object is, unless the store has it.
func (t *Tx) leave(id oid.ID, at treePlace) error {
	known, err := t.batch.Has(id)
	if known || err != nil {
		return err
	}
	t.looking.mu.Lock()
	defer t.looking.mu.Unlock()
	t.looking.places[id] = at
	return nil
}

// look is Content for a transaction that only looks.
func (t *Tx) look(w *txWorker, f io.Reader, size int64) (manifest.Kind, oid.ID, int64, error) {
	var at treePlace
	if named, ok := f.(interface{ Path() string }); ok {
		at.path = named.Path()
	}
	if size > ChunkedSize {
		id, list, err := w.files.CutFile(f, func(c cas.Chunk, _ []byte) error {
			at.size = int64(c.Size)
			err := t.leave(c.ID, at)
			at.offset += at.size
			return err
		})
		return manifest.Chunked, id, list.Size, err
	}
	data, err := readContent(f, size, &w.buf)
	if err != nil {
		return 0, oid.ID{}, 0, err
	}
	at.size = int64(len(data))
	id := oid.Sum(data)
	if t.batch.StoredBytes() < lookMemory {
		_, err = t.put(w.files, data, oid.ID{})
	} else {
		err = t.leave(id, at)
	}
	return manifest.File, id, at.size, err
}

// fromTree reads an object where it is in the working tree.
func (t *Tx) fromTree(dst []byte, id oid.ID, at treePlace) ([]byte, error) {
	changed := func(err error) error {
		return fmt.Errorf("%s changed while it was read: run the command again: %w", at.path, err)
	}
	f, err := os.OpenFile(filepath.Join(t.P.Root(), filepath.FromSlash(at.path)), os.O_RDONLY|vfs.NoFollow|vfs.NoWait, 0)
	if err != nil {
		return nil, changed(err)
	}
	defer f.Close()
	start := len(dst)
	dst = append(dst, make([]byte, at.size)...)
	if _, err := f.ReadAt(dst[start:], at.offset); err != nil {
		return nil, changed(err)
	}
	if oid.Sum(dst[start:]) != id {
		return nil, changed(errors.New("it holds something else now"))
	}
	return dst, nil
}
