package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PromptPlace is the place before one of a session's last prompts.
type PromptPlace struct {
	Session    *session.Chosen
	Checkpoint *project.Listed // that of the prompt, else the newest since the turn before it; nil for none
	Exact      bool            // Checkpoint is that of the prompt
	Older      *project.Listed // where Checkpoint is nil: the session's newest before the prompt, of an earlier turn; nil for none
	Prompts    []string        // that lie behind the place, the newest first
	PromptID   string          // the agent's id of the prompt, as its transcript has it, else that of the prompt's line

	at     *cutPoint
	failed error // why there is no place
}

// There reports whether the conversation can go back to the place.
func (f *PromptPlace) There() bool { return f.at != nil }

// BeforePrompt finds the place before the n-th last prompt of a session, and its
// checkpoint. The caller holds the users lock. Errors: *NoConversationError,
// *FewPromptsError of package transcript.
func BeforePrompt(ctx context.Context, p *project.Project, s *session.Chosen, n int) (*PromptPlace, error) {
	if !transcript.Supported(transcript.Agent(s.Agent)) {
		return nil, &NoConversationError{Reason: "conversations of this agent are not supported"}
	}
	v, err := conversationOf(ctx, p, s.Agent, s.ID, s.Path, nil)
	if err != nil {
		return nil, err
	}
	source, err := v.best()
	if err != nil {
		return nil, noPlace("", err)
	}
	var unsaid []project.Listed
	if !source.live {
		if unsaid, err = unsaidPrompts(ctx, p, s, source.index); err != nil {
			return nil, err
		}
	}
	ends, err := (&cutPoint{v, source, source.index.Leaf()}).since()
	if err != nil {
		return nil, err
	}
	have, said := len(unsaid), make([][]int, len(ends))
	for i, end := range ends {
		if said[i], err = end.source.index.Prompts(end.leaf); err != nil {
			return nil, noPlace("", err)
		}
		have += len(said[i])
	}
	if n < 1 || n > have {
		return nil, &transcript.FewPromptsError{Asked: n, Have: have}
	}
	found := &PromptPlace{Session: s}
	for _, c := range unsaid[:min(n, len(unsaid))] {
		found.Prompts = append(found.Prompts, c.Prompt)
	}
	if n <= len(unsaid) {
		c := unsaid[n-1]
		found.Checkpoint, found.Exact = &c, true
		found.at, found.failed = placeOf(ctx, p, c.Checkpoint)
		return found, nil
	}
	n -= len(unsaid)
	part := 0
	for ; n > len(said[part]); part++ {
		found.Prompts = append(found.Prompts, textsOf(ends[part].source.index, said[part])...)
		n -= len(said[part])
	}
	end := ends[part]
	x := end.source.index
	line := &x.Lines[said[part][n-1]]
	found.Prompts, found.PromptID = append(found.Prompts, textsOf(x, said[part][:n])...), cmp.Or(line.PromptID, line.ID)
	if leaf, err := x.PromptBefore(end.leaf, n); err != nil {
		found.failed = noPlace("", err)
	} else {
		found.at = &cutPoint{end.copies, end.source, leaf}
	}
	search, err := promptCheckpoint(ctx, p, s, x, said[part], n-1)
	if err != nil {
		return nil, err
	}
	if found.Checkpoint, found.Exact = search.best, search.exact; search.best == nil {
		found.Older = search.older
	}
	return found, nil
}

// unsaidPrompts are the prompts that a session's checkpoints have and the stored transcript does not, newest first. That is
// so if the agent was killed before more was captured, and has deleted its file since.
func unsaidPrompts(ctx context.Context, p *project.Project, s *session.Chosen, x *transcript.Index) (list []project.Listed, err error) {
	chain, err := x.Chain(x.Leaf())
	if err != nil {
		return nil, nil // a strange tree: its own prompts are all that is known
	}
	ids := map[string]bool{}
	for _, i := range chain {
		if id := x.Lines[i].PromptID; id != "" {
			ids[id] = true
		}
	}
	// later reports whether a prompt that comes after an event was captured.
	later := func(event string) bool {
		for _, i := range slices.Backward(chain) {
			if x.Lines[i].ID == event {
				return false
			}
			if x.Lines[i].Prompt {
				return true
			}
		}
		return event != ""
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			if c.Agent != s.Agent || c.Prompt == "" && c.PromptID == "" || !transcript.Typed(transcript.Agent(s.Agent), c.Prompt) {
				continue
			}
			if c.Transcript == nil || c.PromptID != "" && ids[c.PromptID] || later(c.Transcript.EventID) {
				return nil
			}
			l := project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
			same, k := false, len(list)-1
			if k >= 0 {
				if same, err = SamePrompt(db, &c, &list[k].Checkpoint); err != nil {
					return err
				}
			}
			if same {
				list[k] = l
			} else {
				list = append(list, l)
			}
		}
		return nil
	})
	return list, err
}

