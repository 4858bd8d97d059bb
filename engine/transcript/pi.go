package transcript

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// Pi is pi, by its package's name pi-coding-agent.
const Pi Agent = "pi"

func piFormat() format {
	return format{
		owns:     func(file string) bool { return strings.Contains(file, "/.pi/agent/sessions/") },
		session:  piSession,
		fileName: piFileName,
		folder:   piDirName,
		program:  "/pi-coding-agent/",
		kinds:    &piKinds,
		answers:  true,
		parse:    parsePi,
		command:  func(id string) []string { return []string{"pi", "--session", id} },
		keep:     func(l *Line, _, _ bool) bool { return l.Type == piHeader },
		edits:    editsPi,
		trailer:  trailerPi,
		dirs:     piDirs,
		keeps:    func(h Home) []string { return []string{piSessions(h), h.env("PI_CODING_AGENT_SESSION_DIR")} },
	}
}

// piKinds: what pi puts into a conversation has a role of its own.
var piKinds kinds

const (
	piHeader = "session"
	// piNewest is the newest version of the file that is understood. 1 had no ids.
	piNewest = "3"
)

// piDirName is the name under which pi keeps the sessions of a working directory.
func piDirName(cwd string) string {
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(cwd, `/\`)) + "--"
}

// piSessions has a directory for the sessions of each working directory.
func piSessions(h Home) string {
	return filepath.Join(cmp.Or(h.env("PI_CODING_AGENT_DIR"), filepath.Join(h.Dir, ".pi", "agent")), "sessions")
}

// piDirs are the directory's own, those of directories below it, and those of what is called alike.
func piDirs(h Home, cwd string) []string {
	return matching(piSessions(h), strings.TrimSuffix(piDirName(cwd), "--"), "-")
}

// piSession reads <time>_<id>.jsonl.
func piSession(name string) (id string, ok bool) {
	name, isFile := strings.CutSuffix(name, ".jsonl")
	when, id, ok := strings.Cut(name, "_")
	return id, ok && isFile && id != "" && strings.HasSuffix(when, "Z")
}

func piFileName(id string, now time.Time) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(stamp(now)) + "_" + id + ".jsonl"
}

// parsePi reads a line of pi. The first one is the header; all others are events of the tree, which
// hang on each other by id and parentId. The conversation ends with the last one.
func parsePi(x *reader, l *Line) {
	s := x.scan
	var id, cwd, parent, version, name, call string
	x.msg.reset()
	s.Members(func(key []byte) {
		switch string(key) {
		case "type":
			l.Type = x.intern(s.ID())
		case "id":
			id = string(s.ID())
		case "parentId":
			l.Parent = x.event(s.ID())
		case "timestamp":
			l.Time = when(s.ID())
		case "cwd":
			cwd = x.path()
		case "parentSession":
			file, _ := s.Value(maxPath)
			parent = string(file)
		case "version":
			version = s.Digits()
		case "name":
			name = x.title()
		case "message":
			call = x.readPiMessage(&x.msg)
		default:
			s.Skip()
		}
	})
	if s.Bad() {
		return
	}
	if l.Type == piHeader {
		x.known++
		x.Session, x.began, l.Parent = id, l.Time, ""
		x.Parent, _ = piSession(parent[strings.LastIndexAny(parent, `/\`)+1:])
		x.dir(cwd)
		if version > piNewest || len(version) > len(piNewest) {
			x.version = version
		}
		return
	}
	m := &x.msg
	switch l.Type {
	case "message":
		x.known++
		if id == "" {
			x.nameless++
		}
	case "session_info":
		x.known++
		x.given = name
	case "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message", "label", "usage", "context_edit":
		x.known++
	}
	l.ID, l.Role, l.ToolUses = id, m.role, m.uses
	if call != "" {
		l.Role, l.ToolResults = User, []string{call}
	}
	if x.Parent != "" && l.Time.Before(x.began) {
		l.flags |= isCopy // a fork has its origin's events as they were
	}
	if m.role == User && m.typed {
		l.Prompt, l.Text = true, string(m.text)
	}
}

// readPiMessage reads the object that is the value of "message"; call is the tool call that it answers.
func (x *reader) readPiMessage(m *message) (call string) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "role":
			x.readRole(m, "assistant")
		case "toolCallId":
			call = string(s.ID())
		case "content":
			if s.Peek() == '"' {
				x.addText(m)
				return
			}
			x.readPiBlocks(m)
		default:
			s.Skip()
		}
	})
	return call
}

func (x *reader) readPiBlocks(m *message) {
	s := x.scan
	s.Elements(func() {
		var kind, id string
		s.Inside(func(key []byte) {
			switch string(key) {
			case "type":
				kind = x.intern(s.ID())
			case "id":
				id = string(s.ID())
			case "text":
				if m.role != User {
					s.Skip()
					return
				}
				x.addText(m)
			default:
				s.Skip()
			}
		})
		switch {
		case kind == "image" && m.role == User:
			m.typed = true
		case kind == "toolCall" && id != "":
			m.uses = append(m.uses, id)
		}
	})
}

// editsPi makes the header that of a new session, which says where it comes from as pi's own forks do.
func editsPi(k *forking, i int) []edit {
	if k.x.Lines[i].Type != piHeader {
		return nil
	}
	edits := []edit{
		{key: "id", value: quote(k.id), add: true}, {key: "timestamp", value: quote(stamp(k.now)), add: true},
		{key: "parentSession", value: quote(k.file), add: true},
	}
	if k.dir != "" {
		edits = append(edits, edit{key: "cwd", value: quote(k.dir), add: true})
	}
	return edits
}

// trailerPi is the title, an event like the others.
func trailerPi(k *forking, place bool) [][]byte {
	if place {
		return nil
	}
	return [][]byte{object("type", "session_info", "id", k.id[:min(len(k.id), 8)], "parentId", k.sel.Leaf, "timestamp", stamp(k.now), "name", k.title)}
}

// PiLabels are the entries of a session of pi's that have a label now.
func PiLabels(file string) (entries []string, err error) {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	labels := map[string]bool{}
	s := jsonscan.Lines(io.NewSectionReader(f, 0, info.Size()))
	for {
		if _, ok := s.Line(); !ok {
			break
		}
		var kind, target string
		var label bool
		if s.Peek() == '{' {
			s.Inside(func(key []byte) {
				switch string(key) {
				case "type":
					kind = string(s.ID())
				case "targetId":
					target = string(s.ID())
				case "label":
					text, _ := s.Value(maxTitle)
					label = len(bytes.TrimSpace(text)) > 0
				default:
					s.Skip()
				}
			})
		}
		if kind == "label" && !s.Bad() {
			labels[target] = label
		}
		if _, complete := s.Rest(); !complete {
			break
		}
	}
	for entry, set := range labels {
		if set {
			entries = append(entries, entry)
		}
	}
	return entries, s.ReadError()
}
