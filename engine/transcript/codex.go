package transcript

import (
	"cmp"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Codex is OpenAI's Codex CLI.
const Codex Agent = "codex"

func codexFormat() format {
	return format{
		owns:    func(file string) bool { return strings.HasPrefix(path.Base(file), codexPrefix) },
		session: codexID, place: codexPlace, find: codexFiles,
		keeps:    codexKeeps,
		kinds:    &codexKinds,
		parse:    parseCodex,
		command:  func(id string) []string { return []string{"codex", "resume", id} },
		keep:     func(*Line, bool, bool) bool { return true },
		edits:    editsCodex,
		whole:    true,
		referred: true,
	}
}

// codexKinds: prompts that the person typed have rows of their own.
var codexKinds kinds

const (
	codexPrefix = "rollout-"
	codexHeader = "session_meta"
	// codexOrigin is the member of a header that says what our fork is a copy of.
	// The client's own forked_from_id would make it read the rest from there.
	codexOrigin = "rewind_forked_from"
)

// codexTurn is where parseCodex is in a turn.
type codexTurn struct {
	last     string // newest event on the way
	before   string // the event before the turn
	open     bool   // the turn has begun
	prompted bool   // its prompt was there
	tasks    bool   // there are rows for the beginning and the end of turns (not by old clients)
	message  string // id that the rows of one answer share
	unheard  string // of an old client: the event before what the person typed though there was no answer yet
}

// codexRow is what is read of a row's payload.
type codexRow struct {
	kind, id, role, call, turn, item string
	cwd, version                     string
	forkedFrom, copiedFrom, copiedAt string
	turns                            int
	base                             Base
}

// parseCodex reads a line of Codex CLI. They are a list: an event follows the
// one before, but where turns were rolled back. An event has no id of its own in
// all versions: its time and number are it. What a turn begins with (settings,
// the surroundings) is no event, so that the place before a prompt is the end of
// the turn before.
func parseCodex(x *reader, l *Line) {
	s := x.scan
	var stamp, ordinal string
	var row codexRow
	var payload bool
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "timestamp":
			stamp = string(s.ID())
			l.Time = when([]byte(stamp))
		case "ordinal":
			ordinal = s.Digits()
		case "type":
			l.Type = x.intern(s.ID())
		case "payload":
			payload = s.Peek() == '{'
			x.readCodexRow(&row)
		default:
			s.Skip()
		}
	})
	if s.Bad() || stamp == "" || !payload {
		return
	}
	x.known++
	if ordinal == "" {
		ordinal = l.Type + "/" + row.kind + row.call
	}
	l.ID = stamp + "#" + ordinal
	switch l.Type {
	case codexHeader:
		x.codexMeta(l, &row)
	case "response_item":
		x.codexItem(l, &row)
	case "event_msg":
		x.codexEvent(l, &row)
	case "turn_context":
		x.dir(row.cwd)
		l.ID = ""
	case "world_state":
		l.ID = ""
	case "compacted":
		x.turn.open = x.turn.open && x.turn.tasks
		l.flags |= isSummary
	}
	if x.turn.open && !x.turn.prompted && !l.Prompt && l.Role != Assistant && !l.is(isSummary) {
		l.ID = "" // it belongs to the prompt that comes
	}
	if l.ID == "" {
		return
	}
	if !l.Prompt && l.Parent == "" {
		l.Parent = x.turn.last
	}
	l.Message = cmp.Or(l.Message, x.turn.message)
	if l.Parent == l.ID {
		l.Parent = ""
	}
	x.turn.last = l.ID
}

// readCodexRow reads the object that is the value of "payload".
func (x *reader) readCodexRow(row *codexRow) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "type":
			row.kind = x.intern(s.ID())
		case "id":
			row.id = x.intern(s.ID())
		case "role":
			row.role = x.intern(s.ID())
		case "call_id":
			row.call = string(s.ID())
		case "turn_id":
			row.turn = x.intern(s.ID())
		case "cwd":
			row.cwd = x.path()
		case "cli_version":
			row.version = x.intern(s.ID())
		case "forked_from_id":
			row.forkedFrom = string(s.ID())
		case "history_base":
			row.base = x.readBase()
		case codexOrigin:
			row.copiedFrom, row.copiedAt = x.readOrigin()
		case "num_turns":
			row.turns, _ = strconv.Atoi(s.Digits()) // 0 for what is no number
		case "message": // of older clients: the prompt itself
			x.addText(&x.msg)
		case "item":
			x.readCodexItem(row)
		default:
			s.Skip()
		}
	})
}

// readCodexItem reads the object that is the value of "item".
func (x *reader) readCodexItem(row *codexRow) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "type":
			row.item = x.intern(s.ID())
		case "content":
			x.readCodexContent()
		default:
			s.Skip()
		}
	})
}

