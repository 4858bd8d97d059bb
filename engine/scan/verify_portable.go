package scan

import (
	"os"
	"path/filepath"
)

// pathLooker is the looker for every system: one Lstat by path for each entry.
type pathLooker struct {
	h    *Cache
	root string
	dir  string
}

func (l *pathLooker) enter(ord int32) bool {
	l.dir = filepath.Join(l.root, filepath.FromSlash(l.h.path(ord)))
	return true
}

func (l *pathLooker) self(s *stat) bool { return look(l.dir, s) }

func (l *pathLooker) entry(name []byte, s *stat) bool {
	return look(l.dir+string(os.PathSeparator)+string(name), s)
}

func (l *pathLooker) close() {}

func look(path string, s *stat) bool {
	st, err := lstatPath(path)
	*s = st
	return err == nil
}

func lstatPath(path string) (stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}
