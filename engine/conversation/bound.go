package conversation

import (
	"fmt"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

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

// ByEvent finds the checkpoint that an agent bound to an event of a session, or of one that it came
// from; else the oldest of a prompt or a tool call, since they name the state before, or the newest at
// a place in the conversation.
func ByEvent(db *manifest.DB, spec, id, event string) (project.Listed, error) {
	if id == "" || event == "" {
		return project.Listed{}, &project.NoCheckpointError{Spec: spec}
	}
	family, err := session.LineageIn(db, id)
	if err != nil {
		return project.Listed{}, err
	}
	if c, ok, err := Bound(db, family, event); err != nil || ok {
		return project.Listed{Checkpoint: c}, err
	}
	var before, at *manifest.Checkpoint
	reason := fmt.Sprintf("neither a checkpoint nor a session is named %q", id)
	for c, err := range db.Checkpoints(manifest.Query{Session: id}) {
		if err != nil {
			return project.Listed{}, err
		}
		reason = "no checkpoint is bound to that event"
		switch {
		case c.PromptID == event, c.ToolUseID == event:
			before = &c
		case at == nil && c.Transcript != nil && c.Transcript.EventID == event:
			at = &c
		}
	}
	switch {
	case before != nil:
		return project.Listed{Checkpoint: *before}, nil
	case at != nil:
		return project.Listed{Checkpoint: *at}, nil
	}
	return project.Listed{}, &project.NoCheckpointError{Spec: spec, Reason: reason}
}
