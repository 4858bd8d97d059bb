package transcript

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Claude is Claude Code.
const Claude Agent = "claude"

func claudeFormat() format {
	return format{
		folder:   ClaudeDirName,
		home:     claudeProjects,
		keeps:    claudeKeeps,
		opens:    func(l *Line) bool { return l.Role == User && !l.is(isMeta) },
		live:     claudeLive,
		variable: "CLAUDE_CODE_SESSION_ID",
		program:  "/claude-code/",
		kinds:    &claudeKinds,
		parse:    parseClaude,
		finish:   finishClaude,
		command:  func(id string) []string { return []string{"claude", "--resume", id} },
		sides:    claudeSides,
		keep:     keepClaude,
		edits:    editsClaude,
		trailer:  trailerClaude,
		dirs:     claudeDirs,
		told:     true,
	}
}

// claudeKinds are those of Claude Code 2.0.30, 2.1.50 and 2.1.330.
var claudeKinds = kinds{
	tags: []string{
		// a command of the client's, or of its shell mode, and its output
		"bash-input", "bash-stdout", "bash-stderr", "bash-exit-code",
		"local-command-stdout", "local-command-stderr", "local-command-caveat",
		"background-task-input", "background-task-output", "user-memory-input", "forked-skill-launch",
		// what came from elsewhere: tasks, timers, other agents, other programs
		"task-notification", "tick", "teammate-message", "agent-message", "cross-session-message",
		"coordinator-relay", "remote-review", "slack-ping", "slack-tag-message", "voice-call-talk",
		"channel source=", "fetched-web-content", "untrusted-widget-state", "background-remote-session-status",
		// what the client adds
		"system-reminder", "system_reminder", "system-notification", "session-start-hook", "user-prompt-submit-hook",
		"ide_opened_file", "ide_selection", "new-diagnostics",
	},
	texts: []string{
		"[Request interrupted by user", "This session is being continued from a previous conversation",
	},
	origins: map[string]bool{
		"human": true, "auto-continuation": false, "task-notification": false, "scheduled-trigger": false,
		"coordinator": false, "peer": false, "channel": false, "observer": false, "observer-activity": false,
		"plugin": false, "slack-ping": false, "voice-call": false,
	},
	sources: map[string]bool{"typed": true, "queued": true, "sdk": true, "suggestion_accepted": true, "system": false},
}

// parseClaude reads a line of Claude Code. Conversation rows have a uuid; what
// has none is metadata.
func parseClaude(x *reader, l *Line) {
	x.msg.reset()
	var row claudeRow
	row.read(x, l)
	if x.scan.Bad() {
		return
	}
	x.Session = cmp.Or(x.Session, row.session)
	row.ofFile(x, l)
	if !row.event {
		l.ID = "" // metadata can have a uuid too, but is no event
	}
	if l.ID != "" {
		row.ofEvent(x, l)
	}
}

// claudeRow is what a line says beside its message.
type claudeRow struct {
	event                 bool // not metadata
	parent, logical       string
	kept                  []string // what a compaction preserves, as far as it is known
	leaf                  []byte
	leafNull, explicit    bool
	result, turn          bool
	session, cwd, version string
	title                 string
	forkedFrom            string
	from                  spoken
}

