package transcript

import (
	"os"
	"path/filepath"
	"strings"
)

// Droid is Factory's.
const Droid Agent = "droid"

func droidFormat() format {
	return format{
		owns:       func(file string) bool { return strings.Contains(file, "/.factory/sessions/") },
		folder:     droidDirName,
		home:       droidSessions,
		keeps:      func(h Home) []string { return []string{droidSessions(h)} },
		promptless: true,
		named:      true,
		kinds:      &droidKinds,
		parse:      parseDroid,
		command:    func(id string) []string { return []string{"droid", "--resume", id} },
		sides:      droidSides,
		keep:       keepDroid,
		edits:      editsDroid,
		sidecars:   []string{".settings.json"},
		dirs:       droidDirs,
	}
}

// droidKinds are those of Droid 0.215, which otherwise marks such messages by
// members of their own: see readMessage.
var droidKinds = kinds{
	tags:  []string{"system-reminder", "system-notification"},
	texts: claudeKinds.texts,
}

// droidDirName is the name under which Droid keeps the sessions of a working
// directory: only slashes become dashes.
func droidDirName(cwd string) string { return strings.ReplaceAll(cwd, "/", "-") }

func droidSessions(h Home) string { return filepath.Join(h.Dir, ".factory", "sessions") }

func droidDirs(h Home, cwd string) []string {
	return matching(droidSessions(h), droidDirName(cwd), "-")
}

func droidSides(file string) ([]Side, error) {
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl") + ".settings.json"
	if info, err := os.Lstat(filepath.Join(filepath.Dir(file), name)); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return []Side{{Name: name}}, nil
}

const droidHeader = "session_start"

// parseDroid reads a line of Droid. The first one is the header; messages hang
// on each other by id and parentId. Every run of a hook is a message too, with
// the user's role, beside the tree.
func parseDroid(x *reader, l *Line) {
	s := x.scan
	var hasParent bool
	var id, parentSession, forkedAt, title, cwd, version string
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "type":
			l.Type = x.intern(s.ID())
		case "id":
			id = string(s.ID())
		case "parentId":
			hasParent = true
			l.Parent = x.event(s.ID())
		case "parent":
			parentSession = string(s.ID())
		case "forkedAtMessageId":
			forkedAt = string(s.ID())
		case "timestamp":
			l.Time = when(s.ID())
		case "message":
			x.readMessage(&x.msg)
		case "title":
			title = x.title()
		case "version":
			version = s.Digits()
		case "cwd":
			cwd = x.path()
		default:
			s.Skip()
		}
	})
	if s.Bad() {
		return
	}
	switch l.Type {
	case droidHeader:
		x.known++
		x.Session, x.Parent, x.given, x.version, x.forkedAt = id, parentSession, title, version, forkedAt
		x.dir(cwd)
		l.Parent = ""
		return
	case "message":
		x.known++
	}
	if id == "" || l.Type != "message" && !hasParent {
		// compaction_state has an id, but no place in the tree: the newest one
		// before the cut is in force, the messages stay linked past it.
		l.Parent = ""
		return
	}
	l.ID = id
	if l.Type != "message" {
		return // unknown, but part of the way
	}
	m := &x.msg
	l.Role, l.Side = m.role, m.hook
	l.ToolUses, l.ToolResults = m.uses, m.results
	if m.role == User && !m.hook && !m.visibility && len(m.results) == 0 && m.typed {
		l.Prompt, l.Text = true, string(m.text)
		l.PromptID = id
	}
}

// keepDroid keeps the header, and before the cut the state of a compaction and
// what is unknown. The outcome
// lines of turns say nothing that the messages do not.
func keepDroid(l *Line, place, past bool) bool {
	return l.Type == droidHeader || !past && l.Type != "agent_turn_outcome"
}

// editsDroid makes the header that of a new session.
func editsDroid(k *forking, i int) []edit {
	l := &k.x.Lines[i]
	switch {
	case l.Type == droidHeader && !l.tree():
		edits := []edit{
			{key: "id", value: quote(k.id), add: true},
			{key: "title", value: quote(k.title), add: true},
			{key: "isSessionTitleManuallySet", value: []byte("true"), add: true},
			{key: "parent", value: quote(k.from), add: true},
			{key: "forkedAtMessageId", value: quote(k.sel.Leaf), add: true},
		}
		if k.dir != "" {
			edits = append(edits, edit{key: "cwd", value: quote(k.dir), add: true})
		}
		return edits
	case i == k.sel.last:
		return []edit{{key: "timestamp", value: quote(stamp(k.now)), add: false}}
	}
	return nil
}
