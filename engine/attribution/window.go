package attribution

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// edge is what a line says of its time.
type edge = manifest.WindowEdge

const (
	opens         = manifest.WindowOpen
	closes        = manifest.WindowClose
	prompts       = manifest.WindowPrompt
	stops         = manifest.WindowStop
	subagentStops = manifest.WindowSubagentStop
	starts        = manifest.WindowStart
	ends          = manifest.WindowEnd
	misses        = manifest.WindowUnseen // a look that could not be taken in front of a call
)

// kind is of a window what its call can write.
type kind int

const (
	none  kind = iota // nothing: its line is a point in time alone
	edit              // what it declares
	shell             // anything
	turn              // anything: of an agent that does not tell of its calls
)

// line is what one event left.
type line struct {
	Work       // Start is its time
	seq        uint64
	edge       edge
	kind       kind
	files      []string
	background bool
	old        bool      // made from a checkpoint that has no lines
	before     time.Time // of the commit before the one that has it
}

// source is whose events follow each other.
type source struct{ agent, session, subagent string }

func (s source) main() source { return source{s.agent, s.session, ""} }

func (w *Work) source() source { return source{w.Agent, w.Session, w.Subagent} }

// unending is how long a window lasts of whose session nothing was heard any more.
const unending = time.Hour

// together is how far apart the two hooks of one event begin at most, where hooks are registered twice.
const together = time.Second

// window is a call from its first event to its last.
type window struct {
	Work
	of             source
	kind           kind
	files          []string
	opened, closed uint64 // the commits that have its lines; closed 0: it is open
	loose          bool   // the clock was set back meanwhile: its times say nothing
	background     bool
	old            bool
	missed         []string // files that could not be looked at in front of it; "" for all of them
	mixed          []string // files that it did not change alone
	failed         bool     // an edit that did nothing, as its agent reported: no work
	doubtful       bool     // its agent reports calls and their ends, and reported none: the turn may have done nothing
}

func (w *window) edits() bool { return w.kind == edit }

// ends is when the window can have written last.
func (w *window) ends() time.Time {
	t := w.End
	if t.IsZero() {
		t = w.Start.Add(unending)
	}
	if w.kind == edit {
		t = t.Add(formatting)
	}
	return t
}

// holds reports whether a change between two times lies in the window.
func (w *window) holds(first, last time.Time) bool {
	return w.loose || !last.Before(w.Start.Add(-early)) && !first.After(w.ends())
}

// names reports whether the call declares the path: a command, also by a directory above it.
func (w *window) names(path string) bool {
	for _, f := range w.files {
		if f == path || w.kind == shell && f != "" && strings.HasPrefix(path, f) && path[len(f)] == '/' {
			return true
		}
	}
	return false
}

// speaksOf reports whether a command line has the name of a directory in it: it may have run there.
func (w *window) speaksOf(dir string) bool {
	return w.kind == shell && strings.Contains(w.Summary, dir)
}

// missing reports whether the look at a path in front of the call could not be taken.
func (w *window) missing(path string) bool {
	return slices.Contains(w.missed, "") || slices.Contains(w.missed, path)
}

// begunBy reports whether the window is the call, or the turn, that a checkpoint was taken in front of.
func (w *window) begunBy(o *Work, seq uint64) bool {
	return w.of == o.source() && w.Tool == o.Tool && w.Call == o.Call && (w.Call != "" || w.opened == seq)
}

// sameTurn reports whether two calls were made for one prompt of a session, by whichever of its agents.
func (w *window) sameTurn(o *window) bool {
	return w.of.main() == o.of.main() && w.PromptID == o.PromptID && w.Prompt == o.Prompt
}

func (w *window) end(l line, loose bool) {
	w.End, w.closed = l.Start, l.seq
	w.loose = w.loose || loose || w.End.Before(w.Start)
}

// reachOf is for each of some windows, in the order in which they opened, the last commit that one of
// those up to it was open in.
func reachOf(windows []*window) []uint64 {
	reach := make([]uint64, len(windows))
	var far uint64
	for i, w := range windows {
		if w.closed == 0 {
			far = math.MaxUint64
		}
		far = max(far, w.closed)
		reach[i] = far
	}
	return reach
}

// lineOf makes a line of a checkpoint that has none: an older program took it.
func lineOf(c *manifest.Checkpoint) (line, bool) {
	l := line{Work: Work{Agent: c.Agent, Session: c.Session, Subagent: c.Subagent, PromptID: c.PromptID, Prompt: c.Prompt,
		Tool: c.Tool, Call: c.ToolUseID, Summary: c.ToolSummary, Start: c.Time}, seq: c.Seq, old: true}
	switch c.Kind {
	case manifest.PreTool:
		l.edge = opens
		l.kind, l.files = oldCall(c)
	case manifest.PostTool:
		l.edge = closes
		l.kind, l.files = oldCall(c)
	case manifest.Prompt:
		l.edge = prompts
	case manifest.Stop:
		if l.edge = stops; c.Subagent != "" {
			l.edge = subagentStops
		}
	case manifest.SessionEnd:
		l.edge = ends
	case manifest.SessionStart:
		if l.edge = starts; c.Prompt != "" {
			l.edge = prompts
		}
	default:
		return l, false
	}
	return l, c.Session != "" || c.Agent != ""
}

// oldCall says what a call could write of which only tool and summary are known.
func oldCall(c *manifest.Checkpoint) (kind, []string) {
	tool := strings.ToLower(c.Tool)
	for _, name := range []string{"edit", "write", "patch", "replace", "create"} {
		if strings.Contains(tool, name) && c.ToolSummary != "" && !strings.HasSuffix(c.ToolSummary, "…") {
			return edit, strings.Split(c.ToolSummary, ", ")
		}
	}
	return shell, nil
}
