package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
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

	at      *cutPoint
	failed  error // why there is no place
	pending bool  // the transcript does not have the prompt: the operation alone says that it was taken back
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
	pending, err := v.pendingPrompts(source)
	if err != nil {
		return nil, err
	}
	ends, err := (&cutPoint{v, source, source.index.Leaf()}).since()
	if err != nil {
		return nil, err
	}
	have, prompts := len(pending), make([][]int, len(ends))
	for i, end := range ends {
		if prompts[i], err = end.source.index.Prompts(end.leaf); err != nil {
			return nil, noPlace("", err)
		}
		have += len(prompts[i])
	}
	if n < 1 || n > have {
		return nil, &transcript.FewPromptsError{Asked: n, Have: have}
	}
	found := &PromptPlace{Session: s}
	for _, c := range pending[:min(n, len(pending))] {
		found.Prompts = append(found.Prompts, c.Prompt)
	}
	if n <= len(pending) {
		c := pending[n-1]
		found.Checkpoint, found.Exact, found.PromptID = &c, true, c.PromptID
		found.pending = true
		found.at, found.failed = ends[0].resumable()
		return found, nil
	}
	n -= len(pending)
	part := 0
	for ; n > len(prompts[part]); part++ {
		found.Prompts = append(found.Prompts, textsOf(ends[part].source.index, prompts[part])...)
		n -= len(prompts[part])
	}
	end := ends[part]
	x := end.source.index
	line := &x.Lines[prompts[part][n-1]]
	found.Prompts, found.PromptID = append(found.Prompts, textsOf(x, prompts[part][:n])...), cmp.Or(line.PromptID, line.ID)
	if leaf, err := x.PromptBefore(end.leaf, n); err != nil {
		found.failed = noPlace("", err)
	} else {
		found.at = &cutPoint{end.copies, end.source, leaf}
	}
	search, err := promptCheckpoint(ctx, p, s, x, end.file, prompts[part][n-1])
	if err != nil {
		return nil, err
	}
	if found.Checkpoint, found.Exact = search.best, search.exact; search.best == nil {
		found.Older = search.older
	}
	return found, nil
}

// promptCheckpoint finds the checkpoint that was taken at one of the given prompts. Without one it takes the newest checkpoint
// of the lineage between the turn before the prompt and the prompt, else the newest of any session there. An older one would
// take back more than the prompt. If the agent itself forked a session, the lines that both have show where it comes from.
func promptCheckpoint(ctx context.Context, p *project.Project, s *session.Chosen, x *transcript.Index, file string, at int) (*promptSearch, error) {
	w := &promptSearch{session: s.ID, x: x, file: file, at: at, line: &x.Lines[at], own: map[string]bool{}, others: map[uint64]bool{}}
	err := p.Query(ctx, func(db *manifest.DB) error {
		if c, ok, err := Bound(db, s.Lineage(), w.line.ID); err != nil || ok {
			w.best, w.exact = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, true
			return err
		}
		began := uint64(0) // what an origin did after the fork began is not in the fork
		for _, id := range s.Lineage() {
			first, err := w.match(db, id, began)
			if err != nil || w.exact {
				return err
			}
			began = earliest(began, first)
		}
		// What others have of this conversation.
		others := map[string]bool{}
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if t := c.Transcript; t != nil && c.Session != "" && !w.own[c.Session] {
				if _, ok := x.Line(t.EventID); ok {
					others[c.Session] = true
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(others)) {
			if _, err := w.match(db, id, began); err != nil || w.exact {
				return err
			}
		}
		w.sinceTurn()
		if err := w.sinceRestore(db); err != nil {
			return err
		}
		var any *project.Listed // failing all
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if w.best != nil && w.older != nil {
				break
			}
			l := project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
			before := w.justBefore(c)
			if before && any == nil {
				any = &l
			}
			if !w.own[c.Session] {
				continue
			}
			if w.older == nil && w.isOlder(c) {
				w.older = &l
			}
			if !before && w.best == nil {
				if before, err = w.firstCall(db, c); err != nil {
					return err
				}
			}
			if before && w.best == nil {
				w.best = &l
			}
		}
		if w.best == nil {
			w.best = any
		}
		return nil
	})
	return w, err
}

