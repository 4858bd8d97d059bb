package transcript

// readParts reads the content of a message of Gemini CLI or Qwen Code: a text,
// a part, or a list of parts.
func (x *reader) readParts(m *message) {
	s := x.scan
	switch s.Peek() {
	case '"':
		x.addText(m)
	case '[':
		s.Elements(func() { x.readPart(m) })
	default:
		x.readPart(m)
	}
}

func (x *reader) readPart(m *message) {
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "text":
			if m.role == Assistant {
				s.Skip()
				return
			}
			x.addText(m)
		case "inlineData", "fileData":
			m.typed = s.IsSet() || m.typed
		case "functionCall":
			if id := x.readMember("id"); id != "" {
				m.uses = append(m.uses, id)
			}
		case "functionResponse":
			m.results = append(m.results, x.readMember("id"))
		default:
			s.Skip()
		}
	})
}

// readPartsMessage reads the object that is the value of "message": a role, and parts.
func (x *reader) readPartsMessage(m *message) {
	m.reset()
	s := x.scan
	s.Inside(func(key []byte) {
		switch string(key) {
		case "role":
			x.readRole(m, "model")
		case "parts":
			x.readParts(m)
		default:
			s.Skip()
		}
	})
}
