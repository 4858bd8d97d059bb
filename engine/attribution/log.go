package attribution

import (
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// point is a state of the whole tree: a checkpoint's, or what an operation left.
type point struct {
	seq  uint64
	time time.Time
	root oid.ID
	c    *manifest.Checkpoint
	op   *manifest.Operation // where c is nil
	back uint64              // of op: see Step.Back

	touch *manifest.Touch      // of one path alone: neither c nor op
	at    map[string]time.Time // of changed paths, once somebody asked
}

func (p *point) version(e *manifest.Entry) Version {
	v := Version{Seq: p.seq, Time: p.time, Entry: e}
	if p.c != nil {
		v.Checkpoint = p.c.ID
	}
	return v
}

const (
	// lookback is how many checkpoints, or how much time, before those asked for are read for windows.
	lookback     = 512
	lookbackTime = 24 * time.Hour
)

// load reads the log: the points asked for, and the windows that reach into them.
func (a *Attribution) load(db *manifest.DB) error {
	before := a.o.To
	if before != 0 {
		before++
	}
	older, most := 0, a.o.Lookback
	if most == 0 {
		most = lookback
	}
	a.whole = a.o.To == 0
	var since time.Time
	for c, err := range db.Checkpoints(manifest.Query{Before: before, All: true}) {
		if err != nil {
			return err
		}
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.points = append(a.points, &point{seq: c.Seq, time: c.Time, root: c.Root, c: &c})
		if c.Seq > a.o.From {
			since = c.Time
			continue
		}
		if older++; older > most || older > 1 && since.Sub(c.Time) > lookbackTime {
			a.whole = false
			break
		}
	}
	slices.Reverse(a.points)
	a.build()
	var first uint64
	if len(a.points) > 0 {
		first = a.points[0].seq
	}
	for o, err := range db.Operations() {
		switch {
		case err != nil:
			return err
		case o.Seq < first:
		case o.Kind.Moves() && (a.o.To == 0 || o.Seq <= a.o.To):
			if pt := (&point{seq: o.Seq, time: o.Time, root: o.After, op: &o}); o.After != (oid.ID{}) {
				a.points = append(a.points, pt)
			} else if !strings.Contains(o.Args, "--context-only") && !o.OfSome() {
				a.idle = append(a.idle, pt)
			}
			continue
		default:
			continue
		}
		break
	}
	slices.SortFunc(a.points, func(x, y *point) int {
		if x.seq < y.seq {
			return -1
		}
		return 1
	})
	for _, pt := range slices.Concat(a.points, a.idle) {
		if pt.op != nil {
			pt.back = a.stateOf(pt.op)
		}
	}
	return nil
}

type callKey struct {
	of   source
	call string
}

// build makes the windows of all points, checkpoints alone so far, oldest first.
func (a *Attribution) build() {
	b := newBuilder()
	for _, p := range a.points {
		if p.c.PromptID != "" && p.c.Prompt != "" {
			b.texts[p.c.PromptID] = p.c.Prompt
		}
	}
	var lines []line
	var before time.Time
	leaves := map[source]bool{} // sessions whose calls leave lines
	for _, p := range a.points {
		if p.c.Windows == "" && (p.c.Kind == manifest.PreTool || p.c.Kind == manifest.PostTool) && leaves[source{p.c.Agent, p.c.Session, ""}] {
			before = p.time
			continue // an earlier checkpoint, of the call's other hook or of another session, took its line along
		}
		first := len(lines)
		lines = append(lines, linesWith(p.c)...)
		for i := range lines[first:] {
			l := &lines[first+i]
			if l.before = before; l.edge == closes && !l.old {
				b.told[toolOf{l.Agent, l.Tool}] = true
				b.edits[l.Agent] = b.edits[l.Agent] || l.kind == edit
			}
			if (l.edge == opens || l.edge == closes) && !l.old {
				leaves[l.source().main()] = true
				b.agents[l.Agent] = b.agents[l.Agent] || l.kind != none
			}
		}
		before = p.time
	}
	if n := a.o.Now; n != nil {
		for _, l := range linesOf(n.Windows, ThenNow) {
			l.before = before
			lines = append(lines, l)
		}
	}
	for _, l := range lines {
		b.add(l)
	}
	a.calls, a.unnamed, a.texts = map[callKey][]*window{}, map[source][]*window{}, b.texts
	for _, w := range b.windows {
		if w.failed {
			continue
		}
		if w.Call != "" {
			key := callKey{w.of, w.Call}
			a.calls[key] = append(a.calls[key], w)
		} else {
			a.unnamed[w.of] = append(a.unnamed[w.of], w)
		}
		if w.background && w.closed == 0 {
			a.lasting = append(a.lasting, w)
		} else {
			a.windows = append(a.windows, w)
		}
	}
	a.turns, a.tells = b.turns, b.tells
	for _, w := range a.turns {
		w.doubtful = (b.agents[w.Agent] || hooked(w.Agent)) && !w.old
	}
	a.reach, a.turnReach = reachOf(a.windows), reachOf(a.turns)
}

// linesWith are the lines that a checkpoint brought.
func linesWith(c *manifest.Checkpoint) []line {
	if c.Windows == "" {
		if l, ok := lineOf(c); ok {
			return []line{l}
		}
		return nil
	}
	windows, err := manifest.ParseWindows(c.Windows)
	if err != nil {
		return nil // damaged, or of a newer program's form
	}
	lines := linesOf(windows, c.Seq)
	if c.Kind == manifest.Prompt { // windows do not say what was typed
		for i := range slices.Backward(lines) {
			if l := &lines[i]; l.edge == prompts && l.Agent == c.Agent && l.Session == c.Session {
				l.Prompt = c.Prompt
				if l.PromptID == "" {
					l.PromptID = c.PromptID
				}
				break
			}
		}
		return lines
	}
	if c.PromptID == "" || c.Session == "" {
		return lines
	}
	// The agent's hooks do not report prompts: the checkpoint knows from the transcript for which prompt it was taken. What came
	// before the end of an earlier turn is not that prompt's.
	for i := range slices.Backward(lines) {
		l := &lines[i]
		if l.Agent != c.Agent || l.Session != c.Session {
			continue
		}
		if l.PromptID != "" || l.edge == prompts || l.edge == starts || l.edge == ends || l.edge == stops && l.Start.Before(lastOf(lines, c)) {
			break
		}
		l.PromptID, l.Prompt = c.PromptID, c.Prompt
	}
	return lines
}

// lastOf is when the last line of a checkpoint's session was left.
func lastOf(lines []line, c *manifest.Checkpoint) (last time.Time) {
	for i := range lines {
		if l := &lines[i]; l.Agent == c.Agent && l.Session == c.Session && l.Start.After(last) {
			last = l.Start
		}
	}
	return last
}

// linesOf are windows' ends as lines that a commit brought.
func linesOf(windows []manifest.Window, seq uint64) []line {
	lines := make([]line, 0, len(windows))
	for _, w := range windows {
		l := line{Work: Work{Agent: w.Agent, Session: w.Session, Subagent: w.Subagent, PromptID: w.PromptID, Tool: w.Tool, Call: w.Call,
			Summary: w.Summary, Start: w.Time}, seq: seq, files: w.Files, background: w.Background}
		switch w.Class {
		case manifest.WindowNone:
		case manifest.WindowEdit:
			l.kind = edit
		default: // a newer program's, too
			l.kind = shell
		}
		switch w.Edge {
		case opens, closes, prompts, stops, subagentStops, starts, ends, misses:
			l.edge = w.Edge
		default:
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// changed is when the path was written last, as the look saw it; zero where that is not known. What is in a directory that
// was moved keeps its time, which is before lo, the time of the look before: then that of the directory counts.
func (p *point) changed(path string, lo time.Time) time.Time {
	if p.at == nil && p.c != nil && p.c.Changed != "" {
		p.at = map[string]time.Time{}
		list, _ := manifest.ParseChanged(p.c.Changed) // what is damaged is not known
		for _, c := range list {
			p.at[c.Path] = c.At
		}
	}
	at := p.at[path]
	for dir := path; !at.IsZero() && lastTick(at).Before(lo); {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			break
		}
		dir = dir[:i]
		if t, ok := p.at[dir]; ok && t.After(at) {
			at = t
		}
	}
	return at
}

// lastTick is until when a change time may mean: some file systems count seconds, or two.
func lastTick(at time.Time) time.Time {
	if at.Nanosecond() == 0 {
		return at.Add(coarse)
	}
	return at
}

// stateOf is up to where the log had come in the state that an operation brought back; 0: that is not known, or it was none.
func (a *Attribution) stateOf(o *manifest.Operation) uint64 {
	switch o.Kind {
	case manifest.OpUndoRestore, manifest.OpRedoRestore:
		return max(o.Undoes, 1) - 1
	case manifest.OpRestore, manifest.OpUndo:
		if o.Below > 0 {
			return o.Below - 1
		}
		if o.Of == "" {
			for _, pt := range slices.Backward(a.points[:a.index(o.Seq)]) {
				if pt.c != nil && pt.c.ID == o.Checkpoint {
					return pt.seq
				}
			}
		}
	}
	return 0
}
