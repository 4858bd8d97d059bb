package attribution

import (
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// early is how far a change time may lie before what made it: file systems take the time of the last tick.
	early = 10 * time.Millisecond
	// formatting is how long an edit's path belongs to it after its end.
	formatting = time.Second
	// brief bounds the run of a command that names a path, if no other writer is to be possible meanwhile.
	brief = time.Second
	// unbelievable is how far a change time may lie behind the start of the scan that saw it.
	unbelievable = time.Minute
	// coarse is how far apart the times of file systems are that do not count fractions.
	coarse = 2 * time.Second
)

// interval lies between two looks at a path, and has a step in it.
type interval struct {
	path     string
	lo, hi   time.Time // when those looks began
	from, to uint64    // sequence numbers of the commits around it: windows of a commit lie before it
	at       time.Time // of the last change; zero where that is not known
	deleted  bool      // then at is that of the directory: no earlier than the deletion
	made     bool      // it is a directory that was not there: at is when something in it came or went last
	// begins is the call, or the turn, that the second look is in front of: what is in the interval is not its.
	begins *Work
	found  *point // the second look, where it was one at the whole tree
}

// candidate is work that could have made a step.
type candidate struct {
	*window
	holds bool // the change time lies in it
	names bool // it declares the path
	sure  bool // and no other writer had the time
}

// needed reports whether the interval is that of a directory which an edit had to make for its file: it was there when the
// edit ended, whatever came into it later.
func (s *interval) needed(w *window) bool {
	return s.made && w.edits() && slices.ContainsFunc(w.files, func(f string) bool { return strings.HasPrefix(f, s.path+"/") })
}

// sureOf reports whether a call that names a path left no other writer the time to write it, too. What is written behind an edit
// is a formatter's, or somebody's who was as quick; a command may run long, or the path be written before it, unseen.
func (s *interval) sureOf(c *candidate) bool {
	switch {
	case !c.names:
		return false
	case c.edits():
		return !c.holds || c.loose || c.End.IsZero() || c.End.After(s.lo) && !s.at.After(c.End.Add(early))
	}
	return !c.End.IsZero() && c.End.Sub(c.Start) <= brief && !s.lo.Before(c.Start.Add(-early))
}

// owner is the rule.
func (a *Attribution) owner(s interval) Owner {
	last := lastTick(s.at)
	known := !s.at.IsZero() && !last.Before(s.lo.Add(-early)) && !s.at.After(s.hi.Add(unbelievable))
	var all []candidate
	finer := map[source]bool{}
	nested := a.nestedStore(&s)
	for _, w := range a.overlapping(s) {
		needed := s.needed(w)
		c := candidate{window: w, names: needed || w.names(s.path)}
		if w.edits() && !c.names {
			continue
		}
		if nested != nil && !c.names && !w.speaksOf(nested.Path) {
			continue
		}
		c.holds = needed || known && w.holds(s.at, last)
		c.sure = needed || s.sureOf(&c)
		switch {
		case known && !c.holds && w.Start.After(last):
			continue // it began later
		case (!c.holds || needed) && w.edits() && !w.loose && !w.End.IsZero() && !w.End.After(s.lo):
			continue // what it wrote was seen already
		}
		all = append(all, c)
		finer[w.of] = true
	}
	bound := known && a.boundOnly(&s, last)
	turns := a.turnsOver(s)
	if nested != nil {
		turns = nil
	}
	for _, w := range turns {
		holds := known && w.holds(s.at, last)
		if finer[w.of] || known && !holds && !(bound && !w.doubtful && w.Start.Before(last)) {
			continue
		}
		all = append(all, candidate{window: w, holds: holds})
	}
	all = append(all, a.mayHaveMoved(&s, all)...)
	if first := s.firstNeed(all); first != nil { // who came later found the directory there
		known = true
		all = slices.DeleteFunc(all, func(c candidate) bool { return c.Start.After(first.End) })
	}
	held := slices.ContainsFunc(all, func(c candidate) bool { return c.holds })
	bound = bound || known && !held && slices.ContainsFunc(all, func(c candidate) bool { return c.names }) && a.filledSince(&s)
	if bound = bound && !held; bound {
		known = false
	}
	return decide(all, known, bound)
}

