package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// key takes one key, named as decodeKeys names them.
func (m *Picker) key(k string) Action {
	switch k {
	case "ctrl-c":
		return Interrupt
	case "ctrl-z":
		return Suspend
	}
	if text, ok := strings.CutPrefix(k, pasted); ok {
		if m.kept && m.mode == filtering {
			m.field, m.kept = nil, false
		}
		if m.mode == filtering || m.mode == naming || m.mode == sharing { // in the other modes letters are actions, and a paste is not typed
			m.typed(text)
		}
		return stay
	}
	switch m.mode {
	case filtering, naming, sharing:
		m.fieldKey(k)
	case planning:
		m.planKey(k)
	case choosing:
		m.chooseKey(k)
	case choosingHunks:
		m.hunkKey(k)
	case helping, logging:
		m.pageKey(k)
	case attempting:
		m.attemptKey(k)
	case searching:
		m.foundKey(k)
	case working:
	default:
		return m.browseKey(k)
	}
	return stay
}

// browseKey is a key in the list or beside it.
func (m *Picker) browseKey(k string) Action {
	r, ok := m.selected()
	switch k {
	case "q":
		return Quit
	case "esc":
		switch {
		case m.filter != "":
			m.setFilter("")
		case m.now:
			m.now = false
			m.moved()
		case len(m.marks) > 0:
			m.marks = nil
			m.moved()
		case m.focus != listPane:
			m.focus = listPane
		default:
			return Quit
		}
	case "/":
		m.mode, m.field, m.focus, m.message = filtering, []rune(m.filter), listPane, nil
		m.kept = m.filter != ""
	case "?":
		m.mode, m.planAt = helping, 0
	case "o":
		m.mode, m.planAt, m.log = logging, 0, nil
		m.ask(Ask{What: AskLog})
	case "F":
		m.beginFinding(Ask{What: AskFiles}) // of all files; what is typed then is a part of the path
	case "i":
		m.mode, m.planAt, m.log = logging, 0, nil
		m.ask(Ask{What: AskInfo})
	case "w":
		at := ""
		if ok && r.Is == IsCheckpoint {
			at = r.ID
		}
		m.ask(Ask{What: AskPage, ID: at})
	case "ctrl-l":
		m.forget()
		m.reload()
	case "tab":
		m.turn(1)
	case "shift-tab":
		m.turn(-1)
	case "[":
		m.toPrompt(1)
	case "]":
		m.toPrompt(-1)
	case "s":
		m.scope = (m.scope + 1) % scopes
		m.message = nil
		m.ask(Ask{What: AskRows, Scope: m.scope, ID: r.ID})
	case "d":
		m.now = !m.now
		m.moved()
	case "u", "U":
		v := Undo
		if k == "U" {
			v = Redo
		}
		m.begin(v, Both, "", "", "")
	case " ", "enter", "b", "c", "t", "f", "v", "p", "n", "a", "x":
		switch {
		case ok && r.Is == IsNow:
			m.message = Text(Plain, "that is the state that the files are in")
		case ok && r.Is == IsOperation:
			m.message = Text(Plain, "that is an operation; u takes the newest back")
		case ok:
			m.rowKey(k, r)
		}
	default:
		m.move(k)
	}
	return stay
}

// rowKey is a key that is about a checkpoint.
func (m *Picker) rowKey(k string, r Row) {
	switch k {
	case " ":
		m.mark(r.ID)
	case "enter", "b":
		m.begin(Restore, Both, r.ID, "", "")
	case "c":
		m.begin(Restore, Code, r.ID, "", "")
	case "t":
		m.begin(Restore, Conversation, r.ID, "", "")
	case "f":
		m.beginChoosing(r.ID)
	case "v":
		m.begin(Revert, Both, r.ID, "", "")
	case "a":
		m.mode, m.planAt, m.log, m.tried, m.ends = attempting, 0, nil, nil, nil
		m.ask(Ask{What: AskAttempts, ID: r.ID})
	case "x":
		m.mode, m.target, m.field, m.message = sharing, r.ID, []rune("session.html"), nil
	case "p":
		m.ask(Ask{What: AskPin, ID: r.ID})
	case "n":
		m.mode, m.target, m.field, m.message = naming, r.ID, []rune(r.Name), nil
	}
}