// read reads the members, which come in any order.
func (r *claudeRow) read(x *reader, l *Line) {
	s := x.scan
	s.Members(func(key []byte) {
		switch string(key) {
		case "type":
			l.Type = x.intern(s.ID())
		case "uuid":
			l.ID = string(s.ID())
		case "parentUuid":
			r.event = true
			r.parent = x.event(s.ID())
		case "logicalParentUuid":
			r.logical = x.event(s.ID())
		case "compactMetadata":
			s.Inside(func(key []byte) { r.readCompaction(x, key) })
		case "isSidechain":
			l.Side = s.IsTrue()
		case "isMeta":
			l.flags = set(l.flags, isMeta, s.IsTrue())
		case "isCompactSummary":
			l.flags = set(l.flags, isSummary, s.IsTrue())
		case "toolUseResult", "sourceToolAssistantUUID":
			r.result = s.IsSet() || r.result
		case "turnPosition":
			r.turn = s.IsSet()
		case "promptId":
			l.PromptID = x.intern(s.ID())
		case "timestamp":
			l.Time = when(s.ID())
		case "message":
			x.readMessage(&x.msg)
		case "sessionId":
			r.session = x.intern(s.ID())
		case "cwd":
			r.cwd = x.path()
		case "version":
			r.version = x.intern(s.ID())
		case "leafUuid":
			r.leafNull = s.Peek() == 'n'
			r.leaf = append(x.block[:0], s.ID()...)
			x.block = r.leaf
		case "explicit", "rewound":
			r.explicit = s.IsTrue() || r.explicit
		case "customTitle", "aiTitle":
			r.title = x.title()
		case "forkedFrom":
			r.forkedFrom = x.readMember("sessionId")
		case "origin":
			r.from.origin = x.readMember("kind")
		case "promptSource":
			r.from.source = x.intern(s.ID())
		default:
			s.Skip()
		}
	})
}

// ofFile takes in what the row's type says of the file. Those of a conversation
// are events, and so is what names a parent.
func (r *claudeRow) ofFile(x *reader, l *Line) {
	switch l.Type {
	case "user", "assistant", "system", "attachment", "progress":
		x.known++
		if l.ID == "" && (l.Type == "user" || l.Type == "assistant") {
			x.nameless++
		}
		r.event = true
	case "last-prompt":
		x.known++
		x.end.state(string(r.leaf), r.leafNull, r.explicit)
		x.stated = x.stated || r.explicit
	case "custom-title":
		x.known++
		x.given = r.title
	case "ai-title":
		x.made = r.title
	case "queue-operation", "summary", "file-history-snapshot", "mode", "permission-mode":
		x.known++
	}
}

// ofEvent takes in what an event says: its place in the tree, who speaks, and
// where the session stood then.
func (r *claudeRow) ofEvent(x *reader, l *Line) {
	l.Parent = r.parent
	if r.parent == "" {
		r.afterCompaction(x, l)
	}
	if r.forkedFrom != "" {
		x.Parent = r.forkedFrom
		l.flags |= isCopy
	}
	switch l.Type {
	case "user":
		l.Role = User
	case "assistant":
		l.Role = Assistant
		l.Message = x.msg.id
	}
	if l.Role != NoRole {
		l.ToolUses, l.ToolResults = x.msg.uses, x.msg.results
	}
	if r.session != "" {
		x.Session = r.session // an event's word counts more than metadata's
	}
	if !l.Side {
		x.end = statement{}
		if r.version != "" {
			x.Version = r.version
		}
	}
	x.dir(r.cwd)
	if l.Role == User {
		claudePrompt(l, &x.msg, r.result, r.turn, r.from)
	}
}

// readCompaction reads which entries before a compaction's boundary the client sends behind the
// summary: newer clients list them, older ones name the last, which its parents lead to.
func (r *claudeRow) readCompaction(x *reader, key []byte) {
	s := x.scan
	named := func() {
		if i, ok := x.byID[string(s.ID())]; ok {
			r.kept = append(r.kept, x.Lines[i].ID)
		}
	}
	switch string(key) {
	case "preservedSegment":
		s.Inside(func(key []byte) {
			if string(key) == "tailUuid" {
				named()
			} else {
				s.Skip()
			}
		})
	case "preservedMessages":
		s.Inside(func(key []byte) {
			if string(key) == "uuids" {
				s.Elements(named)
			} else {
				s.Skip()
			}
		})
	default:
		s.Skip()
	}
}

// afterCompaction hangs a boundary on what it replaced. Its logical parent can be an entry that the
// client never wrote, as right after a resume; the newest one that it preserves is the end then.
func (r *claudeRow) afterCompaction(x *reader, l *Line) {
	if len(r.kept) > 0 {
		x.preserved[l.ID] = r.kept
	}
	if _, ok := x.byID[r.logical]; !ok && len(r.kept) > 0 {
		r.logical = r.kept[len(r.kept)-1]
	}
	if r.logical != "" {
		l.Parent, l.Logical = r.logical, true
	}
}

