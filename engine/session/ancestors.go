package session

import (
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// LineageIn is a session and those that it came from, the nearest first, by the parents that hooks reported.
func LineageIn(db *manifest.DB, session string) ([]string, error) {
	parents := map[string]string{}
	for s, err := range db.Sessions() {
		if err != nil {
			return nil, err
		}
		if _, known := parents[s.ID]; !known {
			parents[s.ID] = s.Parent
		}
	}
	return append([]string{session}, transcript.Ancestors(parents, session)...), nil
}

// LineageOf is LineageIn for a session whose parent the caller knows: the log may not have a new fork yet.
func LineageOf(db *manifest.DB, session, parent string) ([]string, error) {
	family, err := LineageIn(db, session)
	if err != nil || len(family) > 1 || parent == "" {
		return family, err
	}
	before, err := LineageIn(db, parent)
	return append(family, before...), err
}
