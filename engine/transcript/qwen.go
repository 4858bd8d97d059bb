package transcript

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Qwen is Qwen Code.
const Qwen Agent = "qwen"

func qwenFormat() format {
	return format{
		owns: func(file string) bool {
			return path.Base(path.Dir(file)) == "chats" && !strings.HasPrefix(path.Base(file), geminiPrefix)
		},
		folder:   ClaudeDirName,
		below:    "chats",
		variable: "QWEN_CODE_SESSION_ID",
		dirs:     qwenDirs,
		keeps:    func(h Home) []string { return in(qwenHome(h), "projects", "tmp", "history", "todos") },
		kinds:    &qwenKinds,
		parse:    parseQwen,
		command:  func(id string) []string { return []string{"qwen", "--resume", id} },
		keep:     func(*Line, bool, bool) bool { return false },
		edits:    editsQwen,
		trailer:  trailerQwen,
	}
}

// qwenKinds are those of Qwen Code 0.24, which marks such messages itself.
var qwenKinds = kinds{tags: []string{"system-reminder"}}

// qwenHome is the client's own directory.
func qwenHome(h Home) string { return cmp.Or(h.env("QWEN_HOME"), filepath.Join(h.Dir, ".qwen")) }

func qwenDirs(h Home, cwd string) []string {
	projects := filepath.Join(qwenHome(h), "projects")
	name := ClaudeDirName(cwd)
	if len(name) > claudeNameLimit {
		return matching(projects, name[:claudeNameLimit], "")
	}
	return matching(projects, name, "-")
}

// parseQwen reads a line of Qwen Code. Every line is an event: it hangs on the
// one before by uuid and parentUuid, what the client notes for itself too.
func parseQwen(x *reader, l *Line) {
	s := x.scan
	var provenance, subtype, session, cwd, version, title, forkedFrom string
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "type":
			l.Type = x.intern(s.ID())
		case "subtype":
			subtype = x.intern(s.ID())
		case "provenance":
			provenance = x.intern(s.ID())
		case "uuid":
			l.ID = string(s.ID())
		case "parentUuid":
			l.Parent = x.event(s.ID())
		case "sessionId":
			session = x.intern(s.ID())
		case "timestamp":
			l.Time = when(s.ID())
		case "cwd":
			cwd = x.path()
		case "version":
			version = x.intern(s.ID())
		case "message":
			x.readPartsMessage(&x.msg)
		case "systemPayload":
			title = x.readMember("customTitle")
		case "forkedFrom":
			forkedFrom = x.readMember("sessionId")
		default:
			s.Skip()
		}
	})
	if s.Bad() || l.ID == "" {
		return
	}
	switch l.Type {
	case "user", "assistant", "tool_result", "system":
		x.known++
	}
	if session != "" {
		x.Session = session
	}
	if version != "" {
		x.Version = version
	}
	x.dir(cwd)
	if forkedFrom != "" {
		x.Parent = forkedFrom
		l.flags |= isCopy
	}
	m := &x.msg
	switch {
	case l.Type == "user" || l.Type == "tool_result":
		l.Role = User
	case l.Type == "assistant":
		l.Role = Assistant
	case subtype == "custom_title" && title != "":
		x.given = title
	case subtype == "chat_compression":
		l.flags |= isSummary // what it holds is what the model gets from then on
	}
	l.ToolUses, l.ToolResults = m.uses, m.results
	// A message that was typed into a running turn, or that the client made, has a subtype.
	if l.Type == "user" && subtype == "" && (provenance == "" || provenance == "real_user") && len(m.results) == 0 && m.typed {
		l.Prompt, l.Text = true, string(m.text)
	}
}

// editsQwen gives a line to the new session, as the client's own fork does.
func editsQwen(k *forking, i int) []edit {
	from := object("sessionId", k.from, "messageUuid", k.x.Lines[i].ID)
	edits := []edit{{key: "sessionId", value: quote(k.id), add: true}, {key: "forkedFrom", value: from, add: true}}
	if k.dir != "" { // a session is refused where another directory's name is on it
		edits = append(edits, edit{key: "cwd", value: quote(k.dir)})
	}
	return edits
}

// trailerQwen is the title, an event like the others.
func trailerQwen(k *forking, place bool) [][]byte {
	if place {
		return nil
	}
	event := object("uuid", newUUID(), "parentUuid", k.sel.Leaf, "sessionId", k.id, "timestamp", stamp(k.now), "type", "system",
		"subtype", "custom_title", "cwd", k.workingDir(), "version", k.x.Version)
	title := object("customTitle", k.title, "titleSource", "manual")
	return [][]byte{slices.Concat(event[:len(event)-1], []byte(`,"systemPayload":`), title, []byte("}"))}
}
