package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Agent names a client whose transcripts are understood. Its values are those
// of the hook command line and of checkpoint records.
type Agent string

// format is what is peculiar to one agent's transcripts: one function that gives
// it for each, in the file of its name. What is empty is as most agents have it.
type format struct {
	// owns reports whether a path, with slashes, is that of a transcript of this
	// agent; nil: its transcripts have no names of their own.
	owns func(file string) bool
	// session is the id in a transcript's file name, and fileName the name of a
	// new one; nil: a UUID and ".jsonl".
	session  func(name string) (id string, ok bool)
	fileName func(id string, now time.Time) string
	// place is the file of a new session beside another one's; nil: fileName in
	// the same directory.
	place func(folder, id string, now time.Time) string
	// read is the session that a file itself says to be of, where its name does
	// not have the id; nil: it does.
	read func(file string) string
	// folder is the name of the directory for the sessions of a working directory;
	// nil: it does not follow from that. below is the directory in it that has them.
	folder func(cwd string) string
	below  string
	// home is the directory that has those; nil: it is not needed.
	home func(h Home) string
	// keeps are the files and directories that the agent keeps of its sessions, see Kept.
	keeps func(h Home) []string
	// root is the working directory of a transcript by its place, folderOf where
	// those of another one lie; nil: the lines say the one, folder the other.
	root     func(file string) string
	folderOf func(file, now string) string
	// told: a hook exports the session into variables of the shells that the agent starts.
	told bool
	// promptless: the agent has runs in which no hook tells of the prompt. It is
	// taken from the transcript.
	promptless bool
	// answers: a stop is the end of one answer of the model, of which a turn has many.
	answers bool
	// named: a session's own title is its first prompt, in all its forks.
	named bool
	// opens reports that the agent opens a session with this line alone, beside
	// prompts, answers and summaries, with which each does; nil: no other.
	opens func(l *Line) bool
	// live finds the session in a list that the agent keeps of those that are
	// open; nil: it keeps none. all are the processes that can be seen.
	live func(c *RunningCheck, all map[int]*process) *Running
	// variable holds a session's id in the environment of its shells and hooks.
	variable string
	// program is a part of the path of a script that is the agent, where its
	// process is not called as the agent is.
	program string

	// kinds are the messages that the person did not write.
	kinds *kinds
	// parse reads one line; the scanner is at its first byte.
	parse func(x *reader, l *Line)
	// finish decides at the end of the file what needs more than one line; nil: nothing does.
	finish func(x *reader)
	// command opens a session; arguments only, to be quoted for a shell.
	command func(id string) []string
	// sides lists the other files of the session behind a transcript; nil: there are none.
	sides func(file string) ([]Side, error)
	// keep reports whether a line outside the tree goes into a fork, or stays
	// in the file in place; past says that it lies behind the cut.
	keep func(l *Line, place, past bool) bool
	// edits are the changes of a line's members in a fork.
	edits func(k *forking, i int) []edit
	// trailer are the lines at the end of a fork, or of a file cut in place; nil: none are added.
	trailer func(k *forking, place bool) [][]byte
	// sidecars are files of the new session beside its transcript, as
	// suffixes that replace ".jsonl", copied from the old session's.
	sidecars []string
	// whole: a conversation is its file up to an event, with all that was taken
	// back on the way, since the file says that itself.
	whole bool
	// referred: forks that the agent makes need the unchanged transcript that they came from.
	referred bool
	// dirs are the directories that hold the sessions of a working directory, and
	// of those below it; find lists the files, where that does not follow.
	dirs func(h Home, cwd string) []string
	find func(h Home, cwd string) []string
}

// formats is the table of what is understood.
func formats() []namedFormat {
	return []namedFormat{{Claude, claudeFormat}, {Droid, droidFormat}, {Codex, codexFormat}, {Qwen, qwenFormat}, {Gemini, geminiFormat}, {Copilot, copilotFormat}, {Pi, piFormat}}
}

type namedFormat struct {
	agent  Agent
	format func() format
}

// Agents lists those whose conversations are understood.
func Agents() []Agent {
	var out []Agent
	for _, f := range formats() {
		out = append(out, f.agent)
	}
	return out
}

