package transcript

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Copilot is GitHub Copilot CLI.
const Copilot Agent = "copilot"

func copilotFormat() format {
	return format{
		owns: func(file string) bool {
			return path.Base(file) == copilotFile && path.Base(path.Dir(path.Dir(file))) == copilotSessions
		},
		read: copilotID, place: copilotPlace, find: copilotFiles,
		folderOf: func(string, string) string { return "" }, // all directories' sessions lie together
		keeps: func(h Home) []string {
			return in(copilotHome(h), copilotSessions, "history-session-state", "session-store.db*")
		},
		kinds:   &copilotKinds,
		parse:   parseCopilot,
		command: func(id string) []string { return []string{"copilot", "--resume=" + id} },
		keep:    func(*Line, bool, bool) bool { return true },
		whole:   true,
		edits:   editsCopilot,
	}
}

// copilotKinds: what the client adds to a prompt is beside it.
var copilotKinds kinds

const (
	copilotFile     = "events.jsonl"  // in a directory with the session's id
	copilotSessions = "session-state" // has those
	copilotHeader   = "session.start"
	// copilotOrigin is the member of a header that says what our fork is a copy of.
	copilotOrigin = "rewindForkedFrom"
)

// parseCopilot reads a line of Copilot CLI. They hang on each other by id and
// parentId. The runs of hooks, and what is noted when a session is left and resumed,
// are no events here: they hold the prompt that comes, and the place before it is the
// end of the turn before.
func parseCopilot(x *reader, l *Line) {
	s := x.scan
	var row copilotRow
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "type":
			l.Type = x.intern(s.ID())
		case "id":
			l.ID = string(s.ID())
		case "parentId":
			l.Parent = x.event(s.ID())
		case "timestamp":
			l.Time = when(s.ID())
		case "data":
			x.readCopilotData(&row)
		default:
			s.Skip()
		}
	})
	if s.Bad() || l.ID == "" || l.Type == "" {
		return
	}
	x.known++
	if to, ok := x.through[l.Parent]; ok {
		l.Parent = to
	}
	switch l.Type {
	case copilotHeader:
		x.Session, x.Version = row.session, row.version
		if row.copiedFrom != "" {
			x.Parent, x.forkedAt = row.copiedFrom, row.copiedAt
		}
	case "user.message":
		l.Role = User
		l.Prompt, l.Text = x.msg.typed, string(x.msg.text)
	case "assistant.message":
		l.Role, l.ToolUses = Assistant, x.msg.uses
	case "tool.execution_complete":
		l.Role, l.ToolResults = User, []string{row.call}
	case "hook.start", "hook.end", "session.resume", "session.shutdown":
		if x.through == nil {
			x.through = map[string]string{}
		}
		x.through[l.ID] = l.Parent
		l.ID, l.Parent = "", ""
	}
	x.dir(row.cwd)
}

// copilotRow is what is read of an event's data.
type copilotRow struct {
	session, version, call, cwd string
	copiedFrom, copiedAt        string
}

// readCopilotData reads the object that is the value of "data".
func (x *reader) readCopilotData(row *copilotRow) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "sessionId":
			row.session = string(s.ID())
		case "copilotVersion":
			row.version = x.intern(s.ID())
		case "toolCallId":
			row.call = string(s.ID())
		case copilotOrigin:
			row.copiedFrom, row.copiedAt = x.readOrigin()
		case "context":
			s.Inside(func(key []byte) {
				if string(key) == "cwd" {
					row.cwd = x.path()
				} else {
					s.Skip()
				}
			})
		case "content":
			x.addText(&x.msg)
		case "toolRequests":
			s.Elements(func() {
				if id := x.readMember("toolCallId"); id != "" {
					x.msg.uses = append(x.msg.uses, id)
				}
			})
		default:
			s.Skip()
		}
	})
}

// editsCopilot makes the header that of a new session.
func editsCopilot(k *forking, i int) []edit {
	var edits []edit
	if k.dir != "" {
		edits = append(edits, edit{in: "data/context", key: "cwd", value: quote(k.dir)})
	}
	if k.x.Lines[i].Type != copilotHeader {
		return edits
	}
	return append(edits, edit{in: "data", key: "sessionId", value: quote(k.id)}, edit{in: "data", key: copilotOrigin, value: k.origin(), add: true})
}

// copilotHome is the client's own directory.
func copilotHome(h Home) string {
	return cmp.Or(h.env("COPILOT_HOME"), filepath.Join(h.Dir, ".copilot"))
}

func copilotFiles(h Home, root string) (files []string) {
	dir := filepath.Join(copilotHome(h), copilotSessions)
	entries, _ := os.ReadDir(dir) // none: no sessions
	for _, e := range entries {
		file := filepath.Join(dir, e.Name(), copilotFile)
		if copilotID(file) == "" {
			continue
		}
		if x := firstLine(Copilot, file); x != nil && len(x.Dirs) > 0 && vfs.Within(root, x.Dirs[0]) {
			files = append(files, file)
		}
	}
	return files
}

// copilotID is the name of the directory.
func copilotID(file string) string {
	if id := filepath.Base(filepath.Dir(file)); filepath.Base(file) == copilotFile && IsUUID(id) {
		return id
	}
	return ""
}

// copilotPlace is in a directory beside that of another session.
func copilotPlace(folder, id string, _ time.Time) string {
	return filepath.Join(filepath.Dir(folder), id, copilotFile)
}