// filledSince reports whether a deletion's time may be that of something which came into the directory later, and is there: the
// deletion was earlier, at any time.
func (a *Attribution) filledSince(s *interval) bool {
	if !s.deleted || s.found == nil {
		return false
	}
	load := a.loaderOf(s.found)
	for id, dir := s.found.root, ""; !id.IsZero(); {
		there, err := load(id)
		if err != nil {
			return false // what is damaged tells nothing
		}
		name, _, deeper := strings.Cut(strings.TrimPrefix(s.path[len(dir):], "/"), "/")
		if e, ok := there.Lookup(name); ok && deeper && e.Kind == manifest.Subdir {
			id, dir = e.ID, path.Join(dir, name)
			continue
		}
		return slices.ContainsFunc(there.Entries, func(e manifest.Entry) bool {
			at := s.found.at[path.Join(dir, e.Name)]
			return !at.IsZero() && !at.Before(s.at.Add(-early))
		})
	}
	return false
}

// nestedStore is the project of its own that a path is in; nil for none. Its sessions have their windows there: here, the time alone
// gives what changed no owner since that project has a store.
func (a *Attribution) nestedStore(s *interval) *project.NestedStore {
	n := project.NestedOf(a.nested, s.path)
	if n == nil || s.path == n.Path || s.hi.Before(n.Since) {
		return nil
	}
	return n
}

// boundOnly reports whether a deletion's time is that of an edit of another file, which changed the directory again: it was
// earlier, at any time.
func (a *Attribution) boundOnly(s *interval, last time.Time) bool {
	if !s.deleted {
		return false
	}
	dir, _ := rootfs.Split(s.path)
	below := func(path, dir string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") }
	return slices.ContainsFunc(a.overlapping(*s), func(w *window) bool {
		return w.edits() && !w.doubtful && !w.loose && !w.End.IsZero() && !last.Before(w.Start.Add(-early)) && !s.at.After(w.End.Add(early)) &&
			slices.ContainsFunc(w.files, func(f string) bool {
				beside, _ := rootfs.Split(f)
				return below(s.path, beside) || below(f, dir) // or it made directories for its file
			})
	})
}

// firstNeed is the edit that ended first of those that needed the directory; nil where none is known to have written.
func (s *interval) firstNeed(all []candidate) (first *window) {
	for _, c := range all {
		if s.needed(c.window) && !c.doubtful && !c.loose && !c.End.IsZero() && (first == nil || c.End.Before(first.End)) {
			first = c.window
		}
	}
	return first
}

// decide is the owner among those that could have made a step. bound is of a deletion of which only the latest time is known.
func decide(all []candidate, known, bound bool) Owner {
	if len(all) == 0 {
		return Owner{Class: Outside}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.holds != b.holds:
			return yesFirst(a.holds)
		case a.names != b.names:
			return yesFirst(a.names)
		}
		return b.Start.Compare(a.Start)
	})
	o, sure := Owner{Class: Shared, AlsoOutside: !known}, true
	for i, c := range all {
		sure = sure && (c.sure || c.names && c.edits() && i > 0)
		o.Also = append(o.Also, &c.Work)
	}
	o.AlsoOutside = o.AlsoOutside || !sure
	lead := all[0]
	if known && !lead.holds {
		// The last write is of unknown origin; theirs may be below it.
		o.AlsoOutside = true
		return o
	}
	o.By, o.Also = o.Also[0], o.Also[1:]
	if len(o.Also) == 0 {
		o.Also = nil
	}
	for _, c := range all[1:] {
		if !c.sameTurn(lead.window) {
			return o
		}
	}
	switch {
	case lead.doubtful:
		// An edit that was refused may have been made by hand; in a turn of talk alone, only others write.
		o.AlsoOutside = true
		return o
	case bound && !lead.names:
		return o // it may have gone between the calls, too
	case sure, lead.names && !known:
		o.Class, o.AlsoOutside = Declared, !known
	default:
		o.Class = Shell
	}
	return o
}