// mark marks a row, or no longer; of three marks the first goes.
func (m *Picker) mark(id string) {
	if i := slices.Index(m.marks, id); i >= 0 {
		m.marks = slices.Delete(slices.Clone(m.marks), i, i+1)
	} else {
		m.marks = append(slices.Clone(m.marks), id)
	}
	if len(m.marks) > 2 {
		m.marks = m.marks[1:]
	}
	m.moved()
	if len(m.marks) == 1 {
		m.message = Text(Plain, "space on another one compares the two")
	}
}

// move goes through what has the focus.
func (m *Picker) move(k string) {
	n := &m.offset[m.focus]
	first, last := 0, m.lines[m.focus]-1
	page := max(m.body(m.focus)-1, 1)
	switch m.focus {
	case listPane:
		n, last = &m.cursor, len(m.shown)-1
	case filesPane:
		n = &m.file
	case diffPane:
		last = max(m.lines[m.focus]-m.body(m.focus), 0)
	case talkPane: // its place is counted from where it begins to be shown
		first, last = -m.talk, max(m.lines[m.focus]-m.body(m.focus), 0)-m.talk
	}
	was := *n
	switch k {
	case "up", "k", "ctrl-p":
		*n--
	case "down", "j", "ctrl-n":
		*n++
	case "pageup":
		*n -= page
	case "pagedown":
		*n += page
	case "home", "g":
		*n = first
	case "end", "G":
		*n = last
	case "ctrl-d", "ctrl-u": // the diff, from wherever
		by := max(m.body(diffPane)/2, 1)
		if k == "ctrl-u" {
			by = -by
		}
		m.offset[diffPane] = max(min(m.offset[diffPane]+by, m.lines[diffPane]-m.body(diffPane)), 0)
		return
	default:
		return
	}
	*n = max(min(*n, last), first)
	if *n == was {
		return
	}
	switch m.focus {
	case listPane:
		if len(m.marks) == 2 {
			return // the comparison stays
		}
		m.moved()
	case filesPane:
		if l := m.look(); l != nil && m.file < len(l.Files) {
			m.offset[diffPane] = l.Files[m.file].At
		}
	}
}

// turn gives the focus to the next pane.
func (m *Picker) turn(by int) {
	all := []pane{listPane, filesPane, diffPane, talkPane}
	i := slices.Index(all, m.focus)
	m.focus = all[(i+by+len(all))%len(all)]
	m.message = nil
}

// toPrompt goes to the next row, in a direction, at which a turn begins.
func (m *Picker) toPrompt(by int) {
	for i := m.cursor + by; i >= 0 && i < len(m.shown); i += by {
		if m.rows.List[m.shown[i]].Prompt {
			m.cursor = i
			m.moved()
			return
		}
	}
}

// fieldKey is a key in a line that is typed.
func (m *Picker) fieldKey(k string) {
	kept := m.kept && m.mode == filtering
	m.kept = false
	switch k {
	case "enter":
		text := strings.TrimSpace(string(m.field))
		switch {
		case m.mode == naming:
			m.ask(Ask{What: AskName, ID: m.target, Text: text})
		case m.mode == sharing && text != "":
			m.ask(Ask{What: AskShare, ID: m.target, Text: text})
			m.message = Text(Dim, "writing the page of the session…")
		}
		m.mode = browsing
	case "esc":
		if m.mode == filtering {
			m.setFilter("")
		}
		m.mode = browsing
	case "tab":
		if m.mode == filtering {
			m.beginSearch()
		}
		return
	case "backspace":
		switch n := len(m.field); {
		case kept:
			m.field = nil
		case n > 0:
			m.field = m.field[:n-1]
		case m.mode == filtering:
			m.mode = browsing
		}
	case "ctrl-u":
		m.field = nil
	case "ctrl-w":
		text := strings.TrimRight(string(m.field), " ")
		m.field = []rune(text[:strings.LastIndexByte(text, ' ')+1])
	case "up", "down", "pageup", "pagedown", "home", "end", "ctrl-n", "ctrl-p":
		if m.mode == filtering {
			m.move(k)
		}
		return
	default:
		if r, n := utf8.DecodeRuneInString(k); n == len(k) && r != utf8.RuneError {
			if kept {
				m.field = nil
			}
			m.typed(k)
		}
		return
	}
	if m.mode == filtering {
		m.setFilter(string(m.field))
	}
}

