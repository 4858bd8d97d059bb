package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// uiTimeline are rows, newest first, and the graph beside them.
type uiTimeline struct {
	Rows     []uiRow       `json:"rows"`              // null with Columns
	Columns  *uiColumns    `json:"columns,omitempty"` // the rows as columns, where they are asked for so
	Graph    *screen.Graph `json:"graph"`
	Sessions []uiSession   `json:"sessions,omitempty"` // of a page that is a file; else they are asked for
	Total    int           `json:"total"`              // checkpoints in all
	More     bool          `json:"more"`               // these are the first
	Folded   int           `json:"folded,omitempty"`   // rows without news that are left out
	News     string        `json:"news,omitempty"`     // that it has taken in
	Version  string        `json:"version"`            // another one: rows may be gone, or stand elsewhere
	Log      uint64        `json:"log"`                // another one: something but checkpoints was recorded
	List     string        `json:"list,omitempty"`     // names these rows: who asks with it is sent what is otherwise
	Runs     [][2]int      `json:"runs,omitempty"`     // the rows, as pieces: from which known row on, or -1 for the sent ones, and how many
	Lanes    []int         `json:"lanes,omitempty"`    // the graph's columns, where the rows are columns: each, and how many rows have it
}

type uiRow struct {
	ID      string    `json:"id"` // "@": now; an operation's begins with #
	N       string    `json:"n,omitempty"`
	Time    string    `json:"time"`
	Kind    string    `json:"kind"`
	Why     string    `json:"why"`
	Text    string    `json:"text"`
	Changes *uiCounts `json:"changes"` // null: not known
	Note    string    `json:"note,omitempty"`
	Name    string    `json:"name,omitempty"`
	Pinned  bool      `json:"pinned,omitempty"`
	Prompt  bool      `json:"prompt,omitempty"`
	Dim     bool      `json:"dim,omitempty"`
	Talk    bool      `json:"talk,omitempty"` // it holds a conversation
	Agent   string    `json:"agent,omitempty"`
	Call    bool      `json:"call,omitempty"` // one tool call, which the agent gave an id
	Session string    `json:"session,omitempty"`
	Stored  uint64    `json:"stored,omitempty"` // bytes that it added to the store
}

type uiCounts struct {
	Added    uint64 `json:"added"`
	Modified uint64 `json:"modified"`
	Deleted  uint64 `json:"deleted"`
}

type uiSession struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	Label string `json:"label"`
}

// wantsAll reports whether a question is what is answered ahead.
func (s *uiSpace) wantsAll(what string, args web.Args) bool {
	limit, _ := strconv.Atoi(args("limit"))
	return what == "timeline" && limit <= 0 && args("form") == "columns" && args("safety") == "" && s.lists.named(args("list")) == nil
}

func (s *uiSpace) uiTimeline(ctx context.Context, args web.Args) (any, error) {
	limit, _ := strconv.Atoi(args("limit"))
	known := s.lists.named(args("list"))
	scope, columns := screen.InProject, args("form") == "columns" || known != nil
	if args("safety") != "" {
		scope = screen.WithSafety
	} else if s.wantsAll("timeline", args) {
		if v := s.ahead.takeAll(s); v != nil {
			return v, nil
		}
	}
	v, err := s.timelineOf(ctx, scope, max(limit, 0), limit <= 0 || args("now") != "", columns, known)
	if err != nil || !columns {
		return v, err
	}
	return v.encoded()
}

