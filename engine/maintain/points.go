package maintain

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// points is what pi's users have set of retention, against what the log says of their sessions.
// It is about the checkpoints of pi's sessions alone: those of others in the same store are not counted.
type points struct {
	set        *settings.PiRetention // nil: nothing of theirs expires
	bindings   []manifest.Binding    // newest first
	operations []manifest.Operation  // newest first
	parents    map[string]string     // of sessions
	counted    map[string]bool       // sessions whose bindings and labels count as use; nil: all
	labeled    map[string][]string   // entries with a label, by session
}

const piAgent = string(transcript.Pi)

// Plan gives the checkpoints that retention lets go, oldest first: by the settings, or by o, and by what
// pi's users have set in pi's. Errors: those of reading pi's sessions, whose labels hold checkpoints.
func Plan(ctx context.Context, p *project.Project, state *LogState, o GCOptions, size int64) ([]manifest.Checkpoint, error) {
	pt, err := state.points(ctx, settings.LoadPi(p.Env.Home, p.Env.Variable), o.Session)
	if err != nil {
		return nil, err
	}
	r := retentionOf(p.Settings(), o)
	r.points = pt
	return r.plan(state.Checkpoints, state.inUse(), size), nil
}

// points gathers what the log, and where labels count the sessions' files, say. session is the one that
// asks, "" for none.
func (s *LogState) points(ctx context.Context, pi settings.Pi, session string) (*points, error) {
	pt := &points{set: pi.Retention, bindings: s.replayed.Bindings(), operations: s.Operations, parents: map[string]string{}}
	files := map[string]string{}
	for _, known := range s.replayed.Sessions() {
		if known.Agent == piAgent {
			pt.parents[known.ID], files[known.ID] = known.Parent, known.TranscriptPath
		}
	}
	if pt.set == nil {
		return pt, nil
	}
	if _, known := pt.parents[session]; known && pt.set.AncestorsOnly {
		pt.counted = map[string]bool{}
		for id := session; id != "" && !pt.counted[id]; id = pt.parents[id] {
			pt.counted[id] = true
		}
	}
	if !pt.set.PinLabeled {
		return pt, nil
	}
	pt.labeled = map[string][]string{}
	for id, file := range files {
		if file == "" || !pt.counts(id) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		labels, err := transcript.PiLabels(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err // what it holds is not known
		}
		pt.labeled[id] = labels
	}
	return pt, nil
}

func (pt *points) counts(session string) bool { return pt.counted == nil || pt.counted[session] }

// inUse are the checkpoints that no retention lets go: of each session the newest state and what its
// undo goes back to, and where nothing expires every state that a restore took away. Safety checkpoints
// are no snapshots, which expire by what is set: one that an entry is bound to stays.
func (pt *points) inUse(all []manifest.Checkpoint) map[manifest.CheckpointID]bool {
	used := map[manifest.CheckpointID]bool{}
	seen := map[string]bool{}
	bound := map[manifest.CheckpointID]bool{}
	for _, b := range pt.bindings {
		bound[b.Checkpoint] = true
		if !seen[b.Session] {
			seen[b.Session], used[b.Checkpoint] = true, true
		}
	}
	seen = map[string]bool{}
	for _, c := range all {
		if c.Kind == manifest.Safety && bound[c.ID] {
			used[c.ID] = true
		}
		if c.Agent == piAgent && c.Session != "" && !seen[c.Session] {
			seen[c.Session], used[c.ID] = true, true
		}
	}
	seen = map[string]bool{}
	for _, o := range pt.operations {
		if o.Session != "" && (!seen[o.Session] || pt.set == nil) {
			seen[o.Session], used[o.Safety] = true, true
		}
	}
	return used
}

// snapshot is one tree and what there is of it.
type snapshot struct {
	age         time.Duration // of its newest use
	held        bool
	checkpoints []int
}

// drops are the indexes of the checkpoints to forget; all is newest first, age that of a moment.
func (pt *points) drops(all []manifest.Checkpoint, held func(manifest.Checkpoint) bool, age func(time.Time) time.Duration) (drop []int) {
	if pt.set == nil || pt.set.MaxSnapshots == nil && pt.set.MaxAge == nil {
		return nil
	}
	trees := map[oid.ID]*snapshot{}
	of := map[manifest.CheckpointID]*snapshot{}
	for i, c := range all {
		if c.Agent != piAgent || c.Kind == manifest.Safety {
			continue
		}
		s := trees[c.Root]
		if s == nil {
			s = &snapshot{age: age(c.Time)}
			trees[c.Root] = s
		}
		of[c.ID] = s
		s.checkpoints = append(s.checkpoints, i)
		s.held = s.held || held(c)
	}
	pt.use(of, age)
	var free []*snapshot
	for _, s := range trees {
		if !s.held {
			free = append(free, s)
		}
	}
	slices.SortFunc(free, func(a, b *snapshot) int {
		return cmp.Or(cmp.Compare(a.age, b.age), cmp.Compare(a.checkpoints[0], b.checkpoints[0]))
	})
	if len(free) == len(trees) && pt.kept(free) == 0 {
		return nil // everything would go: more likely a slip than a wish
	}
	for _, s := range free[pt.kept(free):] {
		drop = append(drop, s.checkpoints...)
	}
	return drop
}

// kept is how many snapshots stay of those that nothing holds, the newest first.
func (pt *points) kept(free []*snapshot) int {
	n := len(free)
	if pt.set.MaxSnapshots != nil {
		n = min(n, *pt.set.MaxSnapshots)
	}
	if limit := pt.set.MaxAge; limit != nil {
		if i := slices.IndexFunc(free[:n], func(s *snapshot) bool { return s.age > *limit }); i >= 0 {
			n = i
		}
	}
	return n
}

// use marks what bindings and labels say of snapshots.
func (pt *points) use(of map[manifest.CheckpointID]*snapshot, age func(time.Time) time.Duration) {
	bound := map[[2]string]*snapshot{}
	for _, b := range pt.bindings {
		s := of[b.Checkpoint]
		if s == nil {
			continue
		}
		bound[[2]string{b.Session, b.Entries[0]}] = s
		if pt.counts(b.Session) {
			s.age = min(s.age, age(b.Time))
		}
	}
	for session, entries := range pt.labeled {
		for _, entry := range entries {
			seen := map[string]bool{}
			for id := session; id != "" && !seen[id]; id = pt.parents[id] {
				seen[id] = true
				if s := bound[[2]string{id, entry}]; s != nil {
					s.held = true
					break
				}
			}
		}
	}
}
