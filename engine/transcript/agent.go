package transcript

import "errors"

// Agent names a client whose transcripts are understood. Its values are those
// of the hook command line and of checkpoint records.
type Agent string

const (
	Claude Agent = "claude"
	Droid  Agent = "droid"
)

// format is what is peculiar to one agent's transcripts. pi, codex, qwen and
// gemini are further rows of Agent.format.
type format struct {
	// kinds are the messages that the person did not write.
	kinds *kinds
	// parse reads one line; the scanner is at its first byte.
	parse func(x *reader, l *Line)
	// finish decides at the end of the file what needs more than one line.
	finish func(x *reader)
	// command opens a session; arguments only, to be quoted for a shell.
	command func(id string) []string
	// sides lists the other files of the session behind a transcript.
	sides func(file string) ([]Side, error)
	// keep reports whether a line outside the tree goes into a fork, or stays
	// in the file in place; past says that it lies behind the cut.
	keep func(l *Line, place, past bool) bool
	// edits are the changes of a line's members in a fork.
	edits func(k *forking, i int) []edit
	// trailer are the lines at the end of a fork, or of a file cut in place.
	trailer func(k *forking, place bool) [][]byte
	// sidecars are files of the new session beside its transcript, as
	// suffixes that replace ".jsonl", copied from the old session's.
	sidecars []string
	// dirs are the directories that hold the sessions of a working directory.
	dirs func(h Home, cwd string) []string
}

// format is the table of what is understood.
func (a Agent) format() (f format, ok bool) {
	switch a {
	case Claude:
		return claudeFormat(), true
	case Droid:
		return droidFormat(), true
	}
	return format{}, false
}

// known is format for those that cannot do without.
func (a Agent) known() (format, error) {
	f, ok := a.format()
	if !ok {
		return f, &FormatError{Agent: a, Reason: "conversations of this agent are not understood"}
	}
	return f, nil
}

// Supported reports whether conversations of the agent are understood. The
// others get code checkpoints only.
func Supported(a Agent) bool {
	_, ok := a.format()
	return ok
}

// errShort is a transcript that ends before the end that was asked for.
var errShort = errors.New("transcript is shorter than its index")