// timelineOf reads the first limit rows, 0 for all, with a look at the tree or without one. Of rows that are known, nil for
// none, only those are told, as columns, that are otherwise.
func (s *uiSpace) timelineOf(ctx context.Context, scope screen.Scope, limit int, look, columns bool, known *uiList) (*uiTimeline, error) {
	a := screen.Ask{What: screen.AskAll, Scope: scope}
	before, err := s.logAt()
	if err != nil {
		return nil, err
	}
	last, err := s.p.Store.Last()
	if err != nil {
		return nil, err
	}
	got, err := s.loadRows(ctx, a, limit, look, columns)
	if err != nil {
		return nil, err
	}
	out := &uiTimeline{Graph: got.Graph, Total: got.Total, More: got.More, Folded: got.Folded}
	if look {
		out.News = s.newsAt(before)
	}
	s.mu.Lock()
	present := s.present
	s.mu.Unlock()
	if present != nil && len(got.List) > 0 && got.List[0].ID == "@" {
		if r, err := s.row("@"); err == nil {
			_, _, _ = r.Count(ctx, s.p, present) // it is known from now on; of what cannot be counted, the look says so
		}
	}
	if columns {
		out.Columns = newUIColumns(len(got.List))
	} else {
		out.Rows = make([]uiRow, 0, len(got.List))
	}
	list := &uiList{total: got.Total, rows: make([]uiListed, 0, len(got.List))}
	var update *uiUpdate
	if known != nil {
		update = &uiUpdate{old: known, by: got.Total - known.total}
		if limit > 0 {
			out.Graph = nil // the page's own goes on
		}
	}
	turns := s.revertedTurns(ctx, got.List)
	s.mu.Lock()
	for _, row := range got.List {
		r := s.rows[row.ID]
		v := viewRow(row, r, s.p.Root())
		v.Text = cmp.Or(turns[row.ID], v.Text)
		if n, known := r.Known(); known {
			v.Changes = &uiCounts{n.Added, n.Modified, n.Deleted}
		}
		is := listed(&v, r)
		list.rows = append(list.rows, is)
		if update != nil && !update.sends(is) {
			continue
		}
		if columns {
			out.Columns.add(&v, r)
		} else {
			out.Rows = append(out.Rows, v)
		}
	}
	s.mu.Unlock()
	if update != nil {
		out.Runs = update.runs
		if limit > 0 && update.at > 0 {
			list.rows = append(list.rows, update.rest()...)
		}
	}
	out.List = s.lists.keep(list)
	ops, err := engine.Operations(ctx, s.p, 0)
	if err != nil {
		return nil, err
	}
	gone, err := s.p.Store.Generation()
	if err != nil {
		return nil, err
	}
	out.Version = fmt.Sprint(gone, len(ops))
	err = s.p.Query(ctx, func(db *manifest.DB) error {
		checkpoints, safety, err := db.Count()
		out.Log = last.Seq - uint64(checkpoints+safety)
		return err
	})
	return out, err
}

// revertedTurns names what reverts were about, by their rows: their argument is the beginning of an id.
func (s *uiSpace) revertedTurns(ctx context.Context, list []screen.Row) map[string]string {
	args := map[string]string{}
	s.mu.Lock()
	for _, row := range list {
		if r := s.rows[row.ID]; r != nil && r.Kind == timeline.Operation && r.Operation.Kind == manifest.OpRevert && r.Target == nil {
			args[row.ID] = r.Operation.Args
		}
	}
	s.mu.Unlock()
	for row, said := range args {
		l, err := resolve(ctx, s.p, said)
		if args[row] = ""; err == nil && len(said) >= shortID && strings.HasPrefix(l.ID.String(), said) {
			args[row] = briefly(l)
		}
	}
	return args
}

// uiSessions names the sessions. It looks into their transcripts: for those who want to know.
func (s *uiSpace) uiSessions(ctx context.Context) (any, error) {
	all, err := conversation.Sessions(ctx, s.p)
	if err != nil {
		return nil, err
	}
	out := make([]uiSession, len(all))
	for i, info := range all {
		out[i] = uiSession{info.ID, info.Agent, info.Label()}
	}
	return map[string]any{"sessions": out}, nil
}

// viewRow is a row without its counts. A file of the project that a call is about is told from root on.
func viewRow(row screen.Row, r *timeline.Row, root string) uiRow {
	v := uiRow{ID: row.ID, N: row.N, Time: viewTime(r.Time), Kind: string(r.Kind), Why: row.Why, Text: row.Text, Note: row.Note, Name: row.Name,
		Pinned: row.Pinned, Prompt: row.Prompt, Dim: row.Dim, Agent: r.Agent, Session: r.Session}
	if strings.Contains(v.Text, "/") {
		v.Text = belowRoot(v.Text, escape(root)+"/")
	}
	if c := r.Checkpoint; c != nil {
		v.Talk, v.Stored, v.Call = c.Transcript != nil, c.StoredBytes, c.ToolUseID != ""
	}
	return v
}

// belowRoot takes the root from the paths in a text, where they begin.
func belowRoot(text, root string) string {
	out := strings.ReplaceAll(" "+text, " "+root, " ")
	return out[1:]
}

