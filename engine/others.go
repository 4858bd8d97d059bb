package engine

import (
	"bytes"
	"io"
	"os"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// OtherWork is what a restore takes back of a session that it is not about.
type OtherWork struct {
	Agent, Session string
	Prompt         string // label of its newest prompt since, "" if none is known
	Paths          int    // that the restore changes, and this session did since
}

// lookForOthers finds whose work since the target the changes undo, beside that
// of the session that the restore is about. A change lies between two
// checkpoints; it is of the session that worked then, and where several did, of
// those whose conversations name the path.
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
	err := r.Query(r.ctx, func(db *manifest.DB) error {
		since, sessions, err := checkpointsSince(db, r.target.Seq)
		if err != nil {
			return err
		}
		if len(sessions) < 2 && (mine[""] || len(sessions) == 0 || mine[since[0].Session]) {
			return nil
		}
		atWork := map[string]bool{}
		for i, c := range slices.Backward(since) {
			if i < len(since)-1 && c.Kind != manifest.Safety {
				err := eachChanged(db, c.Seq, paths, func(p string) {
					for _, id := range r.whose(p, c, atWork, work) {
						work[id].paths[p] = true
					}
				})
				if err != nil {
					return err
				}
			}
			if c.Session == "" {
				continue
			}
			w := work[c.Session]
			if w == nil {
				w = &otherWork{OtherWork: OtherWork{Agent: c.Agent, Session: c.Session}, paths: map[string]bool{}}
				work[c.Session] = w
				order = append(order, c.Session)
			}
			if w.last = c.Seq; w.first == 0 {
				w.first = c.Seq
			}
			if c.Transcript != nil {
				w.file = c.Transcript.Path
			}
			if c.Prompt != "" && i < len(since)-1 {
				w.Prompt = transcript.Label(c.Prompt)
			}
			switch c.Kind {
			case manifest.Stop, manifest.SessionEnd:
				if c.Subagent == "" {
					delete(atWork, c.Session)
				}
			default:
				atWork[c.Session] = true
			}
		}
		return nil
	})
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

// checkpointsSince are those of the log back to one, the newest first, and the
// sessions that they are of.
func checkpointsSince(db *manifest.DB, seq uint64) (since []manifest.Checkpoint, sessions map[string]bool, err error) {
	sessions = map[string]bool{}
	for c, err := range db.Checkpoints(manifest.Query{All: true}) {
		if err != nil {
			return nil, nil, err
		}
		since = append(since, c)
		if c.Session != "" {
			sessions[c.Session] = true
		}
		if c.Seq <= seq {
			break
		}
	}
	return since, sessions, nil
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

// eachChanged calls visit for the wanted paths that differ between a checkpoint
// and the one before.
func eachChanged(db *manifest.DB, seq uint64, paths map[string]bool, visit func(string)) error {
	for c, err := range db.Changes(seq) {
		if err != nil {
			return err
		}
		if paths[c.Path] {
			visit(c.Path)
		}
	}
	return nil
}

// whose says which sessions a change belongs to that c is the first to have.
func (r *restoring) whose(file string, c manifest.Checkpoint, atWork map[string]bool, work map[string]*otherWork) []string {
	var ids []string
	for id := range atWork {
		ids = append(ids, id)
	}
	if len(ids) < 2 {
		return ids // none: a person's own edit
	}
	slices.Sort(ids)
	var named []string
	for _, id := range ids {
		if work[id].names(file) {
			named = append(named, id)
		}
	}
	switch {
	case len(named) > 0:
		return named
	case atWork[c.Session]:
		return []string{c.Session}
	}
	return ids
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
