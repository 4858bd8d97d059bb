package work

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/manifest"
)

// What an earlier revert took back is gone already: the same one again has nothing to do, and one of more
// than that takes it for its own. So each revert says in its operation's choices whose work it was.

// workAction marks the line of the choices that says whose work it was; it has no path.
const workAction = "work"

type workLine struct {
	Action   string     `json:"action"`
	Agent    string     `json:"agent,omitempty"`
	Session  string     `json:"session,omitempty"`
	Subagent string     `json:"subagent,omitempty"`
	Call     string     `json:"call,omitempty"`
	All      bool       `json:"all,omitempty"` // the whole session
	Shared   bool       `json:"shared,omitempty"`
	Whole    bool       `json:"whole,omitempty"` // all paths were looked at, and nothing of it was left
	Turns    []turnLine `json:"turns,omitempty"`
}

type turnLine struct {
	PromptID string `json:"prompt_id,omitempty"`
	From     int64  `json:"from"`            // nanoseconds
	Until    int64  `json:"until,omitempty"` // 0: it was the newest
}

// Line is the work as the log keeps it.
func (c *Chosen) Line(shared, whole bool) []byte {
	l := workLine{Action: workAction, Agent: c.Agent, Session: c.Session, Subagent: c.Subagent, Call: c.Call, All: c.All, Shared: shared, Whole: whole}
	if !c.All {
		for _, t := range c.Turns {
			line := turnLine{PromptID: t.PromptID, From: t.From.UnixNano()}
			if !t.Until.IsZero() {
				line.Until = t.Until.UnixNano()
			}
			l.Turns = append(l.Turns, line)
		}
	}
	return l.encode()
}

func (l *workLine) encode() []byte {
	data, err := json.Marshal(l)
	if err != nil {
		return nil // strings and numbers always encode
	}
	return append(data, '\n')
}

// NotWhole are the choices of a revert that could not do all of what it was to.
func NotWhole(choices string) string {
	var all []byte
	for line := range strings.Lines(choices) {
		var w workLine
		if json.Unmarshal([]byte(line), &w) == nil && w.Action == workAction && w.Whole {
			w.Whole = false
			all = append(all, w.encode()...)
		} else {
			all = append(all, line...)
		}
	}
	return string(all)
}

// Done is what an earlier revert says of itself.
type Done struct {
	Work    Chosen
	Shared  bool
	Whole   bool                        // and it is in force
	Chosen  map[string][]ConflictChoice // by path
	unknown bool
	Time    time.Time // when it was done
}

func (d *Done) Has(s *attribution.Step) bool {
	all, some := s.Of(d.Work.Has)
	return all || some && d.Shared
}

// ParseDone reads an operation's choices.
func ParseDone(op manifest.Operation) *Done {
	d := &Done{Chosen: map[string][]ConflictChoice{}, unknown: true, Time: op.Time}
	for line := range strings.Lines(op.Choices) {
		var p project.PathLine
		if json.Unmarshal([]byte(line), &p) != nil {
			continue
		}
		if p.Action != workAction {
			path := oplog.PathOfLine(p)
			d.Chosen[path] = append(d.Chosen[path], ConflictChoice(p.Action))
			continue
		}
		var w workLine
		if json.Unmarshal([]byte(line), &w) != nil {
			continue
		}
		d.unknown, d.Shared, d.Whole = false, w.Shared, w.Whole
		d.Work = Chosen{Agent: w.Agent, Session: w.Session, Subagent: w.Subagent, Call: w.Call, All: w.All}
		for _, t := range w.Turns {
			one := Turn{PromptID: t.PromptID, From: time.Unix(0, t.From)}
			if t.Until != 0 {
				one.Until = time.Unix(0, t.Until)
			} else {
				one.Until = op.Time
			}
			d.Work.Turns = append(d.Work.Turns, one)
		}
	}
	return d
}

// Reverts are those that say whose work they took back, by their operations' sequence numbers.
type Reverts map[uint64]*Done

// Of is the revert that a step is of; nil where it is none, or does not say whose work it was.
func (r Reverts) Of(s *attribution.Step) *Done {
	if s == nil || s.Class != attribution.Operation || s.By == nil {
		return nil
	}
	return r[s.By.Operation]
}

// ReadReverts reads them; again has those that did one again, too.
func ReadReverts(ctx context.Context, p *project.Project) (done, again Reverts, err error) {
	done, again = Reverts{}, Reverts{}
	ops, err := oplog.Operations(ctx, p, 0)
	standing, _ := oplog.Stacks(ops)
	for _, op := range ops {
		of := op
		switch op.Kind {
		case manifest.OpRevert:
		case manifest.OpRedoRestore:
			if of = oplog.OriginOf(ops, op); of.Kind != manifest.OpRevert {
				continue
			}
		default:
			continue
		}
		d := ParseDone(of)
		if d.unknown {
			continue
		}
		d.Whole = d.Whole && oplog.IndexOf(standing, op.Seq) >= 0
		if again[op.Seq] = d; op.Kind == manifest.OpRevert {
			done[op.Seq] = d
		}
	}
	return done, again, err
}