func (a Agent) format() (f format, ok bool) {
	for _, f := range formats() {
		if f.agent == a {
			return f.format(), true
		}
	}
	return format{}, false
}

// known is format for those that cannot do without.
func (a Agent) known() (format, error) {
	f, ok := a.format()
	if !ok {
		return f, &FormatError{Agent: a, Reason: "conversations of this agent are not supported"}
	}
	return f, nil
}

// Supported reports whether conversations of the agent are understood. The
// others get code checkpoints only.
func Supported(a Agent) bool {
	_, ok := a.format()
	return ok
}

// AgentOf tells the agent from where a transcript lies; Claude where that says
// nothing.
func AgentOf(file string) Agent {
	file = filepath.ToSlash(file)
	for _, f := range formats() {
		if owns := f.format().owns; owns != nil && owns(file) {
			return f.agent
		}
	}
	return Claude
}

// Promptless reports whether the agent has runs in which no hook tells of the
// prompt: it is then the newest of the transcript.
func Promptless(a Agent) bool {
	f, _ := a.format()
	return f.promptless
}

// StopsAtAnswers reports whether the agent's stops are the ends of the model's answers, of which a turn has many: the last
// of them is the turn's.
func StopsAtAnswers(a Agent) bool {
	f, _ := a.format()
	return f.answers
}

// TitledByFirstPrompt reports whether the title that the agent gives a session,
// and all its forks, is the first prompt.
func TitledByFirstPrompt(a Agent) bool {
	f, _ := a.format()
	return f.named
}

// SessionOf is the session's id, by the name of its transcript, or by what it
// begins with where that does not have it.
func SessionOf(a Agent, file string) string {
	f, _ := a.format()
	if id, ok := f.sessionOf(file); ok {
		return id
	}
	return strings.TrimSuffix(filepath.Base(file), ".jsonl")
}

// sessionOf is the session of a transcript; ok is false for other files.
func (f *format) sessionOf(file string) (id string, ok bool) {
	if f.read != nil {
		id = f.read(file)
		return id, id != ""
	}
	name := filepath.Base(file)
	if f.session != nil {
		return f.session(name)
	}
	id, ok = strings.CutSuffix(name, ".jsonl")
	return id, ok && IsUUID(id)
}

// newFile is the transcript of a new session in a folder, or beside others there.
func (f *format) newFile(folder, id string, now time.Time) string {
	switch {
	case f.place != nil:
		return f.place(folder, id, now)
	case f.fileName != nil:
		return filepath.Join(folder, f.fileName(id, now))
	}
	return filepath.Join(folder, id+".jsonl")
}

// files lists what can be transcripts of sessions of a working directory.
func (f *format) files(h Home, cwd string) (files []string) {
	if f.find != nil {
		return f.find(h, cwd)
	}
	for _, dir := range f.dirs(h, cwd) {
		files = append(files, filesIn(filepath.Join(dir, f.below))...)
	}
	return files
}

// filesIn lists the files of a directory; none where it cannot be read.
func filesIn(dir string) (files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // gone meanwhile, or another user's
	}
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// NewFile is the transcript of a new session in a folder, or beside others there.
func NewFile(a Agent, folder, session string, now time.Time) string {
	f, _ := a.format()
	return f.newFile(folder, session, now)
}

// FreelyNamed reports whether the agent finds a session by what its transcript says,
// whatever that is called.
func FreelyNamed(a Agent) bool {
	f, _ := a.format()
	return f.read != nil
}

// Referred reports whether forks that the agent makes hold only their own
// messages, and refer to the transcript that they came from.
func Referred(a Agent) bool {
	f, _ := a.format()
	return f.referred
}

// FileOf is where the transcript of a session is in a folder, or would be. Where
// agents give a session that is gone another file's name, now is in it.
func FileOf(a Agent, folder, session string, now time.Time) string {
	f, _ := a.format()
	for _, file := range slices.Backward(filesIn(folder)) { // names begin with the time, where a session has several
		if id, ok := f.sessionOf(file); ok && id == session {
			return file
		}
	}
	return f.newFile(folder, session, now)
}

// errShort is a transcript that ends before the end that was asked for.
var errShort = errors.New("transcript is shorter than its index")