// readCodexContent reads the blocks of a message of the person's.
func (x *reader) readCodexContent() {
	s := x.scan
	s.Elements(func() {
		s.Inside(func(key []byte) {
			switch string(key) {
			case "text":
				x.addText(&x.msg)
			case "image_url", "path":
				x.msg.typed = s.IsSet() || x.msg.typed
			default:
				s.Skip()
			}
		})
	})
}

// readOrigin reads what a fork of ours says that it is a copy of.
func (x *reader) readOrigin() (session, leaf string) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "session":
			session = string(s.ID())
		case "leaf":
			leaf = string(s.ID())
		default:
			s.Skip()
		}
	})
	return session, leaf
}

// readBase reads what a header says of the file that comes before it.
func (x *reader) readBase() (base Base) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "thread_id":
			base.Part = string(s.ID())
		case "end_byte_offset":
			base.End, _ = strconv.ParseInt(s.Digits(), 10, 64) // 0 for what is no number
		default:
			s.Skip()
		}
	})
	return base
}

func (x *reader) codexMeta(l *Line, row *codexRow) {
	if x.Session == "" { // a copy can have its origin's header too
		x.Session = row.id
	}
	if row.version != "" {
		x.Version = row.version
	}
	x.dir(row.cwd)
	if row.forkedFrom != "" || row.base.Part != "" {
		// The earlier messages are in the other file, from which the client resumes them.
		x.refers, x.Base = true, row.base
		l.flags |= isSummary
	}
	switch {
	case row.copiedFrom != "": // a fork of ours, of whatever
		x.Parent, x.forkedAt = row.copiedFrom, row.copiedAt
	case row.forkedFrom != "":
		x.Parent = row.forkedFrom
	}
}

func (x *reader) codexItem(l *Line, row *codexRow) {
	t := &x.turn
	switch {
	case strings.HasSuffix(row.kind, "_output"):
		l.Role, t.message = User, ""
		l.ToolResults = []string{row.call}
	case row.kind == "message" && row.role != "assistant":
		t.message = ""
		if !t.open && !t.tasks {
			t.open, t.prompted, t.before, t.unheard = true, false, t.last, ""
		}
		if t.prompted {
			l.Role = User
			if !t.tasks && t.unheard == "" {
				t.unheard = t.last
			}
		}
	default: // an answer, a thought, a call
		l.Role = Assistant
		if row.call != "" {
			l.ToolUses = []string{row.call}
		}
		x.codexAnswer(l)
		if !t.tasks {
			t.open, t.prompted, t.unheard = false, false, ""
		}
	}
}

// codexAnswer makes a row one of those that an answer consists of.
func (x *reader) codexAnswer(l *Line) {
	x.turn.message = cmp.Or(x.turn.message, l.ID)
	l.Message = x.turn.message
}

func (x *reader) codexEvent(l *Line, row *codexRow) {
	t := &x.turn
	switch row.kind {
	case "task_started", "turn_started":
		t.tasks, t.open, t.prompted, t.before, t.message = true, true, false, t.last, ""
		l.ID = ""
	case "thread_settings_applied":
		l.ID = ""
	case "task_complete", "turn_complete", "turn_aborted":
		t.open, t.prompted, t.message = false, false, ""
	case "user_message":
		x.codexPrompt(l, row)
	case "item_completed":
		switch row.item {
		case "UserMessage":
			x.codexPrompt(l, row)
		case "AgentMessage", "Reasoning":
			x.codexAnswer(l)
		}
	case "thread_rolled_back":
		t.open, t.prompted, t.message = false, false, ""
		x.stated = true // it can be about older lines
		l.Parent = x.rolledBack(row.turns)
	}
}

// codexPrompt takes in what the person typed. What they typed into a running
// turn belongs to that.
func (x *reader) codexPrompt(l *Line, row *codexRow) {
	t := &x.turn
	t.message = ""
	l.Role = User
	if t.prompted && t.tasks {
		return
	}
	l.Parent = t.last
	if t.open && t.unheard != "" { // the client was killed before it had an answer to the prompt before
		t.before = t.unheard
	}
	if t.unheard = ""; t.open {
		l.Parent = t.before
	}
	l.Prompt, l.Text, l.PromptID = x.msg.typed, string(x.msg.text), row.turn
	t.open, t.prompted = true, true
}

// rolledBack is the event before the n-th last prompt; the first one where there
// are fewer, "" where that is not among the lines read.
func (x *reader) rolledBack(n int) string {
	at, way := x.turn.last, ""
	for steps := 0; n > 0 && steps <= len(x.Lines); steps++ { // a hostile file's events can go in circles
		i, ok := x.byID[at]
		if !ok {
			return way
		}
		if x.Lines[i].Prompt {
			n--
		}
		at, way = x.Lines[i].Parent, at
	}
	return at
}

// codexHome is the client's own directory.
func codexHome(h Home) string { return cmp.Or(h.env("CODEX_HOME"), filepath.Join(h.Dir, ".codex")) }
