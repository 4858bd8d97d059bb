package transcript

import (
	"bytes"
	"strings"
)

// message is what is read of a line's message: role, text, tool calls.
type message struct {
	role    Role
	id      string
	text    []byte // of all text blocks that the person can have typed
	typed   bool   // text, or an image, is there
	tagged  []byte // the first text block that looks like the client's own
	first   []byte // begin of the first text, typed or not
	results []string
	uses    []string

	visibility bool // shown to one side only
	hook       bool // row of a hook
}

func (m *message) reset() {
	*m = message{text: m.text[:0], first: m.first[:0], tagged: m.tagged[:0]}
}

// readMessage reads the object that is the value of "message".
func (x *reader) readMessage(m *message) {
	m.reset()
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "role":
			x.readRole(m, "assistant")
		case "id":
			m.id = x.intern(s.ID())
		case "visibility":
			m.visibility = s.IsSet()
		case "isUserVisible":
			m.visibility = s.Peek() == 'f' || m.visibility
			s.Skip()
		case "hiddenFromUserViews":
			m.visibility = s.IsTrue() || m.visibility
		case "hookEventName":
			m.hook = s.IsSet()
		case "content":
			m.text, m.first, m.tagged, m.typed, m.uses, m.results = m.text[:0], m.first[:0], m.tagged[:0], false, nil, nil
			switch s.Peek() {
			case '"':
				x.addText(m)
			case '[':
				x.readBlocks(m)
			default:
				s.Skip()
			}
		default:
			s.Skip()
		}
	})
}

// readRole reads who a message is of; assistant is the agent's word for the model.
func (x *reader) readRole(m *message, assistant string) {
	switch role := x.scan.ID(); string(role) {
	case "user":
		m.role = User
	case assistant:
		m.role = Assistant
	}
}

// readMember reads an object's member that is a short string; "" if there is none.
func (x *reader) readMember(name string) (value string) {
	x.scan.Inside(func(key []byte) {
		if string(key) == name {
			value = x.intern(x.scan.ID())
		} else {
			x.scan.Skip()
		}
	})
	return value
}

// path reads a path.
func (x *reader) path() string {
	path, _ := x.scan.Value(maxPath)
	return x.intern(path)
}

// title reads the title of a session.
func (x *reader) title() string {
	title, _ := x.scan.Value(maxTitle)
	return string(title)
}

// addText reads a text of a message.
func (x *reader) addText(m *message) {
	text, _ := x.scan.Value(maxPrompt)
	m.add(x.kinds, text)
}

// readBlocks reads an array of content blocks.
func (x *reader) readBlocks(m *message) {
	s := x.scan
	s.Elements(func() {
		var kind, id, use string
		x.block = x.block[:0]
		isBlock := s.Inside(func(key []byte) {
			switch string(key) {
			case "type":
				kind = x.intern(s.ID())
			case "id":
				id = string(s.ID())
			case "tool_use_id":
				use = string(s.ID())
			case "text":
				if m.role == Assistant {
					s.Skip()
					return
				}
				text, _ := s.Value(maxPrompt)
				x.block = append(x.block[:0], text...)
			default:
				s.Skip()
			}
		})
		switch {
		case !isBlock:
		case kind == "text":
			m.add(x.kinds, x.block)
		case kind == "image":
			m.typed = true
		case kind == "tool_use" && id != "":
			m.uses = append(m.uses, id)
		case kind == "tool_result":
			m.results = append(m.results, use)
		}
	})
}

// add takes a text block in.
func (m *message) add(k *kinds, text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || m.role == Assistant {
		return
	}
	if len(m.first) == 0 {
		m.first = append(m.first, text[:min(len(text), 64)]...)
	}
	if k.injected(text) {
		if len(m.tagged) == 0 {
			m.tagged = append(m.tagged, text...)
		}
		return
	}
	if len(m.text) > maxPrompt {
		return
	}
	if len(m.text) > 0 {
		m.text = append(m.text, '\n')
	}
	m.text = append(m.text, text...)
	m.typed = true
}

// Label is the first line of a prompt for lists.
func (l *Line) Label() string { return Label(l.Text) }

// Label is a prompt's first line, without the blocks that the client put into
// it, trimmed. It can hold any character; who prints it takes care of that.
func Label(text string) string {
	text = strings.TrimSpace(withoutReminders(text))
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

func withoutReminders(text string) string {
	const open, end = "<system-reminder>", "</system-reminder>"
	var b strings.Builder
	for {
		i := strings.Index(text, open)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		j := strings.Index(text[i:], end)
		if j < 0 {
			return b.String()
		}
		text = text[i+j+len(end):]
	}
	if b.Len() == 0 {
		return text
	}
	b.WriteString(text)
	return b.String()
}