// promptCheckpoint finds the checkpoint that was taken at one of the given prompts. Without one it takes the newest checkpoint
// of the lineage between the turn before the prompt and the prompt, else the newest of any session there. An older one would
// take back more than the prompt. If the agent itself forked a session, the lines that both have show where it comes from.
func promptCheckpoint(ctx context.Context, p *project.Project, s *session.Chosen, x *transcript.Index, said []int, n int) (*promptSearch, error) {
	line := &x.Lines[said[n]]
	want := &promptSearch{session: s.ID, x: x, at: said[n], line: line, text: strings.TrimSpace(line.Text), byID: line.PromptID != "", far: promptSlack, own: map[string]bool{s.ID: true}}
	want.sinceTurn(x)
	for k, i := range said {
		// An agent's own fork gives all prompts of its origin one id.
		want.byID = want.byID && (k == n || x.Lines[i].PromptID != line.PromptID)
	}
	err := p.Query(ctx, func(db *manifest.DB) error {
		if c, ok, err := Bound(db, s.Lineage(), line.ID); err != nil || ok {
			want.best, want.exact = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, true
			return err
		}
		if err := want.sinceRestore(db); err != nil {
			return err
		}
		for _, id := range s.Lineage() {
			want.own[id] = true
			for c, err := range db.Checkpoints(manifest.Query{Session: id}) {
				if err != nil {
					return err
				}
				if err := want.see(db, project.Listed{Checkpoint: c, N: db.Position(c.Seq)}); err != nil {
					return err
				}
			}
		}
		if want.exact {
			return nil
		}
		// What others have of this conversation, and, failing all, any tree.
		shared := map[string]bool{}
		var others []project.Listed
		var any *project.Listed
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			l := project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
			if any == nil && want.justBefore(c) {
				any = &l
			}
			if t := c.Transcript; t != nil && c.Session != "" && !want.own[c.Session] {
				others = append(others, l)
				if _, ok := x.Line(t.EventID); ok {
					shared[c.Session] = true
				}
			}
		}
		maps.Copy(want.own, shared)
		for _, l := range others {
			if shared[l.Session] {
				if err := want.see(db, l); err != nil {
					return err
				}
			}
		}
		if want.best == nil {
			want.best = any
		}
		return nil
	})
	return want, err
}

// promptSearch looks for the checkpoint of a prompt.
type promptSearch struct {
	session string
	x       *transcript.Index
	at      int // the number of line in x
	line    *transcript.Line
	text    string
	byID    bool          // the prompt's id is its own
	far     time.Duration // of the best one by text; -1: it is certain

	own     map[string]bool    // the session, and what it was forked from
	since   time.Time          // when the tree was last changed before the prompt, as far as is known
	restore time.Time          // when a restore last did that
	earlier []*transcript.Line // the prompts before it

	best  *project.Listed
	exact bool
	older *project.Listed // the session's newest before the prompt, whatever came between
}

// sinceTurn notes when what came before the prompt in the transcript, on whatever
// branch, changed files last.
func (w *promptSearch) sinceTurn(x *transcript.Index) {
	for i := range x.Lines {
		l := &x.Lines[i]
		if l.Time.IsZero() || !l.Time.Before(w.line.Time) {
			continue
		}
		switch {
		case l.Prompt && !l.Side:
			if transcript.SameText(l.Text, w.text) && w.line.Time.Sub(l.Time) < PromptRetry && !answered(x.Lines[i:max(i, w.at)]) {
				continue // the same one, written again
			}
			w.earlier = append(w.earlier, l)
		case len(l.ToolUses) == 0:
			continue
		}
		if l.Time.After(w.since) {
			w.since = l.Time
		}
	}
}

