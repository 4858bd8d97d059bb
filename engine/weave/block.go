package weave

import "github.com/rewind-cli/rewind/engine/linediff"

// Kind says what is between a block and its own steps.
type Kind uint8

const (
	Undone    Kind = iota + 1 // no later step wrote there: the own steps are taken out
	Touching                  // others wrote directly beside it: taken out all the same
	Overlap                   // a conflict: others changed or deleted own lines, or wrote between them or where they took lines away
	Ambiguous                 // a conflict: taking the steps back one after the other, newest first, gives other lines
	Held                      // a conflict: the caller wants some of the lines to stay that would go
)

// Conflict reports whether the block asks for a choice.
func (k Kind) Conflict() bool { return k >= Overlap }

// Choice is what becomes of a conflict.
type Choice uint8

const (
	Keep    Choice = iota // as it is in the newest version
	Undo                  // as before the first own step there: what others did there since goes. Of Held, only the own steps are taken out
	Markers               // both, and what the last own step left, in git's diff3 style
)

// Block is a part of a text that own steps changed. Lines are counted from 0; ends are not among them. A block
// of a conflict reaches from one unchanged line to the next; others are as narrow as what changes.
type Block struct {
	Index       int // among the blocks; the same steps give the same blocks whatever is chosen
	Kind        Kind
	Choice      Choice   // of a conflict
	Start, End  int      // lines of the newest version
	At, AtEnd   int      // lines of the result
	Removed     []string // lines of the newest version that go
	Restored    []string // lines that come back
	Before      []string // of a conflict: the lines that Undo leaves
	Own         []int    // own steps there, in order; of a step that made several versions once
	Foreign     []int    // of an overlap the steps that built on own ones, else all that came after the first own one; in order. Oldest is not among them
	lo, hi      int      // lines of the sequence that is looked at
	first, last int32    // own versions there
}

// Options of Without.
type Options struct {
	// Choose says what becomes of a conflict; nil keeps all. At, AtEnd, Removed and Restored are not known yet.
	Choose func(Block) Choice
	// Again reports whether what step back, which returned to an earlier version, brought back of own lines is its
	// own doing: own step gone, or a foreign one, had taken them away. nil: it never is.
	Again func(gone, back int) bool
	// Hold reports whether lines of a block that is no conflict so far, which would go, had better stay. nil: never.
	Hold   func(going []string) bool
	Labels linediff.Labels // of Markers: the newest version, what the last own step left, before the first
}

// Result is a text without some steps.
type Result struct {
	Lines  []string // joined they are the text
	Blocks []Block  // what was done, in order of Start
	from   []int32  // by line: that of the sequence, none for one that is in no version
	own    []int32  // the versions that were taken out
}

// Conflicts is how many of the blocks ask for a choice.
func (r Result) Conflicts() (n int) {
	for _, b := range r.Blocks {
		if b.Kind.Conflict() {
			n++
		}
	}
	return n
}
