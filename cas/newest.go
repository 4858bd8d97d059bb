package cas

import "path/filepath"

// NewestLog is the file of the newest log pack, to which commits are appended; "" for none.
func (s *Store) NewestLog() (string, error) {
	names, err := s.names()
	if err != nil || len(names) == 0 || names[0].kind != logPack {
		return "", err
	}
	return filepath.Join(s.o.Dir, names[0].file()), nil
}
