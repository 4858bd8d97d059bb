package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// matched says which of a session's checkpoints were taken at which prompts of a transcript. The order of both is kept,
// and each prompt has one checkpoint at most. What decides is, in this order:
//
//  1. the prompt's id, where both have one;
//  2. the checkpoint's place in the transcript: the next prompt there is its own, where the text is the same. The line of
//     a prompt is written before or after its hook has run, so it can also be the one before, if nothing has answered that;
//  3. how many prompts get a checkpoint, and then the clock: the file can lag behind by more than a prompt, and the
//     checkpoint can be late. The lines can have the time of another clock, so that this comes last.
type matched struct {
	x       *transcript.Index
	prompts []int          // the prompts by the numbers of their lines, in the file's order; one that was sent again is the one before
	of      map[int]int    // by a prompt's line: its place in said
	at      []takenAt      // by the place in said; nil: none
	line    map[uint64]int // by a checkpoint's sequence number: the place in said
	asked   []*asking      // all prompts that checkpoints were taken at, the oldest first
}

// takenAt are the checkpoints that were taken at one prompt, the oldest first: that has the state before the turn.
type takenAt []manifest.Checkpoint

// clockSlack is how far the time of a prompt's line may lie from that of its checkpoint, where its place in the
// transcript does not decide.
const clockSlack = 2 * time.Minute

// matchPrompts matches the prompts of a transcript of session with the session's checkpoints before a sequence number, 0
// for all. own is false for the session that a fork, whose transcript it is, comes from: they share events, but neither
// offsets nor ids of prompts.
func matchPrompts(db *manifest.DB, x *transcript.Index, file, session string, own bool, before uint64) (*matched, error) {
	m := &matched{x: x, of: map[int]int{}, line: map[uint64]int{}}
	for i := range x.Lines {
		if l := &x.Lines[i]; l.Prompt && !l.Side {
			if k := len(m.prompts) - 1; k < 0 || !sentAgain(x, m.prompts[k], i) {
				m.prompts = append(m.prompts, i)
			}
			m.of[i] = len(m.prompts) - 1
		}
	}
	m.at = make([]takenAt, len(m.prompts))
	all, err := takenAtPrompts(db, string(x.Agent), session, before)
	if err != nil {
		return nil, err
	}
	var asked []*asking
	for _, taken := range all {
		a := m.asking(taken, file, own)
		m.asked = append(m.asked, a)
		if !m.byID(a) {
			asked = append(asked, a)
		}
	}
	m.inOrder(asked)
	return m, nil
}

// sentAgain reports whether a line repeats the prompt of an earlier one, as after an error of the provider.
func sentAgain(x *transcript.Index, first, again int) bool {
	a, b := &x.Lines[first], &x.Lines[again]
	return (a.PromptID == b.PromptID || a.PromptID == "" || b.PromptID == "") && !a.Time.IsZero() && !b.Time.IsZero() && b.Time.Sub(a.Time).Abs() < PromptRetry &&
		transcript.SameText(a.Text, b.Text) && !answered(x.Lines[first:again])
}

// answered reports whether lines have a message or a call of the agent.
func answered(lines []transcript.Line) bool {
	return slices.ContainsFunc(lines, func(l transcript.Line) bool { return l.Role == transcript.Assistant && !l.Side })
}