func yesFirst(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

// overlapping are the windows that reach into an interval, but for the calls around it.
func (a *Attribution) overlapping(s interval) (found []*window) {
	visit := func(w *window) {
		switch {
		case w.opened > s.to || w.closed != 0 && w.closed <= s.from:
			return // as the log has it
		case !w.loose && (w.Start.After(s.hi.Add(early)) && s.at.IsZero() || w.ends().Before(s.lo)):
			return
		case s.begins != nil && w.begunBy(s.begins, s.to):
			return
		}
		found = append(found, w)
	}
	for _, w := range a.lasting {
		visit(w)
	}
	n := sort.Search(len(a.windows), func(i int) bool { return a.windows[i].opened > s.to })
	for i := n - 1; i >= 0 && a.reach[i] > s.from; i-- {
		visit(a.windows[i])
	}
	return found
}

// turnsOver are the turns in an interval of sessions of which no calls are known in them.
func (a *Attribution) turnsOver(s interval) (found []*window) {
	n := sort.Search(len(a.turns), func(i int) bool { return a.turns[i].opened > s.to })
	for i := n - 1; i >= 0 && a.turnReach[i] > s.from; i-- {
		w := a.turns[i]
		if w.closed != 0 && w.closed <= s.from || !w.old && a.telling(w.of.main()) || s.begins != nil && w.begunBy(s.begins, s.to) {
			continue
		}
		found = append(found, w)
	}
	return found
}

// telling reports whether a session reported calls anywhere in the log, not only in the part that was read for the
// question. A log that cannot be read has none.
func (a *Attribution) telling(of source) bool {
	if a.tells[of] || a.whole || a.db == nil {
		return a.tells[of]
	}
	a.whole = true
	for c, err := range a.db.Checkpoints(manifest.Query{All: true}) {
		if err != nil || a.ctx.Err() != nil {
			break
		}
		for _, l := range linesWith(&c) {
			if (l.edge == opens || l.edge == closes) && l.kind != none {
				a.tells[l.source().main()] = true
			}
		}
	}
	return a.tells[of]
}

// alike reports whether two entries of one path are the same, as far as a step goes.
func alike(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind == manifest.Subdir && b.Kind == manifest.Subdir {
		return a.Mode == b.Mode
	}
	x, y := *a, *b
	x.Name, y.Name = "", ""
	return x.Alike(y)
}

// madeBy is the owner of what lies between two looks, which found old and new; from is nil where there was none.
func (a *Attribution) madeBy(path string, from, to *point, old, new *manifest.Entry) Owner {
	if to.op != nil {
		o := to.op
		verb := o.Verb
		if verb == "" {
			verb = string(o.Kind)
		}
		return Owner{Class: Operation, By: &Work{Session: o.Session, Tool: verb, Summary: o.Args, Start: o.Time, End: o.Time, Operation: o.Seq}}
	}
	if from == nil && to.touch == nil {
		return Owner{Class: Outside} // it was there when the first look was taken
	}
	s := interval{path: path, hi: to.time, to: to.seq, deleted: new == nil, made: new != nil && new.Kind == manifest.Subdir && (old == nil || old.Kind != manifest.Subdir)}
	if from != nil {
		s.lo, s.from = from.time, from.seq
	}
	if from != nil && from.touch != nil { // its commit takes no windows along
		s.from = a.commit(from.seq, -1)
	}
	if t := to.touch; t != nil {
		s.to, s.at = a.commit(to.seq, +1), to.changed(path, s.lo.Add(-early))
		by := &Work{Agent: t.Agent, Session: t.Session, Subagent: t.Subagent, PromptID: t.PromptID, Tool: t.Tool, Call: t.Call, Start: t.Time, End: t.Time}
		if !t.After {
			s.begins = by
			return a.owner(s)
		}
		return a.touched(s, from, t, by)
	}
	lo := s.lo.Add(-early)
	if old == nil && from.c != nil { // what a checkpoint did not find was written behind it, or moved: both times are the file system's
		lo = s.lo
	}
	s.at = to.changed(path, lo)
	s.begins, s.found = beginsAt(to), to
	if o, ok := a.linked(&s, new); ok {
		return o
	}
	return a.owner(s)
}

// beginsAt is the call, or the turn, that a checkpoint was taken in front of.
func beginsAt(pt *point) *Work {
	c := pt.c
	if c == nil || c.Kind != manifest.PreTool && c.Kind != manifest.Prompt {
		return nil
	}
	return &Work{Agent: c.Agent, Session: c.Session, Subagent: c.Subagent, Tool: c.Tool, Call: c.ToolUseID}
}

// touched is the owner of what a call was seen to leave.
func (a *Attribution) touched(s interval, from *point, t *manifest.Touch, by *Work) Owner {
	w := a.call(t)
	if w != nil {
		by = &w.Work
	} else {
		by.Prompt = a.texts[by.PromptID]
	}
	// What was there before it is known: it was looked at, for this call or for another since it began, or it was as in the
	// newest checkpoint, if that is still there. A path that was touched since is always looked at; where that look is missing it
	// could not be taken.
	looked := from != nil && from.touch != nil && (!from.touch.After && sameCall(from.touch, t) || w != nil && !w.loose && from.time.After(w.Start))
	_, removed := a.removedBefore(s.to)
	missed := removed || from != nil && from.touch != nil && !a.checkpointBetween(from.seq, t.Seq) || w != nil && w.missing(s.path)
	if looked || w != nil && !w.Start.Equal(w.End) && !missed {
		o := Owner{Class: Declared, By: by}
		// What was written behind the call's end, and in front of the look, is another's: who wrote the rest is not known. So
		// is what the call does not say; then a command may have written it, too.
		mixed := w != nil && slices.Contains(w.mixed, s.path)
		o.AlsoOutside = mixed || w != nil && !w.End.IsZero() && t.Changed.After(w.End)
		if t.Alone {
			return o // whoever else had the file open wrote none of it
		}
		s.at = time.Time{} // what began behind the look is not meant
		for _, other := range a.overlapping(s) {
			if w == nil || other == w || !(other.kind == edit && other.names(s.path) || other.kind == shell && mixed) || other.End.Before(w.Start) && !other.End.IsZero() || other.behind(t, w) {
				continue
			}
			if o.Also = append(o.Also, &other.Work); !other.sameTurn(w) {
				o.Class = Shared
			}
		}
		return o
	}
	o := a.owner(s)
	also := o.Also
	if o.By != nil {
		also = append([]*Work{o.By}, also...)
	}
	also = slices.DeleteFunc(also, func(w *Work) bool { return w.source() == by.source() && w.Call == by.Call })
	if o = (Owner{Class: Declared, By: by, AlsoOutside: true}); len(also) > 0 {
		o.Also, o.Class = also, Shared
	}
	return o
}

// behind reports whether a call began when a look after another one, or the last write before it, was over: it wrote
// nothing of what that found. The time of a write counts where it lies in the call that is looked at: then its clock is
// that of calls.
func (w *window) behind(t *manifest.Touch, of *window) bool {
	if w.loose || of.loose {
		return false
	}
	wrote := !t.Changed.IsZero() && !t.Changed.Before(of.Start) && w.Start.After(lastTick(t.Changed).Add(early))
	return wrote || w.Start.After(t.Time)
}

// call is the window of a touch's call; nil where it is not known. An agent that gives its calls no ids has named the file: the
// newest call of the tool that named it had begun by then.
func (a *Attribution) call(t *manifest.Touch) *window {
	of := source{t.Agent, t.Session, t.Subagent}
	var found *window
	if t.Call != "" {
		for _, w := range a.calls[callKey{of, t.Call}] {
			if found == nil || !w.Start.After(t.Time) {
				found = w
			}
		}
		return found
	}
	for _, w := range slices.Backward(a.unnamed[of]) {
		if w.Tool != t.Tool || w.loose || w.Start.After(t.Time) || !w.names(t.Path) {
			continue
		}
		if found != nil {
			if w.End.IsZero() || found.Start.Before(w.End) {
				return nil // two ran at once: it could be either's
			}
			break
		}
		found = w
	}
	return found
}