func set(f, bit lineFlags, on bool) lineFlags {
	if on {
		return f | bit
	}
	return f &^ bit
}

// dir notes a working directory.
func (x *reader) dir(cwd string) {
	if n := len(x.Dirs); cwd == "" || n == 100 || n > 0 && x.Dirs[n-1] == cwd {
		return
	}
	if !slices.Contains(x.Dirs, cwd) {
		x.Dirs = append(x.Dirs, cwd)
	}
}

// state takes a last-prompt line in. One that is not explicit says nothing by
// itself, but takes back an explicit one about another leaf. Explicitly null is
// the empty conversation; the zero UUID, or any other id that is no event's,
// takes back the earlier statement (seen with 2.1.329: it resumes at the newest
// tip then, a prompt without an answer included).
func (st *statement) state(leaf string, null, explicit bool) {
	switch {
	case explicit && null:
		*st = statement{empty: true}
	case leaf == "":
	case explicit:
		*st = statement{leaf: leaf, explicit: true}
	case st.leaf != leaf:
		*st = statement{}
	}
}

// spoken is what a row of a newer client says of who spoke. Older ones say
// nothing.
type spoken struct{ origin, source string }

// claudePrompt decides whether a user row is a prompt of the person: by what the
// row says of it, else by what all versions of the client have in common.
func claudePrompt(l *Line, m *message, result, turn bool, from spoken) {
	if l.is(isMeta) {
		if bytes.HasPrefix(m.first, []byte("<local-command-")) || bytes.HasPrefix(m.first, []byte("Caveat:")) {
			l.flags |= isCaveat
		}
		return
	}
	typed := claudeKinds.sources[from.source]
	for _, field := range []struct {
		table map[string]bool
		word  string
	}{{claudeKinds.origins, from.origin}, {claudeKinds.sources, from.source}} {
		if person, known := field.table[field.word]; known && !person {
			return
		}
	}
	if typed && !m.typed && len(m.tagged) > 0 {
		m.text, m.typed = append(m.text, m.tagged...), true // the person wrote what looks like the client's
	}
	if l.Side || l.is(isSummary) || result || len(m.results) > 0 || !m.typed {
		return
	}
	if bytes.HasPrefix(m.text, []byte("<command-message>")) || bytes.HasPrefix(m.text, []byte("<command-name>")) {
		l.flags |= isCommand
		l.flags = set(l.flags, hasTurn, turn)
		l.Text = commandText(string(m.text))
		return
	}
	l.Prompt, l.Text = true, string(m.text)
}

// commandText is a slash command as it was typed.
func commandText(echo string) string {
	name := between(echo, "<command-name>", "</command-name>")
	args := strings.TrimSpace(between(echo, "<command-args>", "</command-args>"))
	if args == "" {
		return name
	}
	return name + " " + args
}

func between(text, open, end string) string {
	_, text, ok := strings.Cut(text, open)
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, end)
	return text
}

// finishClaude decides which slash commands were prompts: those that started a
// turn, which the client says, or shows by the meta row with the command's text
// that follows. Built-in commands (/clear, /model) have neither.
func finishClaude(x *reader) {
	for i := range x.Lines {
		l := &x.Lines[i]
		if !l.is(isCommand) || !l.tree() {
			continue
		}
		l.Prompt = l.is(hasTurn)
		for j := i + 1; j < len(x.Lines) && !l.Prompt; j++ {
			next := &x.Lines[j]
			if !next.tree() {
				continue
			}
			l.Prompt = next.Parent == l.ID && next.Role == User && next.is(isMeta) && !next.is(isCaveat)
			break
		}
		if !l.Prompt {
			l.Text = ""
		}
	}
}

// claudeConfig is Claude Code's own directory.
func (h Home) claudeConfig() string {
	return cmp.Or(h.env("CLAUDE_CONFIG_DIR"), filepath.Join(h.Dir, ".claude"))
}