// answered reports whether lines have a message or a call of the agent.
func answered(lines []transcript.Line) bool {
	return slices.ContainsFunc(lines, func(l transcript.Line) bool { return l.Role == transcript.Assistant && !l.Side })
}

// sinceRestore notes when a restore changed files before the prompt.
func (w *promptSearch) sinceRestore(db *manifest.DB) error {
	for op, err := range db.Operations() {
		if err != nil {
			return err
		}
		if op.Safety == (manifest.CheckpointID{}) || !op.Time.Before(w.line.Time) {
			continue
		}
		if op.Time.After(w.restore) {
			w.restore = op.Time
		}
		if op.Time.After(w.since) {
			w.since = op.Time
		}
	}
	return nil
}

// justBefore reports whether a checkpoint has the tree as the prompt found it: it
// is from before it, and nothing is known to have changed files between. Before a
// conversation's first prompt only its own count: the age of others is unknown.
func (w *promptSearch) justBefore(c manifest.Checkpoint) bool {
	if before, known := w.placed(c); known && c.Kind != manifest.PreTool {
		return before && !c.Time.Before(w.restore)
	}
	if w.line.Time.IsZero() || c.Time.After(w.line.Time) || c.Time.Before(w.since) || c.Kind == manifest.PreTool {
		return false
	}
	for _, l := range w.earlier {
		if c.Kind == manifest.Prompt && transcript.SameText(c.Prompt, strings.TrimSpace(l.Text)) {
			return false // that prompt's: its line can bear an earlier time than its hook's
		}
	}
	return len(w.earlier) > 0 || w.own[c.Session]
}

// placed reports whether a checkpoint was taken right before the prompt, by its place in the transcript: times do not prove
// it, because the lines can be written by another clock. known is false if the place does not decide it.
func (w *promptSearch) placed(c manifest.Checkpoint) (before, known bool) {
	t := c.Transcript
	if t == nil || c.Session != w.session || t.EventID == "" && int64(t.Offset) > w.line.Offset {
		return false, false
	}
	from := 0
	if t.EventID != "" {
		i, ok := w.x.Number(t.EventID)
		if !ok {
			return false, false
		}
		from = i + 1
	}
	if from > w.at {
		return false, true
	}
	for i := from; i < w.at; i++ {
		switch l := &w.x.Lines[i]; {
		case l.Side:
		case l.Prompt && !transcript.SameText(l.Text, w.text):
			return false, true
		case len(l.ToolUses) > 0:
			return false, false // the file may have lagged
		}
	}
	return true, true
}

// see takes one checkpoint in; those of a session come newest first.
func (w *promptSearch) see(db *manifest.DB, l project.Listed) error {
	c := l.Checkpoint
	if w.own[c.Session] && c.Time.Before(w.line.Time) && (w.older == nil || c.Seq > w.older.Seq) {
		w.older = &l
	}
	far := w.line.Time.Sub(c.Time).Abs()
	byText := c.Kind == manifest.Prompt && w.far >= 0 && w.text != "" && transcript.SameText(c.Prompt, w.text)
	if byText && far >= w.far {
		if byText = w.exact; byText {
			var err error
			if byText, err = SamePrompt(db, &c, &w.best.Checkpoint); err != nil {
				return err
			}
		}
	}
	switch {
	case c.Kind == manifest.Prompt && w.byID && c.PromptID == w.line.PromptID:
		// A prompt typed into a running turn has its id too: the first is it.
		w.best, w.exact, w.far = &l, true, -1
	case byText:
		w.best, w.exact, w.far = &l, true, far
	case !w.exact && (w.best == nil || c.Seq > w.best.Seq):
		before := w.justBefore(c)
		if !before {
			var err error
			if before, err = w.firstCall(db, c); err != nil {
				return err
			}
		}
		if before {
			w.best = &l
		}
	}
	return nil
}

// NoCheckpoint is the error that says that the place, prompt~n, has no checkpoint.
func (f *PromptPlace) NoCheckpoint(n int) error {
	return &PromptNotSavedError{N: n, Prompt: f.Prompts[len(f.Prompts)-1],
		Err: &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n)}}
}