// typed puts text into the field; what must not reach a screen is left out, a line's end is a space.
func (m *Picker) typed(text string) {
	const most = 200
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			r = ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && Unsafe(r) || r == utf8.RuneError:
			continue
		}
		if len(m.field) < most {
			m.field = append(m.field, r)
		}
	}
	if m.mode == filtering {
		m.setFilter(string(m.field))
	}
}

// planKey is a key while a plan is shown. Only y does it.
func (m *Picker) planKey(k string) {
	switch k {
	case "y", "Y":
		if m.plan != nil && m.plan.Question != "" {
			m.mode, m.message = working, nil
			do := m.asked(AskDo)
			do.Plan = m.plan.Token
			m.ask(do)
		}
	case "n", "N", "q", "esc":
		m.mode, m.message = browsing, nil
	case "b", "c", "t":
		h := map[string]Half{"b": Both, "c": Code, "t": Conversation}[k]
		if m.verb == Restore && m.paths+m.parts == "" && h != m.half {
			m.begin(m.verb, h, m.target, "", "")
		}
	case "g":
		if m.plan != nil && m.plan.Git {
			m.git = !m.git
			m.replan(m.verb, m.half, m.target, m.paths, m.parts)
		} else {
			m.planAt = m.scrolled(k, m.planAt)
		}
	case "f":
		if m.verb == Restore && m.plan != nil {
			m.beginChoosing(m.target)
		}
	default:
		m.planAt = m.scrolled(k, m.planAt)
	}
}

// chooseKey is a key while files are chosen.
func (m *Picker) chooseKey(k string) {
	switch k {
	case "q", "esc", "n":
		m.mode, m.message = browsing, nil
		return
	}
	if m.plan == nil || len(m.plan.Files) == 0 {
		return
	}
	m.message = nil
	files := m.plan.Files
	m.planAt = max(min(m.planAt, len(files)-1), 0)
	switch k {
	case " ":
		raw := files[m.planAt].Raw
		m.setFile(raw, !m.checked[raw])
		m.planAt = min(m.planAt+1, len(files)-1)
	case "a":
		all := len(m.checked) < len(files)
		for _, f := range files {
			m.setFile(f.Raw, all)
		}
	case "right", "l":
		m.openHunks()
	case "enter":
		m.planChosen()
	default:
		m.planAt = min(m.scrolled(k, m.planAt), len(files)-1)
	}
}

// pageKey is a key while a text fills the screen.
func (m *Picker) pageKey(k string) {
	switch k {
	case "q", "esc", "?", "o", "a", "i", "enter":
		m.mode = browsing
	default:
		m.planAt = m.scrolled(k, m.planAt)
	}
}

// scrolled is a place after a key that moves; what is too far the drawing brings back.
func (m *Picker) scrolled(k string, at int) int {
	page := max(m.h-3, 1)
	switch k {
	case "up", "k", "ctrl-p":
		at--
	case "down", "j", "ctrl-n":
		at++
	case "pageup", "ctrl-u":
		at -= page
	case "pagedown", "ctrl-d", " ":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = 1 << 30
	}
	return max(at, 0)
}
