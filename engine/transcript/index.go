package transcript

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// Index is what a transcript says: its lines, and how they hang together.
type Index struct {
	Agent Agent
	Lines []Line
	Size  int64 // bytes through the last complete line
	// Broken counts the complete lines that are no JSON object.
	Broken int

	Session string   // session id, as the lines say
	Parent  string   // session that this one was forked from, "" for none
	Version string   // of the client that wrote the newest event
	Title   string   // given by the person or by the agent, "" for none
	Dirs    []string // working directories, in order of appearance, at most 100

	Base     Base   // what comes before the first line
	refers   bool   // the messages before the fork are in another file
	forkedAt string // event up to which the lines are those of Parent, "" where each line says it

	byID map[string]int32
	// preserved are, by a compaction's boundary, the events before it that the model is sent behind it.
	preserved map[string][]string
	used      []bool             // by line: it is the parent of a line of the tree
	tool      map[string]int32   // tool call id: the line that makes the call
	done      map[string][]int32 // tool call id: the lines that answer it
	end       statement
	// stated says that there was an explicit statement, in force or not.
	stated bool
}

// statement is what the file itself says about the end of the conversation.
type statement struct {
	leaf     string
	explicit bool // and no event came after it
	empty    bool // explicitly nothing
}

// reader builds an Index.
type reader struct {
	*Index
	kinds *kinds
	scan  *jsonscan.Scanner
	words map[string]string
	msg   message
	block []byte

	known    int    // lines of a type that the format knows
	nameless int    // messages without an id
	version  string // of the file's format
	given    string // title by the person
	made     string // title by the agent

	turn codexTurn
	way  way // gemini
	// through are rows that are no events, and the events that they hang on (copilot).
	through map[string]string

	began time.Time // of the session, by its header: pi
}

// maxWords bounds the table of repeated strings: a hostile file has no repeats.
const maxWords = 4096

// intern returns b as a string that is shared among equal ones.
func (x *reader) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := x.words[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(x.words) < maxWords {
		x.words[s] = s
	}
	return s
}

// event returns b as a string, shared with the line that has it as its id.
func (x *reader) event(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if i, ok := x.byID[string(b)]; ok {
		return x.Lines[i].ID
	}
	return string(b)
}

// when parses a timestamp; the zero time when it is none.
func when(b []byte) time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return time.Time{}
	}
	return t
}

// Read indexes a transcript. An empty one is an empty conversation. Errors:
// *FormatError, and those of r.
func Read(agent Agent, r io.Reader) (*Index, error) {
	f, err := agent.known()
	if err != nil {
		return nil, err
	}
	x := &reader{
		Index: &Index{Agent: agent, byID: map[string]int32{}, preserved: map[string][]string{}, tool: map[string]int32{}, done: map[string][]int32{}},
		kinds: f.kinds, scan: jsonscan.Lines(r), words: map[string]string{},
	}
	s := x.scan
	for {
		at, ok := s.Line()
		if !ok {
			break
		}
		l := Line{Offset: at}
		if s.Peek() == '{' {
			s.Object()
			f.parse(x, &l)
			l.Broken = !s.Finish()
		} else {
			l.Broken = true
		}
		end, complete := s.Rest()
		if !complete {
			break
		}
		l.Length = end - at
		if l.Broken {
			l = Line{Offset: at, Length: l.Length, Broken: true}
			x.Broken++
		}
		x.Size = end
		x.add(l)
	}
	if s.ReadError() != nil {
		return nil, s.ReadError()
	}
	x.link()
	x.Title = cmp.Or(x.given, x.made)
	if f.finish != nil {
		f.finish(x)
	}
	if reason := x.strange(); reason != "" {
		return nil, &FormatError{Agent: agent, Reason: reason}
	}
	return x.Index, nil
}

// strange says why the file cannot be what it should be, "" if it can.
func (x *reader) strange() string {
	switch {
	case len(x.Lines) > 0 && x.known == 0:
		return "no line of a known kind"
	case x.nameless > 0 && len(x.byID) == 0:
		return "messages have no ids"
	case x.version != "" && x.version != "1" && x.version != "2":
		return "format version " + x.version
	}
	return ""
}

// add appends a line. Of lines with the same id the last one counts.
func (x *reader) add(l Line) {
	n := int32(len(x.Lines))
	x.Lines = append(x.Lines, l)
	if l.ID == "" {
		return
	}
	if old, ok := x.byID[l.ID]; ok {
		o := &x.Lines[old]
		o.ID, o.Prompt = "", false
		x.Lines[n].flags |= isAgain
	}
	x.byID[l.ID] = n
}

// link notes who has children, and where tool calls are made and answered.
func (x *reader) link() {
	x.used = make([]bool, len(x.Lines))
	for i := range x.Lines {
		l := &x.Lines[i]
		if !l.tree() {
			continue
		}
		if p, ok := x.byID[l.Parent]; ok && l.Parent != "" && p != int32(i) && !l.Side {
			x.used[p] = true
		}
		for _, id := range l.ToolUses {
			x.tool[id] = int32(i)
		}
		for _, id := range l.ToolResults {
			x.done[id] = append(x.done[id], int32(i))
		}
	}
}

// Leaf is the id of the last event of the conversation, "" if it is empty: the leaf that the last statement in the file
// names, if it is still valid, else the newest tip of the tree.
func (x *Index) Leaf() string {
	if x.end.empty {
		return ""
	}
	if x.end.explicit {
		if _, ok := x.byID[x.end.leaf]; ok {
			return x.end.leaf
		}
	}
	last := ""
	for i := len(x.Lines) - 1; i >= 0; i-- {
		l := &x.Lines[i]
		if !l.tree() || l.Side {
			continue
		}
		if !x.used[i] {
			return l.ID
		}
		last = cmp.Or(last, l.ID)
	}
	return last // a cycle has no tip
}

// WrittenAgain reports whether an event has been written anew behind offset.
func (x *Index) WrittenAgain(id string, offset int64) bool {
	i, ok := x.byID[id]
	return ok && x.Lines[i].is(isAgain) && x.Lines[i].Offset >= offset
}

// Number is the place of an event's line among Lines.
func (x *Index) Number(id string) (int, bool) {
	i, ok := x.byID[id]
	return int(i), ok
}

// Line returns the line of an event.
func (x *Index) Line(id string) (*Line, bool) {
	i, ok := x.byID[id]
	if !ok {
		return nil, false
	}
	return &x.Lines[i], true
}

// Chain returns the numbers of the lines from the root to leaf, along the
// parents and through compactions. A missing parent ends it, and so does one
// that was there already. The empty leaf has the empty chain.
func (x *Index) Chain(leaf string) ([]int, error) {
	if leaf == "" {
		return nil, nil
	}
	i, ok := x.byID[leaf]
	if !ok {
		return nil, &NoEventError{"event", leaf}
	}
	var chain []int
	seen := make(map[int32]bool)
	for ok && !seen[i] {
		seen[i] = true
		chain = append(chain, int(i))
		p := x.Lines[i].Parent
		if p == "" {
			break
		}
		i, ok = x.byID[p]
	}
	slices.Reverse(chain)
	return chain, nil
}
