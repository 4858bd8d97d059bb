package transcript

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Gemini is Gemini CLI.
const Gemini Agent = "gemini"

func geminiFormat() format {
	return format{
		owns: func(file string) bool {
			return path.Base(path.Dir(file)) == "chats" && strings.HasPrefix(path.Base(file), geminiPrefix)
		},
		read: geminiID, fileName: geminiName, find: geminiFiles,
		root:     func(file string) string { return geminiRoot(filepath.Dir(filepath.Dir(file))) },
		folderOf: geminiFolder,
		keeps:    func(h Home) []string { return in(geminiHome(h), "tmp", "history") },
		variable: "GEMINI_SESSION_ID",
		kinds:    &geminiKinds,
		parse:    parseGemini,
		command:  func(id string) []string { return []string{"gemini", "--resume", id} },
		keep:     func(*Line, bool, bool) bool { return true },
		edits:    editsGemini,
		trailer:  trailerGemini,
		whole:    true,
	}
}

// geminiKinds are those of Gemini CLI 0.61.
var geminiKinds = kinds{tags: []string{"session_context", "hook_context"}}

const (
	geminiPrefix = "session-"
	geminiHeader = "header"
	geminiPatch  = "$set"
	// geminiOrigin is the member of a header that says what our fork is a copy of.
	geminiOrigin = "rewindForkedFrom"
)

// parseGemini reads a line of Gemini CLI. They are notes of what was done to a
// list of messages: one was added or changed, all were replaced ($set), the last
// ones were taken back ($rewindTo).
func parseGemini(x *reader, l *Line) {
	s := x.scan
	var session, project, back, copiedFrom, copiedAt string
	var start time.Time
	var patch geminiSet
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "sessionId":
			session = string(s.ID())
		case "projectHash":
			project = x.intern(s.ID())
		case "startTime":
			start = when(s.ID())
		case geminiOrigin:
			copiedFrom, copiedAt = x.readOrigin()
		case "$set":
			l.Type = geminiPatch
			patch = x.readGeminiSet()
		case "$rewindTo":
			back = string(s.ID())
		default:
			x.geminiMember(l, string(key))
		}
	})
	if s.Bad() {
		return
	}
	switch {
	case l.ID != "":
		x.known++
		x.geminiMessage(l, &x.msg)
		x.way.follow(l)
	case back != "":
		x.known++
		x.stated = true // it can be about older lines
		x.way.cut(back)
		l.ID = "$rewindTo/" + back
		x.way.follow(l)
	case l.Type == geminiPatch:
		x.known++
		if patch.summary != "" {
			x.given = patch.summary
		}
		x.geminiReplace(l, &patch)
	case session != "" && project != "":
		x.known++
		l.Type, l.Time = geminiHeader, start
		x.Session = cmp.Or(x.Session, session)
		if copiedFrom != "" {
			x.Parent, x.forkedAt = copiedFrom, copiedAt
		}
	}
	x.stand()
}

// geminiReplace takes in a new list of messages. When a session is resumed the list
// repeats the lines before, and then it is no event. Otherwise it is one: that of a
// compaction, which replaces the messages before, or the way back to a message.
func (x *reader) geminiReplace(l *Line, p *geminiSet) {
	if len(p.ids) == 0 {
		return
	}
	last := p.ids[len(p.ids)-1]
	n := len(x.way.ids)
	at, known := x.way.at[last]
	switch {
	case known && at == n-1:
		return
	case n == 0 && !p.spoken:
		return // the surroundings, with which every session begins
	case known:
		x.way.cut(x.way.ids[at+1])
	default:
		l.flags |= isSummary
	}
	x.stated = true // what was before may be in older lines
	l.ID, l.Time = "$set/"+stamp(p.at)+"/"+last, p.at
	x.way.follow(l)
	x.way.at[last] = len(x.way.ids) - 1
}

// geminiSet is what is read of a "$set".
type geminiSet struct {
	summary string
	at      time.Time
	ids     []string // of the messages that take the place of all others
	spoken  bool     // there is more among them than the surroundings
}

func (x *reader) readGeminiSet() (p geminiSet) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "messages":
			p.ids, p.spoken = x.readGeminiList()
		case "summary":
			p.summary = x.title()
		case "lastUpdated":
			p.at = when(s.ID())
		default:
			s.Skip()
		}
	})
	return p
}

// readGeminiList reads whose messages a list has.
func (x *reader) readGeminiList() (ids []string, spoken bool) {
	s := x.scan
	s.Elements(func() {
		var l Line
		x.msg.reset()
		s.Inside(func(key []byte) { x.geminiMember(&l, string(key)) })
		if l.ID != "" {
			ids = append(ids, x.event([]byte(l.ID)))
			x.geminiMessage(&l, &x.msg)
			spoken = spoken || l.Prompt || l.Role == Assistant
		}
	})
	return ids, spoken
}

// geminiMember reads a member of a message.
func (x *reader) geminiMember(l *Line, key string) {
	s := x.scan
	switch key {
	case "id":
		l.ID = string(s.ID())
	case "timestamp":
		l.Time = when(s.ID())
	case "type":
		l.Type = x.intern(s.ID())
	case "content":
		x.readParts(&x.msg)
	case "toolCalls":
		x.readGeminiCalls(&x.msg)
	default:
		s.Skip()
	}
}

// readGeminiCalls reads the calls of a message, which has their results too.
func (x *reader) readGeminiCalls(m *message) {
	s := x.scan
	s.Elements(func() {
		id, done := "", false
		isCall := s.Inside(func(key []byte) {
			switch string(key) {
			case "id":
				id = string(s.ID())
			case "result":
				done = s.IsSet()
			default:
				s.Skip()
			}
		})
		if isCall {
			m.uses = append(m.uses, id)
		}
		if done {
			m.results = append(m.results, id)
		}
	})
}

// geminiMessage says whose words a message is.
func (x *reader) geminiMessage(l *Line, m *message) {
	l.ToolUses, l.ToolResults = m.uses, m.results
	switch l.Type {
	case "gemini":
		l.Role = Assistant
	case "user":
		l.Role = User
		if len(m.results) == 0 && m.typed {
			l.Prompt, l.Text = true, string(m.text)
		}
	}
}

// way is the list of messages as the lines so far have made it.
type way struct {
	ids []string
	at  map[string]int
}

func (w *way) add(id string) {
	if w.at == nil {
		w.at = map[string]int{}
	}
	w.at[id] = len(w.ids)
	w.ids = append(w.ids, id)
}

// cut takes a message and those after it away; all, where it is not there.
func (w *way) cut(id string) {
	from := w.at[id] // 0 where it is not
	for id, at := range w.at {
		if at >= from {
			delete(w.at, id)
		}
	}
	w.ids = w.ids[:from]
}

// follow gives an event its place: that which it has, or behind the last one.
func (w *way) follow(l *Line) {
	at, known := w.at[l.ID]
	if !known {
		at = len(w.ids)
		w.add(l.ID)
	}
	if at > 0 {
		l.Parent = w.ids[at-1]
	}
}

// stand notes that the conversation ends with the last event.
func (x *reader) stand() {
	if n := len(x.way.ids); n > 0 {
		x.end = statement{leaf: x.way.ids[n-1], explicit: true}
	}
}

// geminiHome is the client's own directory.
func geminiHome(h Home) string {
	return filepath.Join(cmp.Or(h.env("GEMINI_CLI_HOME"), h.Dir), ".gemini")
}
