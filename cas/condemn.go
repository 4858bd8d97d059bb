package cas

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/pack"
)

// condemnedName is the file that lists packs which are about to be unlinked, a
// name a line. A pack in the list is none of the store's any more, so that all of
// them go at one moment: if a crash left one and took another, a dead delta could
// stay behind without its base, and a save find it known.
const condemnedName = "condemned"

// condemn unlinks packs, all or none. The caller holds the store for itself. purge: see noteDropped.
func (s *Store) condemn(packs []pack.Name, purge bool) error {
	if err := s.execute(true); err != nil { // what an earlier crash left
		return err
	}
	var list []string
	for _, n := range packs {
		list = append(list, n.File())
	}
	if err := s.replaceFile(condemnedName, []byte(strings.Join(list, "\n"))); err != nil {
		return err
	}
	return s.execute(purge)
}

// execute unlinks the packs that are condemned. The caller holds the store for itself. purge is true where it is not
// known who condemned them.
func (s *Store) execute(purge bool) error {
	packs, err := s.condemned()
	if err != nil || packs == nil {
		return err
	}
	if err := s.sure(); err != nil {
		return err
	}
	if err := s.noteDropped(packs, purge); err != nil { // or another account's mirror would bring them back
		return err
	}
	for _, n := range packs {
		if err := s.unlink(n); err != nil {
			return err
		}
	}
	// The list goes last, and not before the packs are gone for good, under both names.
	if err := s.syncDir(); err != nil {
		return err
	}
	if err := s.syncMirror(); err != nil {
		return err
	}
	if err := s.remove(filepath.Join(s.o.Dir, condemnedName)); err != nil {
		return err
	}
	return s.syncDir()
}

// condemned reads the list. One that cannot be read condemns no pack: it is
// replaced atomically, so that it is damaged and not half-written.
func (s *Store) condemned() ([]pack.Name, error) {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, condemnedName), os.O_RDONLY, 0)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > 1<<20 {
		return []pack.Name{}, nil
	}
	buf := make([]byte, info.Size())
	if ok, err := pack.ReadFull(f, buf, 0); !ok || err != nil {
		return []pack.Name{}, err
	}
	return parseCondemned(string(buf)), nil
}

func parseCondemned(text string) []pack.Name {
	packs := []pack.Name{}
	for line := range strings.Lines(text) {
		n, ok := pack.ParseName(strings.TrimSuffix(line, "\n"))
		if !ok || !strings.HasSuffix(line, "\n") {
			return []pack.Name{}
		}
		packs = append(packs, n)
	}
	return packs
}
