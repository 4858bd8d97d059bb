package screen

import (
	"fmt"
	"slices"
	"strings"
)

// chosenParts is what is chosen of the files of a plan that are not taken whole.
type chosenParts struct {
	files map[string]*Hunks // by raw paths
	ids   map[string]bool   // of hunks
	at    int               // the hunk under the cursor
	top   int               // first line on the screen
}

// beginChoosing asks for the plan whose files are chosen from.
func (m *Picker) beginChoosing(id string) {
	m.begin(Restore, Code, id, "", "")
	m.mode, m.checked = choosing, map[string]bool{}
	m.hunks = chosenParts{files: map[string]*Hunks{}, ids: map[string]bool{}}
}

// chosenFile is the file under the cursor of those that are chosen from.
func (m *Picker) chosenFile() (f File, ok bool) {
	if m.plan == nil || len(m.plan.Files) == 0 {
		return f, false
	}
	return m.plan.Files[max(min(m.planAt, len(m.plan.Files)-1), 0)], true
}

// openHunks shows the hunks of the file under the cursor.
func (m *Picker) openHunks() {
	f, ok := m.chosenFile()
	if !ok {
		return
	}
	m.mode, m.message, m.hunks.at, m.hunks.top = choosingHunks, nil, 0, 0
	if m.hunks.files[f.Raw] == nil {
		m.ask(Ask{What: AskHunks, ID: m.target, Paths: f.Raw + "\x00"})
	}
}

func (m *Picker) takeHunks(a Answer) {
	raw := strings.TrimSuffix(a.Ask.Paths, "\x00")
	if m.mode != choosing && m.mode != choosingHunks || a.Ask.ID != m.target {
		return // they were left
	}
	if a.Hunks != nil {
		if m.hunks.files[raw] == nil {
			m.hunks.files[raw] = a.Hunks
		}
		return
	}
	if f, ok := m.chosenFile(); ok && f.Raw == raw {
		m.mode = choosing
	}
}

// hunkCount is how many hunks of a file are chosen, of how many.
func (m *Picker) hunkCount(raw string) (n, of int) {
	h := m.hunks.files[raw]
	if h == nil {
		return 0, 0
	}
	for _, p := range h.Parts {
		if m.checked[raw] || m.hunks.ids[p.ID] {
			n++
		}
	}
	return n, len(h.Parts)
}

// setFile chooses a file as a whole, or nothing of it.
func (m *Picker) setFile(raw string, on bool) {
	delete(m.checked, raw)
	if on {
		m.checked[raw] = true
	}
	if h := m.hunks.files[raw]; h != nil {
		for _, p := range h.Parts {
			delete(m.hunks.ids, p.ID)
		}
	}
}

// toggleHunk chooses a hunk, or no longer. All of them are the file.
func (m *Picker) toggleHunk(raw string, h *Hunks) {
	if len(h.Parts) == 0 {
		m.setFile(raw, !m.checked[raw])
		return
	}
	if m.checked[raw] {
		delete(m.checked, raw)
		for _, p := range h.Parts {
			m.hunks.ids[p.ID] = true
		}
	}
	id := h.Parts[m.hunks.at].ID
	if m.hunks.ids[id] {
		delete(m.hunks.ids, id)
	} else {
		m.hunks.ids[id] = true
	}
	if n, of := m.hunkCount(raw); n == of {
		m.setFile(raw, true)
	}
}

// split cuts the hunk under the cursor; its parts are chosen as it was.
func (m *Picker) split(h *Hunks) {
	if len(h.Parts) == 0 || len(h.Parts[m.hunks.at].Split) < 2 {
		m.message = Text(Plain, "this hunk cannot be split")
		return
	}
	was := h.Parts[m.hunks.at]
	if m.hunks.ids[was.ID] {
		delete(m.hunks.ids, was.ID)
		for _, p := range was.Split {
			m.hunks.ids[p.ID] = true
		}
	}
	h.Parts = slices.Replace(slices.Clone(h.Parts), m.hunks.at, m.hunks.at+1, was.Split...)
}

// hunkKey is a key while the hunks of a file are chosen.
func (m *Picker) hunkKey(k string) {
	m.message = nil
	f, ok := m.chosenFile()
	h := m.hunks.files[f.Raw]
	switch {
	case k == "q" || k == "esc" || k == "left" || k == "h" || !ok:
		m.mode = choosing
		return
	case h == nil:
		return
	}
	m.hunks.at = max(min(m.hunks.at, len(h.Parts)-1), 0)
	at := m.hunks.at
	switch k {
	case "up", "down", "k", "j", "ctrl-p", "ctrl-n", "home", "end", "g", "G":
		if len(h.Parts) == 0 { // nothing to go to, but much to read
			m.scrollHunks(k, h)
			return
		}
	}
	switch k {
	case " ":
		m.toggleHunk(f.Raw, h)
		at++
	case "a":
		n, of := m.hunkCount(f.Raw)
		m.setFile(f.Raw, n < of || of == 0 && !m.checked[f.Raw])
	case "s":
		m.split(h)
	case "enter":
		m.planChosen()
		return
	case "up", "k", "ctrl-p", "[":
		at--
	case "down", "j", "ctrl-n", "]":
		at++
	case "home", "g":
		at, m.hunks.top = 0, 0
	case "end", "G":
		at = len(h.Parts) - 1
	default:
		m.scrollHunks(k, h)
		return
	}
	m.hunks.at = max(min(at, len(h.Parts)-1), 0)
	m.showHunk(h)
}

