package screen

import (
	"context"

	"github.com/rewind-cli/rewind/engine/graph"
)

// Source answers what the picker asks. It is called beside the drawing; a look is called off when the
// cursor moves on. It gives up when ctx ends.
type Source func(ctx context.Context, a Ask) Answer

// What an Ask is for.
type What uint8

// Asks.
const (
	AskRows     What = iota // the rows of Scope, the first of them
	AskAll                  // all of them
	AskLook                 // what ID changed, or what is between ID and Other
	AskPlan                 // what Verb would do
	AskDo                   // does what Plan says
	AskPin                  // pins ID, or takes the pin away
	AskName                 // names it Text
	AskLog                  // the operations
	AskNotes                // what the rows of Paths changed, each id ended by a NUL
	AskHunks                // what a restore of the file Paths to ID changes, in parts
	AskAttempts             // the attempts at the prompt of ID
	AskPage                 // opens the page at ID, "" for the newest
	AskSearch               // the lines of all files, at all times, that have Text
	AskFiles                // all files that there ever were
	AskBlame                // the lines of the file Text at ID, with the row that wrote each
	AskInfo                 // what is not captured, and what takes the space
	AskShare                // writes the session of ID as a page to the file Text
)

// Scope is which rows are shown.
type Scope uint8

// Scopes, in the order in which s goes through them.
const (
	InProject Scope = iota
	WithSafety
	InSession // of the session of ID
	scopes
)

// Verb is what a plan is of.
type Verb uint8

// Verbs.
const (
	Restore Verb = iota
	Undo
	Redo
	Revert // takes back the turn of ID, and keeps the rest
)

// Half is what a restore moves.
type Half uint8

// Halves.
const (
	Both Half = iota
	Code
	Conversation
)

// Ask is a question of the picker. It can be compared, so that its answer can be kept.
type Ask struct {
	What  What
	Scope Scope
	ID    string // of a row
	Other string // of a row to compare ID with
	Now   bool   // compare with the working tree, not with the one before
	Verb  Verb
	Half  Half
	Git   bool   // of a restore of all files: what git has lost since returns, too
	Paths string // raw paths, each ended by a NUL; "" for all
	Parts string // ids of hunks beside them, each ended by a NUL
	Plan  int    // token of the plan
	Text  string
}

// Answer is what a Source says. Texts are escaped.
type Answer struct {
	Ask     Ask
	Err     string // what went wrong, "" for nothing
	Summary string // what was done
	Stale   bool   // more was recorded since the rows were read, so that checkpoints have other numbers
	Rows    *Rows
	Look    *Look
	Plan    *Plan  // with an Ask of AskDo: what it would be now, since the tree moved; nothing was done
	Log     []Line // operations, attempts, or what is not captured
	Tried   []Tried

	Hunks *Hunks
	Found *Found
	Notes map[string]string // by the ids of rows
}

// Rows are the rows of a scope, newest first.
type Rows struct {
	Folded int // rows without news that were left out
	List   []Row
	Graph  *graph.Graph
	Where  string // project, and session in its scope
	Total  int    // checkpoints in all
	More   bool   // List is the beginning only
}

// Row is one row of the timeline. Its JSON is that of the page.
type Row struct {
	ID     string  `json:"id"` // unlike all others: "@" is now, an operation's begins with #
	Is     RowKind `json:"-"`
	N      string  `json:"n,omitempty"` // its number, or the text in its place
	Age    string  `json:"-"`
	Why    string  `json:"why"`
	Text   string  `json:"text"`
	Note   string  `json:"note,omitempty"` // what it changed
	NoNote bool    `json:"-"`              // that was not counted: see AskNotes
	Name   string  `json:"name,omitempty"` // not escaped, for the name field
	Hidden string  `json:"-"`              // what a filter is compared with beside what is shown
	Pinned bool    `json:"pinned,omitempty"`
	Prompt bool    `json:"prompt,omitempty"` // a turn begins here
	Dim    bool    `json:"dim,omitempty"`    // not of the story: a safety checkpoint
}

// RowKind is the kind of a row.
type RowKind uint8

// Kinds of rows.
const (
	IsCheckpoint RowKind = iota
	IsNow                // the state that the files are in
	IsOperation          // a restore and its like
)

// Look is what a row is about.
type Look struct {
	Title string
	Files []File
	More  bool // there are more files than these
	Diff  []Line
	Talk  []Line // the conversation up to the end of the row's turn, not wrapped
	Here  int    // line of Talk with which the turn begins; 0: its end is what matters
}

// File is one file of a look or of a plan.
type File struct {
	Path        string // escaped
	Raw         string // not escaped
	Status      string // one letter
	Plus, Minus int
	At          int  // line of the diff at which it begins
	Directory   bool // of a plan: that is created or deleted
}

// Plan is what a verb would do.
type Plan struct {
	Token    int
	Facts    []Line
	Files    []File
	Notes    []Line // below the files
	Question string // ends with a question mark; "" where there is nothing to do
	Half     Half
	Git      bool // what git has lost since can return, too: g
}

// Found is what a search found, the oldest line of each file first.
type Found struct {
	Lines []FoundLine
	More  bool   // there are more than these
	At    string // of the lines of a file, at which time: now, in 3, after 3
}

// FoundLine is a line of a file, with the rows in which it came and went. Texts are escaped.
type FoundLine struct {
	Path, Raw string // Raw is not escaped
	Line      int
	Text      string
	Came      string // the row, in words
	CameID    string // "": only the working tree has it
	Went      string
	WentID    string // "": it is still there
}

// Hunks are what a restore of one file changes.
type Hunks struct {
	Head  []Line
	Parts []Hunk // none: the file can only be taken as a whole
}

// Hunk is a part that can be restored by itself.
type Hunk struct {
	ID    string // unlike all others, of other files too
	Lines []Line
	Split []Hunk // what it can be cut into
}
