package screen

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/graph"
)

// Picker is the state of the timeline at a terminal. It knows no terminal: keys and answers go in,
// lines and questions come out.
type Picker struct {
	p     Painter
	ascii bool // draw graphs without box characters
	w, h  int

	rows   Rows
	scope  Scope
	loaded bool
	widths rowWidths
	lower  []string // of each row: what a filter is compared with
	shown  []int    // rows that match the filter
	cursor int      // in shown
	top    int      // first of shown on the screen
	filter string
	marks  []string // ids, the older mark first

	mode   mode
	field  []rune // what is being typed
	kept   bool   // it is the filter of before, which the next letter replaces
	focus  pane
	offset [panes]int // first line on the screen
	file   int        // the cursor among the files of the look
	now    bool       // compare with the working tree
	quiet  bool       // no conversation is held at the row
	talk   int        // first line of the conversation until it is scrolled
	looks  map[Ask]*Look
	order  []Ask // of looks, the oldest first

	verb    Verb
	half    Half
	git     bool   // what git has lost since returns, too
	target  string // id of the row that the plan is of
	plan    *Plan  // nil while it is made
	paths   string // chosen
	parts   string // chosen beside them
	checked map[string]bool
	hunks   chosenParts
	planAt  int // the cursor, or the first line
	log     []Line
	tried   []Tried // the attempts in log
	ends    []int   // the places of those that are chosen
	found   *Found  // nil while it is searched
	finding What    // what found is: AskSearch, AskFiles or AskBlame
	entered bool    // a file was chosen by what was typed, before found came
	query   string  // what is searched for, or the raw path of the file whose lines are shown
	goal    string  // id of the row to go to, once its rows are there
	seek    string  // raw path of the file to show of its look

	message Line  // what the last line says, nil for the keys
	asks    []Ask // to be taken by Show
	lines   map[pane]int
}

// mode is what keys mean.
type mode uint8

const (
	browsing mode = iota
	filtering
	naming
	planning
	choosing
	choosingHunks
	working
	helping
	logging
	attempting
	sharing // the file's name is typed
	searching
)

// pane is a part of the screen.
type pane uint8

const (
	listPane pane = iota
	filesPane
	diffPane
	talkPane
	panes
)

// Action is what a key asks for beyond a change of the picture.
type Action int

// Actions.
const (
	stay      Action = iota
	Quit             // leave
	Interrupt        // ctrl-c
	Suspend          // ctrl-z
)

// keptLooks bounds what is kept of rows that the cursor has left.
const keptLooks = 40

// NewPicker begins with nothing, and asks for the rows of a scope; id is of the session that the
// scope is about, or "".
func NewPicker(scope Scope, id string, p Painter, ascii bool) *Picker {
	m := &Picker{p: p, ascii: ascii, w: 80, h: 24, scope: scope, looks: map[Ask]*Look{}, lines: map[pane]int{}}
	m.ask(Ask{What: AskRows, Scope: scope, ID: id})
	return m
}

func (m *Picker) ask(a Ask) { m.asks = append(m.asks, a) }

// questions are those that came up since it was called last.
func (m *Picker) questions() []Ask {
	out := m.asks
	m.asks = nil
	return out
}

// selected is the row under the cursor.
func (m *Picker) selected() (Row, bool) {
	if m.cursor < 0 || m.cursor >= len(m.shown) {
		return Row{}, false
	}
	return m.rows.List[m.shown[m.cursor]], true
}

// row is a row by its id.
func (m *Picker) row(id string) (Row, bool) {
	if i := slices.IndexFunc(m.rows.List, func(r Row) bool { return r.ID == id }); i >= 0 {
		return m.rows.List[i], true
	}
	return Row{}, false
}

// shownAt is the place of a row among those that are shown, -1 for none.
func (m *Picker) shownAt(id string) int {
	return slices.IndexFunc(m.shown, func(n int) bool { return m.rows.List[n].ID == id })
}

// wanted is the look that the picture needs.
func (m *Picker) wanted() (Ask, bool) {
	if len(m.marks) == 2 {
		return Ask{What: AskLook, ID: m.marks[0], Other: m.marks[1]}, true
	}
	r, ok := m.selected()
	return Ask{What: AskLook, ID: r.ID, Now: m.now && r.Is == IsCheckpoint}, ok
}

// look is what is known of the row under the cursor; nil while it is not.
func (m *Picker) look() *Look {
	a, ok := m.wanted()
	if !ok {
		return &Look{}
	}
	return m.looks[a]
}

// take takes an answer in.
func (m *Picker) take(a Answer) {
	if a.Err != "" && a.Ask.What != AskLook {
		m.message = Line{{"error: ", Red}, {a.Err, Plain}}
	}
	if a.Stale { // one numbering on the screen
		m.forget()
		m.reload()
	}
	switch a.Ask.What {
	case AskRows, AskAll:
		if a.Rows != nil && a.Ask.Scope == m.scope {
			m.setRows(a.Rows, a.Ask)
		}
	case AskLook:
		l := a.Look
		if l == nil {
			l = &Look{Title: "error", Diff: []Line{{{"error: ", Red}, {a.Err, Plain}}}}
		}
		m.keepLook(a.Ask, l)
		m.showFile()
	case AskPlan:
		m.takePlan(a)
	case AskDo:
		m.takeDone(a)
	case AskPin, AskName:
		if a.Err == "" {
			m.message = Text(Plain, a.Summary)
			m.reload()
		}
	case AskPage, AskShare:
		if a.Err == "" {
			m.message = Text(Plain, a.Summary)
		}
	case AskLog, AskAttempts, AskInfo:
		m.log, m.tried = a.Log, a.Tried
	case AskNotes:
		m.note(a.Notes)
	case AskHunks:
		m.takeHunks(a)
	case AskSearch, AskFiles, AskBlame:
		m.takeFound(a)
	}
}

