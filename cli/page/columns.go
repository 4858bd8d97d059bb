package page

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// columnsView are many rows: a fifth of the bytes of as many single rows, made and read in a fifth of the time. A text
// that many rows have is in a table once, and rows have its index; numbers that grow or fall from row to row are their
// differences. rowsOf in timeline.js reads it.
type columnsView struct {
	Count   int          `json:"count"`
	IDs     string       `json:"ids"`     // with a space between them
	Times   []int64      `json:"times"`   // ms; each less the one before it
	Numbers []int        `json:"numbers"` // less that of the row before that has one; 0: it has none
	Flags   []int        `json:"flags"`   // of flagPrompt and its like
	Kind    []int        `json:"kind"`
	Kinds   *wordColumn  `json:"kinds"`
	Why     []int        `json:"why"`
	Whys    *wordColumn  `json:"whys"`
	Text    []int        `json:"text"`
	Texts   *wordColumn  `json:"texts"`
	Agent   []int        `json:"agent"`
	Agents  *wordColumn  `json:"agents"`
	Session []int        `json:"session"`
	Of      *wordColumn  `json:"sessions"`
	Change  []int        `json:"change"`
	Then    []int        `json:"then"` // as Change
	Changes changeColumn `json:"changes"`
	Stored  []uint64     `json:"stored"`

	Log   string         `json:"of"`    // Of all rows
	Names map[int]string `json:"names"` // by the row's place
	Git   map[int]string `json:"git"`   // likewise

	ids  strings.Builder
	time int64
	n    int
}

const (
	flagPrompt = 1 << iota
	flagDim
	flagCall
	flagPinned
	flagAfter
)

func (v *rowView) flags() (flags int) {
	for _, f := range [...]struct {
		is   bool
		flag int
	}{{v.Prompt, flagPrompt}, {v.Dim, flagDim}, {v.Call, flagCall}, {v.Pinned, flagPinned}, {v.After, flagAfter}} {
		if f.is {
			flags |= f.flag
		}
	}
	return flags
}

// wordColumn is a table of texts, each once; rows have an index into it.
type wordColumn struct {
	list []string
	at   map[string]int
}

func (w *wordColumn) MarshalJSON() ([]byte, error) { return json.Marshal(w.list) }

func (w *wordColumn) place(text string) int {
	n, ok := w.at[text]
	if !ok {
		n = len(w.list)
		w.list = append(w.list, text)
		w.at[text] = n
	}
	return n
}

func newWordColumn() *wordColumn { return &wordColumn{list: []string{}, at: map[string]int{}} }

// changeColumn are counts, each once; the first is null.
type changeColumn struct {
	list []*timeline.Counts
	at   map[timeline.Counts]int
}

func (c *changeColumn) place(n *timeline.Counts) int {
	if n == nil {
		return 0
	}
	at, ok := c.at[*n]
	if !ok {
		at = len(c.list)
		c.at[*n] = at
		c.list = append(c.list, n)
	}
	return at
}

func (c changeColumn) MarshalJSON() ([]byte, error) { return json.Marshal(c.list) }

func newColumns(rows int) *columnsView {
	return &columnsView{
		Times: make([]int64, 0, rows), Numbers: make([]int, 0, rows), Flags: make([]int, 0, rows), Kind: make([]int, 0, rows), Why: make([]int, 0, rows),
		Text: make([]int, 0, rows), Agent: make([]int, 0, rows), Session: make([]int, 0, rows), Change: make([]int, 0, rows), Then: make([]int, 0, rows), Stored: make([]uint64, 0, rows),
		Kinds: newWordColumn(), Whys: newWordColumn(), Texts: newWordColumn(), Agents: newWordColumn(), Of: newWordColumn(),
		Changes: changeColumn{list: []*timeline.Counts{nil}, at: map[timeline.Counts]int{}}, Names: map[int]string{}, Git: map[int]string{},
	}
}

// add takes the next row. r is what it was made of.
func (c *columnsView) add(v *rowView, r *timeline.Row) {
	if c.Count > 0 {
		c.ids.WriteByte(' ')
	}
	c.ids.WriteString(v.ID)
	ms := r.Time.UnixMilli()
	c.Times = append(c.Times, ms-c.time)
	c.time = ms
	step := 0
	if l := r.Checkpoint; v.N != "" && l != nil {
		step, c.n = l.N-c.n, l.N
	}
	c.Numbers = append(c.Numbers, step)
	c.Flags = append(c.Flags, v.flags())
	c.Kind, c.Why, c.Text = append(c.Kind, c.Kinds.place(v.Kind)), append(c.Why, c.Whys.place(v.Why)), append(c.Text, c.Texts.place(v.Text))
	c.Agent, c.Session = append(c.Agent, c.Agents.place(v.Agent)), append(c.Session, c.Of.place(v.Session))
	c.Stored = append(c.Stored, v.Stored)
	c.Log = cmp.Or(v.Of, c.Log)
	c.Change, c.Then = append(c.Change, c.Changes.place(v.Changes)), append(c.Then, c.Changes.place(v.Then))
	if v.Name != "" {
		c.Names[c.Count] = v.Name
	}
	if v.Git != "" {
		c.Git[c.Count] = v.Git
	}
	c.Count++
}

// encoded is a timeline with its rows as columns.
func (t *timelineView) encoded() (web.Encoded, error) {
	c := t.Columns
	c.IDs = c.ids.String()
	if t.Graph != nil { // no other list shares it
		t.Lanes = []int{}
		for i, column := range t.Graph.Column {
			if n := len(t.Lanes); i > 0 && t.Lanes[n-2] == column {
				t.Lanes[n-1]++
			} else {
				t.Lanes = append(t.Lanes, column, 1)
			}
		}
		t.Graph.Column = nil
	}
	return json.Marshal(t)
}
