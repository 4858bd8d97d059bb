package hookio

import (
	"path"
	"strings"
	"time"

	"rewind/hookio/shell"
)

// The moments at which a tier can take checkpoints: the words of the tiers'
// "moments" lists.
const (
	AtSessionStart = "session-start"
	AtPrompt       = "prompt"
	AtPreEdit      = "pre-edit"
	AtPreShell     = "pre-shell"
	AtPostShell    = "post-shell"
	AtStop         = "stop"
	AtSubagentStop = "subagent-stop"
	AtSessionEnd   = "session-end"
)

// MomentOf says which moment an event is, "" for none. Editing tools, tools of
// MCP servers and tools that we do not know are edits; after a tool only a
// shell command is a moment.
func MomentOf(e *Event) string {
	switch e.Kind {
	case SessionStart:
		return AtSessionStart
	case Prompt:
		return AtPrompt
	case Stop:
		return AtStop
	case SubagentStop:
		return AtSubagentStop
	case SessionEnd:
		return AtSessionEnd
	case PreTool:
		switch e.Tool.Class {
		case Edit, MCP, OtherTool:
			return AtPreEdit
		case Shell:
			return AtPreShell
		}
	case PostTool:
		if e.Tool.Class == Shell {
			return AtPostShell
		}
	}
	return ""
}

// Policy is what the settings say.
type Policy struct {
	Moments       []string
	Debounce      bool
	MinInterval   time.Duration
	Significance  bool
	MinChangeSize int      // characters
	CriticalFiles []string // globs, see MatchFile
}

// State is what is known of the session when an event comes.
type State struct {
	Now            time.Time
	LastCheckpoint time.Time // the session's newest; zero: none yet
	AfterRestore   bool      // nothing was captured since the last restore
	Root           string    // files below it are matched by their relative path too; may be ""
	// SizeOf gives a file's size in bytes, 0 where there is none: a tool that
	// replaces a whole file changes that much. nil: such a call always counts.
	SizeOf func(file string) int64
}

// Decision is whether to take a checkpoint. Reason is for people, in both
// cases.
type Decision struct {
	Checkpoint bool
	Moment     string
	Reason     string
}

// Decide says whether the tier takes a checkpoint at this event. Prompt
// boundaries, destructive shell commands and the first change after a restore
// are never held back.
func Decide(e *Event, p Policy, s State) Decision {
	d := Decision{Moment: MomentOf(e)}
	fires := false
	for _, m := range p.Moments {
		fires = fires || m == d.Moment
	}
	switch {
	case d.Moment == "":
		d.Reason = "not a moment for a checkpoint"
		return d
	case !fires:
		d.Reason = "the tier takes none here"
		return d
	}
	d.Checkpoint = true
	switch d.Moment {
	case AtPreEdit, AtPreShell, AtPostShell:
	default:
		d.Reason = "boundary"
		return d
	}
	if s.AfterRestore {
		d.Reason = "first change after a restore"
		return d
	}
	if e.Tool.Class == Shell && e.Kind == PreTool {
		if what := shell.Destructive(e.Tool.Command); what != "" || e.Tool.Truncated {
			d.Reason = "destructive command"
			if what != "" {
				d.Reason += ": " + what
			}
			return d
		}
	}
	if p.Debounce && !s.LastCheckpoint.IsZero() {
		// A time in the future means that the clock was set back: no reason to wait.
		if since := s.Now.Sub(s.LastCheckpoint); since >= 0 && since < p.MinInterval {
			return Decision{Moment: d.Moment, Reason: "the last checkpoint is too recent"}
		}
	}
	if p.Significance && d.Moment == AtPreEdit && !significant(e, p, s) {
		return Decision{Moment: d.Moment, Reason: "a small edit"}
	}
	d.Reason = "tool call"
	return d
}

func significant(e *Event, p Policy, s State) bool {
	t := &e.Tool
	if t.Class != Edit || t.Truncated || len(t.Files) == 0 {
		return true // what is not known to be small counts
	}
	if t.ChangedChars >= p.MinChangeSize {
		return true
	}
	for _, f := range t.Files {
		if t.WholeFile && (s.SizeOf == nil || s.SizeOf(f) >= int64(p.MinChangeSize)) {
			return true
		}
		rel := f
		if r, ok := strings.CutPrefix(f, strings.TrimSuffix(s.Root, "/")+"/"); ok && s.Root != "" {
			rel = r
		}
		for _, pattern := range p.CriticalFiles {
			if MatchFile(pattern, rel) {
				return true
			}
		}
	}
	return false
}

// MatchFile matches a path with / or \ against a glob with *, ?, [a-z] and
// {a,b}. A pattern without a slash is matched against the last component; one
// with a slash against the whole, where ** stands for any components.
func MatchFile(pattern, file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, p := range expandBraces(pattern) {
		if !strings.Contains(p, "/") {
			if ok, err := path.Match(p, path.Base(file)); ok && err == nil {
				return true
			}
			continue
		}
		if matchParts(strings.Split(strings.TrimPrefix(p, "/"), "/"), strings.Split(strings.TrimPrefix(file, "/"), "/")) {
			return true
		}
	}
	return false
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" { // else nested loops
				pattern = pattern[1:]
			}
			for i := 0; i <= len(parts); i++ {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); !ok || err != nil {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// maxBraces bounds what {a,b}{c,d}… may become, maxPattern how long a pattern
// may be: no path is longer.
const (
	maxBraces  = 256
	maxPattern = 4096
)

// expandBraces expands {a,b} as a shell does; a pattern that would become too
// many is left as it is.
func expandBraces(s string) []string {
	out := []string{s}
	if len(s) > maxPattern {
		return out
	}
	for i := 0; i < len(out); {
		before, alternatives, after, ok := cutBraces(out[i])
		if !ok {
			i++
			continue
		}
		if len(out)+len(alternatives) > maxBraces {
			return []string{s}
		}
		expanded := make([]string, 0, len(out)+len(alternatives))
		expanded = append(expanded, out[:i]...)
		for _, a := range alternatives {
			expanded = append(expanded, before+a+after)
		}
		out = append(expanded, out[i+1:]...)
	}
	return out
}

// cutBraces finds the first {…} that holds a comma at its own level.
func cutBraces(s string) (before string, alternatives []string, after string, ok bool) {
	for open := strings.IndexByte(s, '{'); open >= 0; {
		depth, start := 0, open+1
		var parts []string
		for i := open; i < len(s); i++ {
			switch s[i] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					parts = append(parts, s[start:i])
					start = i + 1
				}
			case '}':
				if depth--; depth == 0 {
					if len(parts) > 0 {
						return s[:open], append(parts, s[start:i]), s[i+1:], true
					}
					i = len(s)
				}
			}
		}
		next := strings.IndexByte(s[open+1:], '{')
		if next < 0 {
			break
		}
		open += 1 + next
	}
	return "", nil, "", false
}
