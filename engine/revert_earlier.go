package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/linediff"
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

// line is the work as the log keeps it.
func (c *workChosen) line(shared, whole bool) []byte {
	l := workLine{Action: workAction, Agent: c.agent, Session: c.session, Subagent: c.subagent, Call: c.call, All: c.all, Shared: shared, Whole: whole}
	if !c.all {
		for _, t := range c.turns {
			line := turnLine{PromptID: t.promptID, From: t.from.UnixNano()}
			if !t.until.IsZero() {
				line.Until = t.until.UnixNano()
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

// notWhole are the choices of a revert that could not do all of what it was to.
func notWhole(choices string) string {
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

// doneRevert is what an earlier revert says of itself.
type doneRevert struct {
	work    workChosen
	shared  bool
	whole   bool                        // and it stands
	chosen  map[string][]ConflictChoice // by path
	unknown bool
	time    time.Time // when it was done
}

func (d *doneRevert) has(s *attribution.Step) bool {
	all, some := s.Of(d.work.has)
	return all || some && d.shared
}

// parseDone reads an operation's choices.
func parseDone(op manifest.Operation) *doneRevert {
	d := &doneRevert{chosen: map[string][]ConflictChoice{}, unknown: true, time: op.Time}
	for line := range strings.Lines(op.Choices) {
		var p project.PathLine
		if json.Unmarshal([]byte(line), &p) != nil {
			continue
		}
		if p.Action != workAction {
			path := pathOfLine(p)
			d.chosen[path] = append(d.chosen[path], ConflictChoice(p.Action))
			continue
		}
		var w workLine
		if json.Unmarshal([]byte(line), &w) != nil {
			continue
		}
		d.unknown, d.shared, d.whole = false, w.Shared, w.Whole
		d.work = workChosen{agent: w.Agent, session: w.Session, subagent: w.Subagent, call: w.Call, all: w.All}
		for _, t := range w.Turns {
			one := turn{promptID: t.PromptID, from: time.Unix(0, t.From)}
			if t.Until != 0 {
				one.until = time.Unix(0, t.Until)
			} else {
				one.until = op.Time
			}
			d.work.turns = append(d.work.turns, one)
		}
	}
	return d
}

// reverts are those that say whose work they took back, by their operations' sequence numbers.
type reverts map[uint64]*doneRevert

// of is the revert that a step is of; nil where it is none, or does not say whose work it was.
func (r reverts) of(s *attribution.Step) *doneRevert {
	if s == nil || s.Class != attribution.Operation || s.By == nil {
		return nil
	}
	return r[s.By.Operation]
}

// readReverts reads them; again has those that did one again, too.
func readReverts(ctx context.Context, p *project.Project) (done, again reverts, err error) {
	done, again = reverts{}, reverts{}
	ops, err := Operations(ctx, p, 0)
	standing, _ := stacks(ops)
	for _, op := range ops {
		of := op
		switch op.Kind {
		case manifest.OpRevert:
		case manifest.OpRedoRestore:
			if of = originOf(ops, op); of.Kind != manifest.OpRevert {
				continue
			}
		default:
			continue
		}
		d := parseDone(of)
		if d.unknown {
			continue
		}
		d.whole = d.whole && indexOf(standing, op.Seq) >= 0
		if again[op.Seq] = d; op.Kind == manifest.OpRevert {
			done[op.Seq] = d
		}
	}
	return done, again, err
}

// takenBack reports whether a revert of the same work has taken all of it out of a path, and neither the work nor
// an operation has changed that since: then nothing of it is left there, whatever others made of what the revert left.
func (v *reverting) takenBack(f *fileRevert) bool {
	var since uint64 // of the work's newest step, or the newest operation's
	for i, s := range slices.Backward(f.steps) {
		if f.own[i+1] {
			since = s.To.Seq
			break
		}
		if s.Class == attribution.Operation {
			if d := v.done.of(&s); d != nil && d.took(v) {
				return true
			}
			since = s.To.Seq
			break
		}
	}
	for seq, d := range v.again {
		if seq >= since && d.whole && d.took(v) {
			return true
		}
	}
	return false
}

// took reports whether it took back the same work, and left no place of it.
func (d *doneRevert) took(v *reverting) bool {
	return len(d.chosen) == 0 && d.shared == v.o.IncludeShared && d.work.same(v.work)
}

// takenBy says how the j-th version was made, where a revert made it that says whose work it took back; else nil.
func (r reverts) takenBy(links []link, j int) *weave.Taken {
	d := r.of(links[j].step)
	if d == nil {
		return nil
	}
	then := slices.Clone(links[:j])
	for i := range then {
		then[i].own = then[i].step != nil && d.has(then[i].step)
	}
	r.settle(then)
	chosen, n := d.choicesFor(links, j), -1
	return &weave.Taken{
		Own: func(step int) bool { return step >= 0 && step < j && then[step].own },
		Options: weave.Options{Again: writtenAgain(links), Labels: revertLabels, Choose: func(weave.Block) weave.Choice {
			if n++; n < len(chosen) {
				return chosen[n].ofBlock()
			}
			return weave.Keep
		}},
	}
}

// revertLabels stand in markers.
var revertLabels = linediff.Labels{Ours: "now", Base: "what is taken back", Theirs: "before it"}

func (c ConflictChoice) ofBlock() weave.Choice {
	switch c {
	case UndoBlock:
		return weave.Undo
	case MarkConflict:
		return weave.Markers
	}
	return weave.Keep
}

// writtenAgain reports of steps whether the lines that one took away, and another brought back, are the other's: it wrote
// them itself, whoever had before. What comes back with an operation is whose it was.
func writtenAgain(links []link) func(gone, back int) bool {
	return func(_, back int) bool { return links[back].step.Class != attribution.Operation }
}

// settle takes earlier reverts into account. One of the same work, or a part of it, is taken for the work's own: without
// both there is what was before them. Where it took back all that there was, and more, nothing of
// that is left to be taken back.
func (r reverts) settle(links []link) {
	for j, l := range links {
		d := r.of(l.step)
		if d == nil || l.own {
			continue
		}
		theirs, within, covers := false, true, true
		for _, o := range links[:j] {
			if o.step == nil {
				continue
			}
			has := d.has(o.step)
			theirs = theirs || has
			within = within && (!has || o.own)
			covers = covers && (!o.own || has || r.of(o.step) != nil) // an earlier revert is the work's own by its works
		}
		kept, settled := false, false
		for _, c := range d.choicesFor(links, j) {
			kept = kept || c == KeepBlock || c == KeepFile
			settled = settled || c == UndoBlock || c == MarkConflict
		}
		switch {
		case !theirs:
		case l.path == "" && cameBack(links, j):
			// It brought the file back from another name, with what others wrote there.
			for i := range links[:j] {
				if s := links[i].step; s == nil || !d.has(s) {
					continue
				}
				if links[i].own = false; links[i].entry == nil {
					links[i].entry = links[i-1].entry
				}
			}
		case within && !settled:
			links[j].own = true
		case covers && !kept:
			for i := range links[:j] {
				links[i].own = false
			}
		}
	}
}

// reasonMarked is why lines stay that a revert put between markers: what becomes of those is the person's to say.
const reasonMarked = "an earlier revert left it between markers"

// leftMarked tells of lines of the work that are there although nothing of it is left to be taken back. own says of the
// links which were the work's before earlier reverts were taken into account.
func (v *reverting) leftMarked(f *fileRevert, links []link, own []bool) error {
	marked := false
	for j, l := range links {
		d := v.done.of(l.step)
		marked = marked || d != nil && slices.Contains(d.choicesFor(links, j), MarkConflict)
	}
	if !marked || !hasContent(links[len(links)-1].entry) {
		return nil
	}
	w, err := v.weave(links)
	if err != nil || w == nil {
		return err
	}
	for i, step := range w.Birth(writtenAgain(links)) {
		if step < 0 || step >= len(own) || !own[step] {
			continue
		}
		if n := len(f.kept); n > 0 && f.kept[n-1].To == i {
			f.kept[n-1].To++
			continue
		}
		f.kept = append(f.kept, KeptPart{Path: f.path, From: i + 1, To: i + 1, Reason: reasonMarked})
	}
	f.touched = len(f.kept) > 0
	return nil
}

// ownOf says which links are the work's.
func ownOf(links []link) []bool {
	own := make([]bool, len(links))
	for i, l := range links {
		own[i] = l.own
	}
	return own
}

// choicesFor are those that the revert, which made the j-th version, made for what the links are of: under the name that it
// had then, or got. Another file may have had one of its names.
func (d *doneRevert) choicesFor(links []link, j int) (list []ConflictChoice) {
	names := []string{links[j].path, links[j].step.Path}
	for _, l := range slices.Backward(links[:j]) {
		if l.path != "" {
			names = append(names, l.path)
			break
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		list = append(list, d.chosen[name]...)
	}
	return list
}

// cameBack reports whether a revert made a path again that was gone, with more than it had held.
func cameBack(links []link, j int) bool {
	if links[j].entry == nil || links[j-1].entry != nil {
		return false
	}
	for _, l := range slices.Backward(links[:j]) {
		if l.entry != nil && sameEntries(l.entry, links[j].entry) {
			return false
		}
	}
	return true
}
