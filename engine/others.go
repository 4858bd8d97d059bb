package engine

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// OtherWork is what a restore takes back of a session that it is not about.
type OtherWork struct {
	Agent, Session string
	Prompt         string // label of its newest prompt since, "" if none is known
	Paths          int    // that the restore changes, and this session did since
}

// RevertInstead takes the same turns back, and keeps what others did.
type RevertInstead struct {
	Session string
	Turns   int // its last ones
}

// instead is the revert of the turns that a restore goes behind.
func (r *restoring) instead(out *Restored) *RevertInstead {
	if len(out.Others) == 0 || len(out.Prompts) == 0 || r.sel != nil {
		return nil
	}
	for id := range r.aboutSession() {
		if id != "" && r.o.Session == nil && r.before == nil {
			return &RevertInstead{id, len(out.Prompts)}
		}
	}
	switch {
	case r.before != nil:
		return &RevertInstead{r.before.Session.ID, len(out.Prompts)}
	case r.o.Session != nil:
		return &RevertInstead{r.o.Session.ID, len(out.Prompts)}
	}
	return nil
}

// lookForOthers finds whose work since the target the changes undo, beside that
// of the session that the restore is about.
func (r *restoring) lookForOthers(changes []restore.Change) error {
	if r.op.Kind != manifest.OpRestore && r.op.Kind != manifest.OpUndo || len(changes) == 0 || r.target.Seq == 0 {
		return nil
	}
	mine := r.aboutSession()
	paths := map[string]bool{}
	for _, c := range changes {
		paths[c.Path] = true
	}
	work := map[string]*otherWork{}
	var order []string
	of := func(agent, session string) *otherWork {
		w := work[session]
		if w == nil {
			w = &otherWork{OtherWork: OtherWork{Agent: agent, Session: session}, paths: map[string]bool{}}
			work[session] = w
			order = append(order, session)
		}
		return w
	}
	err := r.Query(r.ctx, func(db *manifest.DB) error {
		since, err := checkpointsSince(db, r.target.Seq)
		if err != nil {
			return err
		}
		for i, c := range slices.Backward(since) {
			if c.Session == "" {
				continue
			}
			w := of(c.Agent, c.Session)
			if w.last = c.Seq; w.first == 0 {
				w.first = c.Seq
			}
			if c.Transcript != nil {
				w.file = c.Transcript.Path
			}
			if c.Prompt != "" && i < len(since)-1 {
				w.Prompt = transcript.Label(c.Prompt)
			}
		}
		return nil
	})
	if err == nil {
		err = r.attribute(paths, work, of)
	}
	if err != nil {
		return err
	}
	if mine[""] && len(order) > 0 { // nobody's checkpoint: the one that worked last is whom it is about
		mine[order[len(order)-1]] = true
	}
	for _, id := range order {
		if w := work[id]; !mine[id] && len(w.paths) > 0 && !w.follows(mine, work) {
			w.Paths = len(w.paths)
			r.others = append(r.others, w.OtherWork)
		}
	}
	return nil
}

// attribute gives each session the paths that it changed since the target.
func (r *restoring) attribute(paths map[string]bool, work map[string]*otherWork, of func(agent, session string) *otherWork) error {
	newest, err := r.NewestCheckpoint()
	if err != nil || newest == nil {
		return err
	}
	at, err := r.scan.Written(newest.Root)
	if err != nil {
		return r.Classify(err)
	}
	now := &attribution.Present{Time: r.Env.Time(), Root: r.now, Load: r.tx.Load, At: at, Windows: window.Pending(r.Project)}
	a, err := attribution.New(r.ctx, r.Project, attribution.Options{From: r.target.Seq, Now: now})
	if err != nil {
		return err
	}
	steps, err := a.Between(r.target.Seq, attribution.ThenNow)
	if project.IsDamage(r.Classify(err)) {
		return nil // verify tells of that
	} else if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(steps)) {
		if !paths[path] {
			continue
		}
		for i := range steps[path] {
			for _, w := range whose(&steps[path][i], work) {
				o := of(w.Agent, w.Session)
				if o.paths[path] = true; o.Prompt == "" {
					o.Prompt = transcript.Label(w.Prompt)
				}
			}
		}
	}
	return nil
}

// whose says which sessions' a step is to be taken for: where several could have made it, those whose
// conversations name the path, else the likeliest.
func whose(s *attribution.Step, work map[string]*otherWork) []*attribution.Work {
	if s.Class == attribution.Operation {
		return nil
	}
	var named, all []*attribution.Work
	for _, w := range s.Works() {
		if w.Session == "" {
			continue
		}
		all = append(all, w)
		if o := work[w.Session]; o != nil && o.names(s.Path) {
			named = append(named, w)
		}
	}
	switch {
	case s.Class != attribution.Shared:
		return all
	case len(named) > 0:
		return named
	case s.By != nil:
		return all[:1]
	}
	return all
}

// checkpointsSince are those of the log back to one, the newest first.
func checkpointsSince(db *manifest.DB, seq uint64) (since []manifest.Checkpoint, err error) {
	for c, err := range db.Checkpoints(manifest.Query{All: true}) {
		if err != nil {
			return nil, err
		}
		since = append(since, c)
		if c.Seq <= seq {
			break
		}
	}
	return since, nil
}

type otherWork struct {
	OtherWork
	file        string // its transcript
	said        []byte // the end of it
	read        bool
	paths       map[string]bool
	first, last uint64 // of its checkpoints since the target
}

// follows reports whether the session is a fork of one that the restore is about,
// which did nothing since: then one person went on in it.
func (w *otherWork) follows(mine map[string]bool, work map[string]*otherWork) bool {
	d, err := transcript.Describe(transcript.Agent(w.Agent), w.file)
	if err != nil || !mine[d.Parent] {
		return false
	}
	for id := range mine {
		if m := work[id]; m != nil && m.last > w.first {
			return false
		}
	}
	mine[w.Session] = true
	return true
}

// aboutSession is the session that a restore is about, and what it came from;
// "" is in it where that is not known.
func (r *restoring) aboutSession() map[string]bool {
	mine := map[string]bool{}
	switch s := r.o.Session; {
	case s != nil:
		for _, id := range s.Lineage() {
			mine[id] = true
		}
	case r.before != nil:
		for _, id := range r.before.Session.Lineage() {
			mine[id] = true
		}
	case r.target.Session != "":
		mine[r.target.Session] = true
	case r.Env.Variable("REWIND_SESSION_ID") != "":
		mine[r.Env.Variable("REWIND_SESSION_ID")] = true
	default:
		mine[""] = true
	}
	return mine
}

// maxNamedIn is how much of a transcript's end is searched for a path.
const maxNamedIn = 8 << 20

// names reports whether the end of the session's transcript has the path's last
// component.
func (w *otherWork) names(file string) bool {
	if !w.read {
		w.read = true
		w.said = tailOf(w.file)
	}
	return bytes.Contains(w.said, []byte(path.Base(file)))
}

// tailOf reads the end of a regular file; nothing where it cannot be read.
func tailOf(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	size := min(info.Size(), maxNamedIn)
	data, err := io.ReadAll(io.NewSectionReader(f, info.Size()-size, size))
	if err != nil {
		return nil
	}
	if _, rest, ok := bytes.Cut(data, []byte("\n")); ok && size < info.Size() {
		data = rest
	}
	return data
}
