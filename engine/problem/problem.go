package problem

import "strings"

// Problem is a path that is not in a result as it is on disk, or that is left alone, and why.
type Problem struct {
	Path   string // with "/"; "" in one that sums up what is not listed
	Code   Code
	Reason string // for people; of a stored one also what its Code is read from
	Failed bool   // it should have been done (exit code 3); the others are policy
}

// Code is the kind of a problem: what control flow goes by.
type Code uint8

// Codes. Those up to Ignored are stored in a coverage by their words.
const (
	Other    Code = iota // only its reason tells
	Late                 // of a directory: its names may be later than the checkpoint's time
	NotYet               // made after the checkpoint's time, and so not in the tree
	Vanished             // gone while it was looked at
	Torn                 // it was being written: the tree holds bytes that it may never have had
	TooLarge             // over the setting maxFileSize
	Ignored              // left out by a rule or a setting

	TargetRules  // the rules of a restore's target leave it out
	TodayRules   // today's rules leave it out
	Precious     // ignored by git and captured all the same: a restore does not delete it
	NoCoverage   // what the target left out could not be read
	TargetIsTorn // Torn in the target of a restore
	InTheWay     // what the target has cannot be put where something stands that no checkpoint holds
)

// Reasons of paths that no checkpoint can hold. Stores have them, as they have words.
const (
	Fifo       = "fifo"
	Socket     = "socket"
	Device     = "device"
	MountPoint = "mount point"
)

// words are what a coverage has for a code. Stores have them: they do not change.
var words = [...]string{Late: "late", NotYet: "not there yet", Vanished: "vanished", Torn: "torn", TooLarge: "larger than maxFileSize", Ignored: "ignored: "}

// Word is what a coverage has for the code: a reason, or how one begins (Ignored).
func (c Code) Word() string {
	if int(c) < len(words) {
		return words[c]
	}
	return ""
}

// New is a problem for which the word of its code is the reason.
func New(path string, code Code, failed bool) Problem {
	return Problem{Path: path, Code: code, Reason: code.Word(), Failed: failed}
}

// Read is a problem as a coverage or a stat cache has it: the reason tells the code.
func Read(path, reason string, failed bool) Problem {
	return Problem{Path: path, Code: codeOf(reason), Reason: reason, Failed: failed}
}

func codeOf(reason string) Code {
	if strings.HasPrefix(reason, words[Ignored]) {
		return Ignored
	}
	for c := Late; c < Ignored; c++ {
		if words[c] == reason {
			return c
		}
	}
	return Other
}

// Cause is a problem before it has a path. The zero Cause is none.
type Cause struct {
	Code Code
	Text string
}

// Says is a cause that control flow does not tell from others.
func Says(text string) Cause { return Cause{Text: text} }

// None reports whether there is nothing to say.
func (c Cause) None() bool { return c == Cause{} }

// At is the problem that the cause is for a path.
func (c Cause) At(path string, failed bool) Problem {
	return Problem{Path: path, Code: c.Code, Reason: c.Text, Failed: failed}
}
