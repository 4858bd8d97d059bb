package cas

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// generationName is the file of the generation: a decimal number and a newline.
const generationName = "generation"

// Generation counts the events after which cached ids may be gone: gc, repair,
// damage found. Two generations are only ever compared for equality.
func (s *Store) Generation() (uint64, error) {
	n, _, err := s.readGeneration()
	return n, err
}

// readGeneration returns the generation; good is false for a damaged file,
// which counts as a generation of its own.
func (s *Store) readGeneration() (n uint64, good bool, err error) {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, generationName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	buf := make([]byte, 32)
	got, err := f.ReadAt(buf, 0)
	if got == 0 && err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, false, err
	}
	text := string(buf[:got])
	if n, ok := parseGeneration(text); ok {
		return n, true, nil
	}
	return xxhash.Sum64String(text) | 1<<63, false, nil
}

func parseGeneration(text string) (uint64, bool) {
	if text == "" || text[len(text)-1] != '\n' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 63)
	return n, err == nil && strconv.FormatUint(n, 10)+"\n" == text
}

// bumpGeneration replaces the generation by one that was never there.
func (s *Store) bumpGeneration() error {
	n, good, err := s.readGeneration()
	if err != nil {
		return err
	}
	next := n + 1
	if !good {
		next = uint64(s.o.Now().UnixNano()) &^ (1 << 63) // far above any count
	}
	return s.replaceFile(generationName, strconv.AppendUint(nil, next, 10))
}

// replaceFile writes a small file of the objects directory, and a newline behind it, atomically.
func (s *Store) replaceFile(name string, data []byte) error {
	return s.replace(filepath.Join(s.o.Dir, name), vfs.Replacement{}, vfs.Bytes(append(data, '\n')))
}

// replace is vfs.Replace for a file of the store.
func (s *Store) replace(file string, r vfs.Replacement, write func(vfs.File) error) error {
	if r.Temp == "" {
		r.Temp = s.temporary(file)
	}
	r.Own, r.NoSync, r.KeepDir = s.o.Owner, r.NoSync || s.o.NoSync, r.KeepDir || s.o.NoSync
	return vfs.Replace(s.fs, file, r, write)
}

// distrust bumps the generation because something that the store should hold
// turned out to be damaged: cached ids may not be relied on any more.
func (s *Store) distrust() error {
	s.mu.Lock()
	done := s.distrusted
	s.distrusted = true
	s.mu.Unlock()
	if done || s.o.ReadOnly {
		return nil
	}
	return s.bumpGeneration()
}
