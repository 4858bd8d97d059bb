package gitstate

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/rewind-cli/rewind/manifest"
)

// Mentions collects the ids of all objects that a state names, as hexadecimal digits: in references, reflogs, indexes, and
// in whatever else has 40 or 64 such digits in a row. What these objects reach is not looked for. Errors: of the store.
func (s *State) Mentions(into map[string]bool) error {
	err := manifest.Walk(s.objects.Load, s.files, func(path string, e manifest.Entry) error {
		if e.Kind == manifest.Subdir || strings.HasPrefix(path, "hooks/") {
			return nil
		}
		data, err := s.Read(e)
		if err == nil {
			ids := map[string]bool{}
			hexIDs(data, ids)
			first, _, _ := strings.Cut(pathInWorktree(path), "/")
			for id := range ids {
				into[id] = into[id] || first == "refs" || first == "logs" || first == "packed-refs"
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range s.indexes.Entries {
		data, err := s.Read(e)
		if err != nil {
			return err
		}
		ids := map[string]bool{}
		indexIDs(data, 20, ids) // an index does not say how long its ids are, and can look right with either length
		indexIDs(data, 32, ids)
		for id := range ids {
			if !into[id] {
				into[id] = false
			}
		}
	}
	return nil
}

// pathInWorktree is a path below a git directory without that of a linked worktree.
func pathInWorktree(path string) string {
	if parts := strings.SplitN(path, "/", 3); len(parts) == 3 && parts[0] == "worktrees" {
		return parts[2]
	}
	return path
}

// hexIDs finds runs of exactly 40 or 64 hexadecimal digits.
func hexIDs(data []byte, into map[string]bool) {
	begin := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && (data[i] >= '0' && data[i] <= '9' || data[i] >= 'a' && data[i] <= 'f') {
			continue
		}
		if n := i - begin; n == 40 || n == 64 {
			into[string(data[begin:i])] = true
		}
		begin = i + 1
	}
}

// indexIDs takes the ids of an index's entries, if it can be an index with ids of that size.
func indexIDs(data []byte, idSize int, into map[string]bool) {
	end := len(data) - idSize
	if end < indexHeader || string(data[:4]) != "DIRC" {
		return
	}
	var ids []string
	at, version := indexHeader, binary.BigEndian.Uint32(data[4:])
	for range binary.BigEndian.Uint32(data[8:]) {
		size := entrySize(data[at:end], version, idSize)
		if size == 0 {
			return
		}
		ids = append(ids, hex.EncodeToString(data[at+statSize:at+statSize+idSize]))
		at += size
	}
	for _, id := range ids {
		into[id] = true
	}
}