// uiFiles are files that differ, with the patches of the first of them.
type uiFiles struct {
	Title string       `json:"title"`
	Files []uiFileDiff `json:"files"`
	More  bool         `json:"more"`
}

type uiFileDiff struct {
	pathView
	Status  string   `json:"status"` // one letter
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Binary  bool     `json:"binary,omitempty"`
	Hidden  bool     `json:"hidden,omitempty"` // precious: its lines are not shown
	Patch   string   `json:"patch,omitempty"`
	Left    bool     `json:"left,omitempty"`   // the patch is to be asked for
	Unread  bool     `json:"unread,omitempty"` // its lines are not known: no checkpoint has it
	Cut     bool     `json:"cut,omitempty"`    // the patch goes on; only of a page that is a file
	By      string   `json:"by,omitempty"`     // who changed it; "" where nobody but the person did, or it is not known
	Calls   []string `json:"calls,omitempty"`  // the agents' ids of the calls that did
	Mixed   bool     `json:"mixed,omitempty"`  // several changed it, or could have: whose each line is can be asked
	// Whose says of lines that came whose they are, where that is not the row's alone; only of a page that is a file.
	Whose []uiLineRun `json:"whose,omitempty"`
}

// Bounds of one answer: a page shows the first, and asks for the rest as it is looked at.
const (
	maxPatches   = 400 << 10 // bytes of all patches
	longestPatch = 100 << 10
	wholePatch   = 4 << 20 // of one file that was asked for
	mostCalls    = 20
)

func (s *uiSpace) uiLook(ctx context.Context, args web.Args) (any, error) {
	files, title, err := s.uiDiffering(ctx, args)
	if err != nil {
		return nil, err
	}
	out := uiFiles{Title: title, Files: []uiFileDiff{}}
	whose, err := s.uiOwners(ctx, args("id"), args("other"))
	if err != nil {
		return nil, err
	}
	by := whose.text("", false)
	// After an operation, the lines of what changed since are in no store.
	r, err := s.row(args("id"))
	if err != nil {
		return nil, err
	}
	unsaved := args("other") == "" && r.Kind == timeline.Now && r.From != nil && r.From.ID == (manifest.CheckpointID{})
	room := maxPatches
	for i, f := range files {
		if i == mostFiles {
			out.More = true
			break
		}
		v := viewFileDiff(f)
		v.By = by(f.Path)
		v.Unread = unsaved && v.Patch == "" && !v.Binary && !v.Hidden
		owner := whose[f.Path]
		v.Mixed = mixed(owner) && v.Patch != ""
		for _, w := range owner.Works() {
			if w.Call != "" && len(v.Calls) < mostCalls && !slices.Contains(v.Calls, w.Call) {
				v.Calls = append(v.Calls, w.Call)
			}
		}
		if len(v.Patch) > min(room, longestPatch) {
			v.Patch, v.Left = "", true
		}
		room -= len(v.Patch)
		out.Files = append(out.Files, v)
	}
	return out, nil
}

// lookTitle says which changes a row stands for.
func lookTitle(r *timeline.Row) string {
	if r.Kind == timeline.Now {
		return "what changed since"
	}
	return map[timeline.Side]string{timeline.Since: "what came before it", timeline.Did: "what it did", timeline.After: "what came after it"}[r.Side]
}

// uiDiffering are the files between two rows, between a row and now, or those that a row changed.
func (s *uiSpace) uiDiffering(ctx context.Context, args web.Args) ([]engine.FileDiff, string, error) {
	r, err := s.row(args("id"))
	if err != nil {
		return nil, "", err
	}
	switch other := args("other"); other {
	case "":
		files, err := s.ownFiles(ctx, r)
		return files, lookTitle(r), err
	case "@":
		from, err := s.checkpoint(args("id"))
		if err != nil {
			return nil, "", err
		}
		files, err := s.differing(ctx, from.Checkpoint, nil)
		return files, "from " + pickedName(from) + " to now", err
	default:
		older, err := s.checkpoint(args("id"))
		if err != nil {
			return nil, "", err
		}
		newer, err := s.checkpoint(other)
		if err != nil {
			return nil, "", err
		}
		if older.Seq > newer.Seq {
			older, newer = newer, older
		}
		files, err := s.differing(ctx, older.Checkpoint, &newer.Checkpoint)
		return files, "from " + pickedName(older) + " to " + pickedName(newer), err
	}
}