// takenAtPrompts are the checkpoints that were taken at a session's prompts, oldest first.
func takenAtPrompts(db *manifest.DB, agent, session string, before uint64) (all []takenAt, err error) {
	var list []manifest.Checkpoint
	for c, err := range db.Checkpoints(manifest.Query{Session: session, Before: before, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
		if err != nil {
			return nil, err
		}
		if c.Agent == agent && c.Subagent == "" && transcript.Typed(transcript.Agent(agent), c.Prompt) {
			list = append(list, c)
		}
	}
	ids := map[string]int{}
	for i, c := range slices.Backward(list) {
		k, same := ids[c.PromptID]
		if !same && len(all) > 0 {
			k = len(all) - 1
			if same, err = SamePrompt(db, &list[i+1], &c); err != nil {
				return nil, err
			}
		}
		if same {
			all[k] = append(all[k], c)
			continue
		}
		if c.PromptID != "" {
			ids[c.PromptID] = len(all)
		}
		all = append(all, takenAt{c})
	}
	return all, nil
}

// asking is what is known of a prompt by its checkpoints.
type asking struct {
	taken takenAt
	own   bool
	time  time.Time
	held  int // how many lines there were; -1: not known
	next  int // the first prompt, by its place in said, behind these; -1: not known
}

func (m *matched) asking(taken takenAt, file string, own bool) *asking {
	c := &taken[0]
	a := &asking{taken: taken, own: own, time: PromptTime(c), held: held(m.x, c, own && sameFile(c, file)), next: -1}
	if a.held >= 0 {
		a.next, _ = slices.BinarySearch(m.prompts, a.held)
	}
	return a
}

// sameFile reports whether a checkpoint's place is one in the file: a session can have several.
func sameFile(c *manifest.Checkpoint, file string) bool {
	t := c.Transcript
	return t != nil && transcript.PartOf(transcript.Agent(t.Agent), t.Path) == transcript.PartOf(transcript.Agent(t.Agent), file)
}

// held is how many lines of a transcript there were at a checkpoint, as far as its hook saw; -1 where that is not known:
// the file was rewritten, or is another one. inFile says that its offset is one in this file: where the agent went back
// to an earlier event, that alone tells what was written before.
func held(x *transcript.Index, c *manifest.Checkpoint, inFile bool) int {
	t := c.Transcript
	if t == nil {
		return -1
	}
	i, known := x.Number(t.EventID)
	if inFile {
		n, found := slices.BinarySearchFunc(x.Lines, int64(t.Offset), func(l transcript.Line, at int64) int { return cmp.Compare(l.Offset, at) })
		if (found || int64(t.Offset) == x.Size) && (t.EventID == "" || known && i < n) {
			return n
		}
	}
	switch {
	case known:
		return i + 1
	case t.EventID == "" && !slices.ContainsFunc(x.Lines, func(l transcript.Line) bool { return l.Prompt && !l.Side && l.Offset < int64(t.Offset) }):
		return 0
	}
	return -1
}

// byID matches what both have an id of. A client's own fork gives all prompts of its origin one id: then its place says
// which of them it is.
func (m *matched) byID(a *asking) bool {
	id := a.taken[0].PromptID
	if id == "" {
		return false
	}
	best, most := -1, worth{}
	for j, i := range m.prompts {
		if m.x.Lines[i].PromptID == id {
			if w, _ := m.worth(a, j); best < 0 || w.compare(&most) >= 0 {
				best, most = j, w
			}
		}
	}
	if best >= 0 {
		m.take(a, best)
	}
	return best >= 0
}

func (m *matched) take(a *asking, j int) {
	if m.at[j] == nil {
		m.at[j] = a.taken
	}
	for i := range a.taken {
		m.line[a.taken[i].Seq] = j
	}
}

// worth is what speaks for a match, or for several together.
type worth struct {
	place, count int
	far          time.Duration // by the clock
}

func (w *worth) compare(o *worth) int {
	return cmp.Or(cmp.Compare(w.place, o.place), cmp.Compare(w.count, o.count), cmp.Compare(o.far, w.far))
}

// worth is what speaks for a checkpoint's being that of the j-th prompt; ok is false where it cannot be.
func (m *matched) worth(a *asking, j int) (w worth, ok bool) {
	c, l := &a.taken[0], &m.x.Lines[m.prompts[j]]
	if a.own && c.PromptID != "" && l.PromptID != "" && c.PromptID != l.PromptID {
		return w, false
	}
	same := func(j int) bool {
		text := m.x.Lines[m.prompts[j]].Text
		return strings.TrimSpace(text) != "" && transcript.SameText(c.Prompt, text)
	}
	w.count = 1
	if a.next >= 0 && (j == a.next || j == a.next-1) {
		written := a.next > 0 && same(a.next-1) && !answered(m.x.Lines[m.prompts[a.next-1]:a.held])
		follows := a.next < len(m.prompts) && same(a.next)
		switch {
		case j == a.next && follows && !written, j < a.next && written && follows:
			w.place = 2
			return w, true
		case j == a.next && follows, j < a.next && written:
			w.place = 1
			return w, true
		}
	}
	if w.far = l.Time.Sub(a.time).Abs(); l.Time.IsZero() || w.far >= clockSlack || j < a.next && l.Time.Before(a.time.Add(-time.Second)) {
		return w, false
	}
	return w, same(j)
}

// chain is matches in order, the last one first.
type chain struct {
	worth
	a      *asking
	j      int
	before *chain
}

// inOrder matches the rest: of all ways that keep the order, the one that most speaks for.
func (m *matched) inOrder(asked []*asking) {
	best := make([]*chain, len(m.prompts)+1) // a Fenwick tree of the best chain up to a prompt
	better := func(k, than *chain) bool { return k != nil && (than == nil || k.compare(&than.worth) >= 0) }
	upTo := func(j int) (k *chain) {
		for ; j > 0; j &= j - 1 {
			if better(best[j], k) {
				k = best[j]
			}
		}
		return k
	}
	for _, a := range asked {
		var ends []*chain
		for j := range m.prompts {
			w, ok := m.worth(a, j)
			if !ok || m.at[j] != nil {
				continue
			}
			k := &chain{w, a, j, upTo(j)}
			if b := k.before; b != nil {
				k.place, k.count, k.far = k.place+b.place, k.count+b.count, k.far+b.far
			}
			ends = append(ends, k)
		}
		for _, k := range ends {
			for j := k.j + 1; j < len(best); j += j & -j {
				if better(k, best[j]) {
					best[j] = k
				}
			}
		}
	}
	for k := upTo(len(m.prompts)); k != nil; k = k.before {
		m.take(k.a, k.j)
	}
}

// checkpoint is that of the prompt in a line; nil for none.
func (m *matched) checkpoint(line int) *manifest.Checkpoint {
	if j, ok := m.of[line]; ok && m.at[j] != nil {
		return &m.at[j][0]
	}
	return nil
}

// same reports whether two lines are of one prompt.
func (m *matched) same(line, other int) bool {
	j, ok := m.of[line]
	k, too := m.of[other]
	return ok && too && j == k
}

// around are the checkpoints of the nearest prompts before and after that of a line which have one, by their sequence
// numbers; 0 for none.
func (m *matched) around(line int) (before, after uint64) {
	j := m.of[line]
	for i := j - 1; i >= 0 && before == 0; i-- {
		if m.at[i] != nil {
			before = m.at[i][0].Seq
		}
	}
	for i := j + 1; i < len(m.at) && after == 0; i++ {
		if m.at[i] != nil {
			after = m.at[i][0].Seq
		}
	}
	return before, after
}

// promptsIn is matchPrompts for a copy of the session's own conversation.
func (v *copies) promptsIn(x *transcript.Index) (m *matched, err error) {
	if m = v.matched[x]; m != nil {
		return m, nil
	}
	err = v.p.Query(v.ctx, func(db *manifest.DB) error {
		m, err = matchPrompts(db, x, v.file, v.id, true, 0)
		return err
	})
	if err == nil {
		if v.matched == nil {
			v.matched = map[*transcript.Index]*matched{}
		}
		v.matched[x] = m
	}
	return m, v.p.Classify(err)
}