// uncounted asks for what the rows on the screen changed, where that was not counted.
func (m *Picker) uncounted() (Ask, bool) {
	var b strings.Builder
	for at := m.top; at < min(m.top+m.body(listPane), len(m.shown)); at++ {
		if r := &m.rows.List[m.shown[at]]; r.NoNote {
			r.NoNote = false
			b.WriteString(r.ID + "\x00")
		}
	}
	return Ask{What: AskNotes, Paths: b.String()}, b.Len() > 0
}

func (m *Picker) note(notes map[string]string) {
	for i := range m.rows.List {
		if r := &m.rows.List[i]; notes[r.ID] != "" {
			r.Note = notes[r.ID]
			m.widths.note = max(m.widths.note, min(len(r.Note), 14))
		}
	}
}

func (m *Picker) keepLook(a Ask, l *Look) {
	if _, have := m.looks[a]; !have {
		m.order = append(m.order, a)
	}
	m.looks[a] = l
	for len(m.order) > keptLooks {
		delete(m.looks, m.order[0])
		m.order = m.order[1:]
	}
}

// forget drops what was seen of a tree that is no longer as it was.
func (m *Picker) forget() {
	m.looks, m.order = map[Ask]*Look{}, nil
}

// reload asks for the rows again; what is shown stays until they come.
func (m *Picker) reload() {
	r, _ := m.selected()
	m.ask(Ask{What: AskAll, Scope: m.scope, ID: r.ID})
}

func (m *Picker) setRows(rows *Rows, a Ask) {
	was, had := m.selected()
	old := m.cursor
	m.rows, m.loaded = *rows, true
	if m.rows.Graph == nil {
		m.rows.Graph = &graph.Graph{}
	}
	m.measure()
	m.refilter()
	m.cursor = 0
	if had {
		if m.cursor = m.shownAt(was.ID); m.cursor < 0 {
			m.cursor = old
		}
	}
	m.reach(!rows.More)
	m.clamp()
	if rows.More {
		m.ask(Ask{What: AskAll, Scope: a.Scope, ID: a.ID})
	}
}

func (m *Picker) clamp() { m.cursor = max(min(m.cursor, len(m.shown)-1), 0) }

// moved is called when another row, or another comparison, is looked at.
func (m *Picker) moved() {
	m.clamp()
	m.file, m.offset[filesPane], m.offset[diffPane], m.offset[talkPane] = 0, 0, 0, 0
	m.message = nil
}

// begin asks for the plan of a verb.
func (m *Picker) begin(v Verb, h Half, id, paths, parts string) {
	m.git = false
	m.replan(v, h, id, paths, parts)
}

// replan is begin with git as it was chosen.
func (m *Picker) replan(v Verb, h Half, id, paths, parts string) {
	m.mode, m.verb, m.half, m.target, m.paths, m.parts, m.plan, m.planAt, m.message = planning, v, h, id, paths, parts, nil, 0, nil
	m.ask(m.asked(AskPlan))
}

// asked is a question about the plan that is wanted.
func (m *Picker) asked(what What) Ask {
	return Ask{What: what, Verb: m.verb, Half: m.half, Git: m.git, ID: m.target, Paths: m.paths, Parts: m.parts}
}

func (m *Picker) takePlan(a Answer) {
	if m.mode != planning && m.mode != choosing || a.Ask != m.asked(AskPlan) {
		return // of a plan that was left
	}
	m.plan = a.Plan
	if a.Plan == nil {
		m.failed(a.Err)
	}
}

// failed shows why there is no plan, or why it was not done: an error can be long.
func (m *Picker) failed(err string) {
	m.mode, m.message, m.planAt = planning, nil, 0
	m.plan = &Plan{Facts: []Line{Text(Red, "error: "+err)}}
}

func (m *Picker) takeDone(a Answer) {
	if a.Plan != nil { // the tree moved meanwhile: this is the plan now
		m.mode, m.plan, m.planAt = planning, a.Plan, 0
		m.message = Line{{a.Summary, Yellow}}
		m.forget()
		return
	}
	m.mode = browsing
	if a.Err == "" {
		m.message = Text(Bold, a.Summary)
	} else {
		m.failed(a.Err)
	}
	m.forget()
	m.marks = nil
	m.reload()
}

// chosen are the checked paths, as an Ask has them.
func (m *Picker) chosen() string {
	var b strings.Builder
	for _, f := range m.plan.Files {
		if m.checked[f.Raw] {
			b.WriteString(f.Raw)
			b.WriteByte(0)
		}
	}
	return b.String()
}