// mixed reports whether a file is of several, or could be.
func mixed(o attribution.Owner) bool { return len(o.Also) > 0 || o.AlsoOutside }

func viewFileDiff(f engine.FileDiff) uiFileDiff {
	return uiFileDiff{pathView: viewPath(f.Path), Status: string(letter(f.Change)), Added: f.Added, Deleted: f.Deleted,
		Binary: f.Binary, Hidden: f.Hidden, Patch: f.Patch}
}

// uiDiff is the patch of one file, that look left out.
func (s *uiSpace) uiDiff(ctx context.Context, args web.Args) (any, error) {
	files, _, err := s.uiDiffering(ctx, args)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Path != pagePath(args("path")) {
			continue
		}
		if f.Patch == "" && !f.Binary && !f.Hidden {
			release, err := s.p.Hold(ctx)
			if err != nil {
				return nil, err
			}
			defer release()
			if f, err = engine.StepDiff(s.p, &engine.Step{Change: f.Change}, false); err != nil {
				return nil, err
			}
		}
		v := viewFileDiff(f)
		if len(v.Patch) > wholePatch {
			v.Patch, v.Left = v.Patch[:wholePatch], true
		}
		return v, nil
	}
	return nil, &staleError{what: "file that differs", name: args("path")}
}

// uiTalk is a page of a conversation.
type uiTalk struct {
	Messages []uiMessage `json:"messages"`
	Earlier  bool        `json:"earlier"`
	Partial  bool        `json:"partial,omitempty"` // more was said since, which cannot be had
}

type uiMessage struct {
	Here   bool     `json:"here,omitempty"`  // the row begins with it
	Since  bool     `json:"since,omitempty"` // no checkpoint has it: it stands in the agent's own file
	At     int      `json:"at"`
	Event  string   `json:"event"`
	Time   string   `json:"time"`
	Prompt bool     `json:"prompt,omitempty"`
	Parts  []uiPart `json:"parts"`
	Cut    bool     `json:"cut,omitempty"`
}

type uiPart struct {
	Kind   string `json:"kind"` // words, thought, call, answer
	Person bool   `json:"person,omitempty"`
	Text   string `json:"text"`
	Tool   string `json:"tool,omitempty"`
	Call   string `json:"call,omitempty"`
	About  string `json:"about,omitempty"` // of a call: what its input is about
	Row    string `json:"row,omitempty"`   // of a call: the checkpoint before it
	Failed bool   `json:"failed,omitempty"`
}

const (
	talkPage  = 60
	mostSince = 400      // messages that no checkpoint has
	maxSaid   = 20 << 10 // bytes of one text
)

func (s *uiSpace) uiTalk(ctx context.Context, args web.Args) (any, error) {
	r, err := s.row(args("id"))
	if err != nil {
		return nil, err
	}
	out := uiTalk{Messages: []uiMessage{}}
	l := s.talkOf(ctx, r)
	if r.Kind == timeline.Now && l == nil {
		if l, err = s.newestTalk(ctx); err != nil {
			return nil, err
		}
	}
	if l == nil || l.Transcript == nil {
		return out, nil
	}
	before, _ := strconv.Atoi(args("before"))
	all, earlier, err := conversation.Talk(ctx, s.p, l.Checkpoint, conversation.TalkOptions{Before: before, Limit: talkPage, MaxText: maxSaid})
	if err != nil {
		return nil, err
	}
	held := len(all)
	if before == 0 {
		since, whole, err := conversation.TalkSince(ctx, s.p, l.Checkpoint, conversation.TalkOptions{Limit: mostSince, MaxText: maxSaid})
		if err != nil {
			return nil, err
		}
		all, out.Partial = append(all, since...), !whole
	}
	calls := s.rowsOfCalls(all)
	for i, m := range all {
		v := viewMessage(m, calls, s.p.Root())
		v.Since = i >= held
		if c := r.Checkpoint; c != nil {
			v.Here = r.Kind == timeline.Prompt && m.Prompt && m.PromptID != "" && m.PromptID == c.PromptID ||
				slices.ContainsFunc(m.Parts, func(p transcript.Part) bool {
					return p.Call != "" && p.Kind == transcript.ToolCall && p.Call == c.ToolUseID
				})
		}
		out.Messages = append(out.Messages, v)
	}
	out.Earlier = earlier
	return out, nil
}

