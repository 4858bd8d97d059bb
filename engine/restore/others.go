package restore

import (
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// OtherWork is what a restore takes back of a session that it is not about.
type OtherWork struct {
	Agent, Session string
	Prompt         string      // label of its newest prompt since, "" if none is known
	Paths          int         // that the restore changes, and this session did since
	Files          []string    // those paths, in order
	Shared         bool        // of each of them, somebody else could have made it
	Turns          []OtherTurn // that they were changed in, oldest first
	// Alone is the revert of the work of this session only. Set only if Restored.Unclear is, and the turns of the session
	// are known.
	Alone *RevertInstead
}

// OtherTurn is what a restore takes back of one turn of another session. A path may be of several turns.
type OtherTurn struct {
	PromptID, Prompt string // Prompt is its label; both are "" where it is not known
	Files            []string
}

// RevertInstead takes the same turns back, and keeps what others did.
type RevertInstead struct {
	Session string
	Turns   int      // its last ones; 0: all that it did
	Some    bool     // of the paths of the restore alone
	Paths   []string // those, as the caller names them; the engine leaves them out
}

// instead is the revert of the turns that a restore goes behind; nil where they are not known, or do not lead there.
func (r *Run) instead(way *Way, prompts []string) *RevertInstead {
	o := &way.others
	if o.unclear || o.undone || o.unsure {
		return nil
	}
	i := &RevertInstead{Session: o.worked, Turns: o.turns, Some: r.Sel != nil}
	if len(prompts) > 0 && r.Sel == nil && i.Session == r.meant(way, o.about) {
		i.Turns = len(prompts)
	}
	if len(o.list)+len(o.outside) == 0 || i.Session == "" || i.Turns == 0 {
		return nil
	}
	return i
}

// meant is the session whose turns a restore goes behind: about, where neither the way nor the options say it. "" where that is
// not known.
func (r *Run) meant(way *Way, about string) string {
	switch {
	case way.before != nil:
		return way.before.Session.ID
	case r.Options.Session != nil:
		return r.Options.Session.ID
	}
	return about
}

// others is whose work goes beside that of the session that a restore is about.
type others struct {
	list    []OtherWork
	outside []string // paths of the person, in order
	own     []string // see Restored.Own
	unclear bool     // it is not known which session the restore is about
	undone  bool     // an operation took something away that the target has
	unsure  bool     // of the session that it is about, another could have made something
	about   string   // that session, of those at work since the target
	worked  string   // that one, or the fork that went on from it: whose work goes; "" where it is none, or not one
	turns   int      // that this one began since
}

// lookForOthers finds whose work since the target the changes undo, beside that of the session that the restore is about: other
// sessions', and the person's.
func (r *Run) lookForOthers(way *Way, changes []treeio.Change) (o others, err error) {
	if r.Op.Kind != manifest.OpRestore && r.Op.Kind != manifest.OpUndo || len(changes) == 0 || way.Target.Seq == 0 {
		return o, nil
	}
	s := &sessionsSince{r: r, target: way.Target, paths: map[string]bool{}, work: map[string]*otherWork{}}
	s.mine, s.lineage = r.aboutSession(way)
	for _, c := range changes {
		s.paths[c.Path] = true
	}
	if err := s.list(); err != nil {
		return o, err
	}
	if s.until, err = s.forkedAt(); err != nil {
		return o, err
	}
	outside, undone, err := s.attribute(way.hunks)
	if err != nil {
		return o, err
	}
	o.undone = undone
	if s.mine[""] { // a state without a session: the restore is about the one session whose work goes, if it is one
		working := slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return len(s.work[id].paths) == 0 })
		if len(working) == 1 {
			s.mine[working[0]] = true
		}
		o.unclear = len(working) > 1
	}
	var worked []string
	if o.list, worked, o.about, err = s.others(); err != nil {
		return o, err
	}
	// Who asks for nothing but what is their own knows it: no session changed any of it. Of an agent's state, its work is what is to
	// go. A tree without a file, as after a clone or in a directory made anew, has no work that could go.
	if len(s.order) > 0 && r.Scan.Scan.Files > 0 && ((way.before != nil || ofTurn(&way.Target)) && r.Sel == nil || len(outside) < len(s.paths) || s.anyWork()) {
		o.outside = outside
	}
	if o.unclear {
		return o, s.findAlone(o.list)
	}
	if len(o.list)+len(o.outside) == 0 || r.meant(way, o.about) == "" {
		return o, nil
	}
	if len(worked) == 0 {
		return o, nil // nothing of it goes: a revert would find nothing
	}
	own := s.work[worked[0]]
	if o.unsure = len(own.sure) < len(own.paths); o.undone || o.unsure || len(worked) > 1 { // a revert is of one session
		o.own = o.without(s.paths)
		return o, nil
	}
	o.worked = worked[0]
	o.turns, _, err = s.turnsOf(o.worked)
	return o, err
}

// without are those of the paths that go and that no other session changed.
func (o *others) without(paths map[string]bool) (own []string) {
	own = slices.Sorted(maps.Keys(paths))
	for _, w := range o.list {
		own = slices.DeleteFunc(own, func(path string) bool { return slices.Contains(w.Files, path) })
	}
	return slices.DeleteFunc(own, func(path string) bool { return slices.Contains(o.outside, path) })
}