// Took reports whether it took back the same work, and left no place of it.
func (d *Done) Took(work *Chosen, shared bool) bool {
	return len(d.Chosen) == 0 && d.Shared == shared && d.Work.same(work)
}

// TakenBy says how the j-th version was made, where a revert made it that says whose work it took back; else nil.
func (r Reverts) TakenBy(links []Link, j int) *weave.Taken {
	d := r.Of(links[j].Step)
	if d == nil {
		return nil
	}
	then := slices.Clone(links[:j])
	for i := range then {
		then[i].Own = then[i].Step != nil && d.Has(then[i].Step)
	}
	r.Settle(then)
	chosen, n := d.ChoicesFor(links, j), -1
	return &weave.Taken{
		Own: func(step int) bool { return step >= 0 && step < j && then[step].Own },
		Options: weave.Options{Again: WrittenAgain(links), Labels: Labels, Choose: func(weave.Block) weave.Choice {
			if n++; n < len(chosen) {
				return chosen[n].OfBlock()
			}
			return weave.Keep
		}},
	}
}

// Labels are those of markers.
var Labels = linediff.Labels{Ours: "now", Base: "what is taken back", Theirs: "before it"}

func (c ConflictChoice) OfBlock() weave.Choice {
	switch c {
	case UndoBlock:
		return weave.Undo
	case MarkConflict:
		return weave.Markers
	}
	return weave.Keep
}

// WrittenAgain reports of steps whether the lines that one took away, and another brought back, are the other's: it wrote
// them itself, whoever had before. What comes back with an operation is whose it was.
func WrittenAgain(links []Link) func(gone, back int) bool {
	return func(_, back int) bool { return links[back].Step.Class != attribution.Operation }
}

// Settle takes earlier reverts into account. One of the same work, or a part of it, is taken for the work's own: without
// both there is what was before them. Where it took back all that there was, and more, nothing of
// that is left to be taken back.
func (r Reverts) Settle(links []Link) {
	for j, l := range links {
		d := r.Of(l.Step)
		if d == nil || l.Own {
			continue
		}
		theirs, within, covers := false, true, true
		for _, o := range links[:j] {
			if o.Step == nil {
				continue
			}
			has := d.Has(o.Step)
			theirs = theirs || has
			within = within && (!has || o.Own)
			covers = covers && (!o.Own || has || r.Of(o.Step) != nil) // an earlier revert is the work's own by its works
		}
		kept, settled := false, false
		for _, c := range d.ChoicesFor(links, j) {
			kept = kept || c == KeepBlock || c == KeepFile
			settled = settled || c == UndoBlock || c == MarkConflict
		}
		switch {
		case !theirs:
		case l.Path == "" && cameBack(links, j):
			// It brought the file back from another name, with what others wrote there.
			for i := range links[:j] {
				if s := links[i].Step; s == nil || !d.Has(s) {
					continue
				}
				if links[i].Own = false; links[i].Entry == nil {
					links[i].Entry = links[i-1].Entry
				}
			}
		case within && !settled:
			links[j].Own = true
		case covers && !kept:
			for i := range links[:j] {
				links[i].Own = false
			}
		}
	}
}

// Going are the steps of the work that are to go, where Settle has been: what an earlier revert took, which counts as the work's
// own, is gone already, but for what was kept then. Where all of it was, all is meant.
func (r Reverts) Going(links []Link) (steps []*attribution.Step) {
	var all []*attribution.Step
	for i, l := range links {
		if !l.Own || l.Step == nil || l.Step.Class == attribution.Operation {
			continue
		}
		all = append(all, l.Step)
		gone := false
		for j := i + 1; j < len(links) && !gone; j++ {
			d := r.Of(links[j].Step)
			gone = d != nil && links[j].Own && d.Has(l.Step) && len(d.ChoicesFor(links, j)) == 0
		}
		if !gone {
			steps = append(steps, l.Step)
		}
	}
	if len(steps) == 0 {
		return all
	}
	return steps
}

// OwnOf says which links are the work's.
func OwnOf(links []Link) []bool {
	own := make([]bool, len(links))
	for i, l := range links {
		own[i] = l.Own
	}
	return own
}

// ChoicesFor are those that the revert, which made the j-th version, made for what the links are of: under the name that it
// had then, or got. Another file may have had one of its names.
func (d *Done) ChoicesFor(links []Link, j int) (list []ConflictChoice) {
	names := []string{links[j].Path, links[j].Step.Path}
	for _, l := range slices.Backward(links[:j]) {
		if l.Path != "" {
			names = append(names, l.Path)
			break
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		list = append(list, d.Chosen[name]...)
	}
	return list
}

// cameBack reports whether a revert made a path again that was gone, with more than it had held.
func cameBack(links []Link, j int) bool {
	if links[j].Entry == nil || links[j-1].Entry != nil {
		return false
	}
	for _, l := range slices.Backward(links[:j]) {
		if l.Entry != nil && manifest.SameEntries(l.Entry, links[j].Entry) {
			return false
		}
	}
	return true
}