// rowsOfCalls are the rows that stand before the calls of messages.
func (s *uiSpace) rowsOfCalls(messages []conversation.Message) map[string]string {
	calls := map[string]string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == transcript.ToolCall && p.Call != "" {
				calls[p.Call] = ""
			}
		}
	}
	if len(calls) == 0 {
		return calls
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, row := range s.rows {
		if row == nil { // gone since
			continue
		}
		if c := row.Checkpoint; c != nil && c.ToolUseID != "" && c.Kind == manifest.PreTool {
			if _, ok := calls[c.ToolUseID]; ok {
				calls[c.ToolUseID] = id
			}
		}
	}
	return calls
}

var partKinds = [...]string{transcript.Words: "words", transcript.Thought: "thought", transcript.ToolCall: "call", transcript.ToolAnswer: "answer"}

// viewMessage is a message; calls are rows by the tool calls that they were taken before. What a call is about is told
// from root on.
func viewMessage(m conversation.Message, calls map[string]string, root string) uiMessage {
	v := uiMessage{At: m.At, Event: m.Event, Time: viewTime(m.Time), Prompt: m.Prompt, Cut: m.Cut}
	for _, p := range m.Parts {
		part := uiPart{Kind: partKinds[p.Kind], Person: p.Role == transcript.User, Text: p.Text, Tool: p.Tool, Call: p.Call, Failed: p.Failed}
		if p.Kind == transcript.ToolCall {
			part.About, part.Row = belowRoot(conversation.GivenTo(p.Text), root+"/"), calls[p.Call]
		}
		v.Parts = append(v.Parts, part)
	}
	return v
}

// newestTalk is the newest checkpoint that holds a conversation; nil for none.
func (s *uiSpace) newestTalk(ctx context.Context) (newest *project.Listed, err error) {
	err = s.p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if c.Transcript != nil {
				newest = &project.Listed{Checkpoint: c}
				return nil
			}
		}
		return nil
	})
	return newest, err
}

// talkOf is the checkpoint whose conversation a row shows: of what a prompt or a call did, the state after it,
// which has what was said meanwhile.
func (s *uiSpace) talkOf(ctx context.Context, r *timeline.Row) *project.Listed {
	l := r.Checkpoint
	if l == nil {
		return r.Target
	}
	if r.Side != timeline.Did || r.To == nil || r.To.ID == (manifest.CheckpointID{}) {
		return l
	}
	after, err := resolve(ctx, s.p, r.To.ID.String())
	if err != nil || after.Transcript == nil || after.Session != l.Session {
		return l // it is gone: what was said before is still there
	}
	return &after
}

// uiOwners says who changed each path of a row, or of what is between it and another. Of what is damaged, and
// of the working tree where it could not be looked at, nothing is said.
func (s *uiSpace) uiOwners(ctx context.Context, id, other string) (owned, error) {
	r, err := s.row(id)
	if err != nil || other == "" && (r.To == nil || r.Kind == timeline.Operation) {
		return nil, err
	}
	s.mu.Lock()
	present := s.present
	s.mu.Unlock()
	var o attribution.Options
	switch {
	case other == "":
		if r.From != nil {
			o.From = r.From.Seq
		}
		o.To = r.To.Seq
		if r.To.Now {
			other = "@"
		}
	case r.Checkpoint == nil:
		return nil, nil
	default:
		o.From = r.Checkpoint.Seq
		if other == "@" {
			break
		}
		l, err := s.checkpoint(other)
		if err != nil {
			return nil, err
		}
		o.From, o.To = min(o.From, l.Seq), max(o.From, l.Seq)
	}
	if other == "@" {
		if present == nil {
			return nil, nil
		}
		o.To, o.Now = 0, present.Seen(s.p)
	}
	if o.To == 0 && o.Now == nil {
		return nil, nil // what an operation found
	}
	to := o.To
	if to == 0 {
		to = attribution.ThenNow
	}
	a, err := attribution.New(ctx, s.p, o)
	if project.IsDamage(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	steps, err := a.Between(o.From, to)
	if project.IsDamage(err) {
		return nil, nil
	}
	return ownedOf(steps), err
}