// showHunk scrolls so that the hunk under the cursor is on the screen: all of it, or else its beginning.
func (m *Picker) showHunk(h *Hunks) {
	lines, starts := m.hunkLines("", h)
	if len(starts) == 0 {
		return
	}
	from, to := starts[m.hunks.at], len(lines)
	if m.hunks.at+1 < len(starts) {
		to = starts[m.hunks.at+1]
	}
	room := m.hunkRoom()
	if m.hunks.at == 0 {
		from = 0 // with the names above it
	}
	m.hunks.top = max(min(m.hunks.top, from), min(from, to-room))
}

// scrollHunks scrolls by pages; the cursor moves with the text.
func (m *Picker) scrollHunks(k string, h *Hunks) {
	lines, starts := m.hunkLines("", h)
	room := m.hunkRoom()
	top := max(min(m.scrolled(k, m.hunks.top), len(lines)-room), 0)
	if top == m.hunks.top {
		return
	}
	m.hunks.top = top
	for i, at := range starts {
		next := len(lines)
		if i+1 < len(starts) {
			next = starts[i+1]
		}
		if next > top { // the first that shows something
			if m.hunks.at < i || starts[m.hunks.at] >= top+room {
				m.hunks.at = i
				if at < top && i+1 < len(starts) && starts[i+1] < top+room {
					m.hunks.at = i + 1
				}
			}
			return
		}
	}
}

func (m *Picker) hunkRoom() int { return max(m.h-3, 1) }

// hunkLines are the lines of a file's hunks, and where each hunk begins.
func (m *Picker) hunkLines(raw string, h *Hunks) (out []Line, starts []int) {
	for _, l := range h.Head {
		out = append(out, append(Line{{"      ", Plain}}, l...))
	}
	for i, p := range h.Parts {
		starts = append(starts, len(out))
		for j, l := range p.Lines {
			before := "      "
			if j == 0 {
				before = "  [ ] "
				if m.checked[raw] || m.hunks.ids[p.ID] {
					before = "  [x] "
				}
			}
			if i == m.hunks.at {
				before = m.rule("┃", ">") + before[1:]
			}
			out = append(out, append(Line{{before, Bold}}, l...))
		}
	}
	return out, starts
}

// hunksView is a file's hunks, to choose from.
func (m *Picker) hunksView(w, h int) []string {
	f, _ := m.chosenFile()
	parts := m.hunks.files[f.Raw]
	if parts == nil {
		return []string{m.p.fit(Text(Dim, "  comparing the file…"), w, Plain)}
	}
	m.hunks.at = max(min(m.hunks.at, len(parts.Parts)-1), 0)
	title := "  Hunks of "
	n, of := m.hunkCount(f.Raw)
	tail := fmt.Sprintf(", as in %s: %d of %d chosen", m.numberOf(m.target), n, of)
	if of == 0 {
		title, tail = "  All or nothing of ", ": not chosen"
		if m.checked[f.Raw] {
			tail = ": chosen"
		}
	}
	head := m.p.fit(Text(Bold, title+clipLeft(f.Path, max(w-len(title)-len(tail), 8))+tail), w, Plain)
	h--
	lines, starts := m.hunkLines(f.Raw, parts)
	m.hunks.top = max(min(m.hunks.top, len(lines)-h), 0)
	at := -1
	if len(starts) > 0 {
		at = starts[m.hunks.at]
	}
	return append([]string{head}, m.window(lines, m.hunks.top, w, h, at)...)
}

// partIDs are the chosen hunks, as an Ask has them.
func (m *Picker) partIDs() string {
	var b strings.Builder
	for _, f := range m.plan.Files {
		if h := m.hunks.files[f.Raw]; h != nil {
			for _, p := range h.Parts {
				if m.hunks.ids[p.ID] {
					b.WriteString(p.ID)
					b.WriteByte(0)
				}
			}
		}
	}
	return b.String()
}

// planChosen asks for the plan of what is chosen.
func (m *Picker) planChosen() {
	paths, ids := m.chosen(), m.partIDs()
	if paths == "" && ids == "" {
		m.message = Text(Plain, "space chooses")
		return
	}
	m.begin(Restore, Code, m.target, paths, ids)
}
