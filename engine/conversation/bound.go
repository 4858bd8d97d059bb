package conversation

import (
	"slices"

	"github.com/rewind-cli/rewind/manifest"
)

// LineageIn is a session and those that it came from, the nearest first, as the log tells.
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
	family := []string{session}
	for id := parents[session]; id != "" && !slices.Contains(family, id); id = parents[id] {
		family = append(family, id)
	}
	return family, nil
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

// Bound is the living checkpoint that an entry is bound to in the nearest session of a lineage:
// entries keep their ids in a fork.
func Bound(db *manifest.DB, lineage []string, entry string) (manifest.Checkpoint, bool, error) {
	for _, session := range lineage {
		b, ok, err := db.Bound(session, entry)
		if err != nil {
			return manifest.Checkpoint{}, false, err
		}
		if !ok {
			continue
		}
		if c, ok, err := db.ByID(b.Checkpoint); err != nil || ok {
			return c, ok, err
		}
	}
	return manifest.Checkpoint{}, false, nil
}

// Point is an entry of a conversation and the checkpoint that has the files of it.
type Point struct {
	Entry      string
	Checkpoint manifest.Checkpoint
}

// PointsOf are the points of a lineage, the newest first. Of the sessions that it came from only those
// count whose entries the session has; nil: all.
func PointsOf(db *manifest.DB, lineage []string, has map[string]bool) (points []Point, err error) {
	seen := map[string]bool{}
	checkpoints := map[manifest.CheckpointID]*manifest.Checkpoint{}
	for i, session := range lineage {
		for b, err := range db.Bindings(session) {
			if err != nil {
				return nil, err
			}
			entry := b.Entries[0]
			if seen[entry] || i > 0 && has != nil && !has[entry] {
				continue
			}
			c, known := checkpoints[b.Checkpoint]
			if !known {
				found, ok, err := db.ByID(b.Checkpoint)
				if err != nil {
					return nil, err
				}
				if ok {
					c = &found
				}
				checkpoints[b.Checkpoint] = c
			}
			if c == nil {
				continue // forgotten, or not taken yet
			}
			seen[entry] = true
			points = append(points, Point{entry, *c})
		}
	}
	return points, nil
}