// promptSearch looks for the checkpoint of a prompt.
type promptSearch struct {
	session string
	x       *transcript.Index
	file    string // that x was read from
	at      int    // the number of line in x
	line    *transcript.Line

	own           map[string]bool // the session, what it was forked from, and others that have its lines
	others        map[uint64]bool // checkpoints of other prompts
	prompts       *matched        // with the session's own checkpoints
	after, before uint64          // between these it was taken: the checkpoints of the prompts around it; 0: not known
	seen          uint64          // the first checkpoint whose hook saw its line; 0: not known
	since         time.Time       // when the tree was last changed before the prompt, as far as is known
	restore       time.Time       // when a restore last did that

	best  *project.Listed
	exact bool
	older *project.Listed // the session's newest before the prompt, whatever came between
}

// match looks among the checkpoints of a session from before a sequence number. first is that of the session's first.
func (w *promptSearch) match(db *manifest.DB, session string, before uint64) (first uint64, err error) {
	own := session == w.session
	m, err := matchPrompts(db, w.x, w.file, session, own, before)
	if err != nil {
		return 0, err
	}
	w.own[session] = true
	if c := m.checkpoint(w.at); c != nil {
		w.best, w.exact = &project.Listed{Checkpoint: *c, N: db.Position(c.Seq)}, true
		return 0, nil
	}
	for seq := range m.line {
		w.others[seq] = true
	}
	after, until := m.around(w.at)
	w.after, w.before = max(w.after, after), earliest(w.before, until)
	seen := uint64(0)
	for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
		if err != nil {
			return 0, err
		}
		if first = c.Seq; held(w.x, &c, own && sameFile(&c, w.file)) > w.at {
			seen = c.Seq
		}
	}
	w.seen = earliest(w.seen, seen)
	if own {
		w.prompts = m
	}
	return first, nil
}

// earliest is the smaller of two sequence numbers; 0 is none.
func earliest(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// sinceTurn notes when what came before the prompt in the transcript, on whatever
// branch, changed files last.
func (w *promptSearch) sinceTurn() {
	for i := range w.x.Lines {
		l := &w.x.Lines[i]
		if l.Time.IsZero() || !l.Time.Before(w.line.Time) || l.Prompt && w.prompts.same(i, w.at) || len(l.ToolUses) == 0 && (!l.Prompt || l.Side) {
			continue
		}
		if l.Time.After(w.since) {
			w.since = l.Time
		}
	}
}

// sinceRestore notes when a restore changed files before the prompt.
func (w *promptSearch) sinceRestore(db *manifest.DB) error {
	for op, err := range db.Operations() {
		if err != nil {
			return err
		}
		if op.Safety == (manifest.CheckpointID{}) || w.seen == 0 && !op.Time.Before(w.line.Time) || w.seen != 0 && op.Seq > w.seen {
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
	if c.Kind == manifest.PreTool || w.others[c.Seq] || c.Seq <= w.after || w.before != 0 && c.Seq >= w.before || c.Time.Before(w.restore) {
		return false
	}
	if before, known := w.placed(c); known {
		return before
	}
	return !w.line.Time.IsZero() && !c.Time.After(w.line.Time) && !c.Time.Before(w.since) && (w.prompts.of[w.at] > 0 || w.own[c.Session])
}

// placed reports whether a checkpoint was taken right before the prompt, by its place in the transcript: times do not prove
// it, because the lines can be written by another clock. known is false if the place does not decide it.
func (w *promptSearch) placed(c manifest.Checkpoint) (before, known bool) {
	if c.Session != w.session {
		return false, false
	}
	from := held(w.x, &c, sameFile(&c, w.file))
	if from < 0 {
		return false, false
	}
	if from > w.at {
		return false, true
	}
	for i := from; i < w.at; i++ {
		switch l := &w.x.Lines[i]; {
		case l.Side:
		case l.Prompt && !w.prompts.same(i, w.at):
			return false, true
		case len(l.ToolUses) > 0:
			return false, false // the file may have lagged
		}
	}
	return true, true
}

// isOlder reports whether a checkpoint was taken before the prompt.
func (w *promptSearch) isOlder(c manifest.Checkpoint) bool {
	if until := earliest(w.before, w.seen); until != 0 && c.Seq >= until {
		return false
	}
	return c.Seq <= w.after || w.seen != 0 || c.Time.Before(w.line.Time)
}

// NoCheckpoint is the error that says that the place, prompt~n, has no checkpoint.
func (f *PromptPlace) NoCheckpoint(n int) error {
	return &PromptNotSavedError{N: n, Prompt: f.Prompts[len(f.Prompts)-1],
		Err: &project.NoCheckpointError{Spec: "prompt~" + strconv.Itoa(n)}}
}
