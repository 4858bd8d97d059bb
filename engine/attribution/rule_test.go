package attribution

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// clock is a time of the tests: seconds, and a fraction that no coarse file system would give.
func clock(s string) time.Time {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return time.Unix(1_800_000_000, 123_456).Add(time.Duration(f*1000) * time.Millisecond)
}

var lineForm = regexp.MustCompile(`^(\w+?)(?:/(\w+))?([-+>.!?^~])(\w*)(?:#(\w+))?(?:\(([^)]*)\))?(&?)@([\d.]+)$`)

// window reads a line: "a+Bash#1(f,g)&@5" is session a's shell call 1, which names f and g and stays in the
// background, beginning at 5 s; "a/s-Edit(f)@6" is the end of subagent s's edit; > is a prompt, . a stop, ! a
// session's end, ^ its start, ~ that lines were left out.
func windowOf(t *testing.T, text string) manifest.Window {
	m := lineForm.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("what is %q?", text)
	}
	agent := "x"
	if strings.HasPrefix(m[1], "g") {
		agent = "generic"
	}
	w := manifest.Window{Agent: agent, Session: m[1], Subagent: m[2], Tool: m[4], Call: m[5], Background: m[7] != "", Time: clock(m[8])}
	if m[6] != "" {
		w.Files = strings.Split(m[6], ",")
	}
	switch w.Tool {
	case "Edit", "Write":
		w.Class = manifest.WindowEdit
	case "Bash":
		w.Class = manifest.WindowShell
	case "mcp":
		w.Class = manifest.WindowOther
	}
	switch m[3] {
	case "+":
		w.Edge = manifest.WindowOpen
	case "-":
		w.Edge = manifest.WindowClose
	case ">":
		w.Edge, w.PromptID, w.Tool = manifest.WindowPrompt, m[4], ""
	case "?":
		w.Edge = manifest.WindowUnseen
	case ".":
		if w.Edge = manifest.WindowStop; w.Subagent != "" {
			w.Edge = manifest.WindowSubagentStop
		}
	case "!":
		w.Edge = manifest.WindowEnd
	case "^":
		w.Edge = manifest.WindowStart
	case "~":
		w.Edge = manifest.WindowLost
	}
	return w
}

// checkpointOf reads "10 pre#1: lines… | f=7.5 g=8": a checkpoint at 10 s, before call 1, with the lines that it
// took along and the times of what changed. "10 removed:" is one of which those before it were removed, and
// "10 pre a+Bash#1:" one before session a's call 1, whose line it need not have.
func checkpointOf(t *testing.T, seq uint64, text string) *point {
	head, rest, _ := strings.Cut(text, ":")
	lines, changed, _ := strings.Cut(rest, "|")
	at, kind, _ := strings.Cut(head, " ")
	c := &manifest.Checkpoint{Seq: seq, Time: clock(at), Kind: manifest.Manual}
	var windows []manifest.Window
	for _, l := range strings.Fields(lines) {
		windows = append(windows, windowOf(t, l))
	}
	if kind == "removed" {
		c.Parent = manifest.CheckpointID{1}
	}
	if name, call, ok := strings.Cut(kind, " "); ok {
		w := windowOf(t, call+"@0")
		c.Kind = map[string]manifest.CheckpointKind{"pre": manifest.PreTool, "post": manifest.PostTool}[name]
		c.Agent, c.Session, c.Tool, c.ToolUseID = w.Agent, w.Session, w.Tool, w.Call
	} else if name, call, ok := strings.Cut(kind, "#"); ok {
		c.Kind = map[string]manifest.CheckpointKind{"pre": manifest.PreTool, "post": manifest.PostTool, "prompt": manifest.Prompt}[name]
		if name != "prompt" {
			c.ToolUseID = call
		}
		for _, w := range windows {
			if w.Call == call || name == "prompt" {
				c.Agent, c.Session, c.Subagent, c.Tool = w.Agent, w.Session, w.Subagent, w.Tool
			}
		}
	}
	c.Windows = string(manifest.AppendWindows(nil, windows))
	var list []manifest.Changed
	for _, f := range strings.Fields(changed) {
		path, at, _ := strings.Cut(f, "=")
		when := clock(strings.TrimSuffix(at, "s"))
		if strings.HasSuffix(at, "s") {
			when = when.Truncate(coarse)
		}
		list = append(list, manifest.Changed{Path: path, At: when})
	}
	c.Changed = string(manifest.AppendChanged(nil, list))
	return &point{seq: seq, time: c.Time, c: c}
}

// says is an owner in a line.
func says(o Owner) string {
	name := func(w *Work) string {
		s := w.Session
		if w.Subagent != "" {
			s += "/" + w.Subagent
		}
		if w.Tool != "" {
			s += " " + w.Tool
		}
		if w.Call != "" {
			s += "#" + w.Call
		}
		return s
	}
	var parts []string
	if o.By != nil {
		parts = append(parts, name(o.By))
	} else {
		parts = append(parts, "you")
	}
	for _, w := range o.Also {
		parts = append(parts, name(w))
	}
	if o.AlsoOutside && o.By != nil {
		parts = append(parts, "you")
	}
	return fmt.Sprintf("%s: %s", o.Class, strings.Join(parts, " or "))
}

func TestRule(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []string
		gone bool // f is
		want string
	}{
		{"nobody was at work", []string{"0:", "10: | f=5"}, false, "outside: you"},
		{"an edit", []string{"0:", "10: a+Edit#1(f)@4 a-Edit#1(f)@6 | f=5"}, false, "declared: a Edit#1"},
		{"an edit of another path", []string{"0:", "10: a+Edit#1(g)@4 a-Edit#1(g)@6 | f=5"}, false, "outside: you"},
		{"a shell", []string{"0:", "10: a+Bash#1@4 a-Bash#1@6 | f=5"}, false, "shell: a Bash#1 or you"},
		{"a shell that names it", []string{"0:", "4 pre#1: a+Bash#1(f)@4", "10: a-Bash#1(f)@5 | f=5"}, false, "declared: a Bash#1"},
		{"a shell that names what is above it", []string{"0:", "4 pre#1: a+Bash#1(d)@4", "10: a-Bash#1@5 | d/f=5"}, false, "declared: a Bash#1"},
		{"a shell that names it, and runs on: you may have saved it meanwhile", []string{"0:", "4 pre#1: a+Bash#1(f)@4", "10: a-Bash#1(f)@5.1 | f=5"}, false, "shell: a Bash#1 or you"},
		{"a shell that names it, and nobody looked before it", []string{"0:", "10: a+Bash#1(f)@4 a-Bash#1(f)@5 | f=5"}, false, "shell: a Bash#1 or you"},
		{"a shell that names it, in another's", []string{"0:", "10: b+Bash#2(f)@4 a+Bash#1(f)@4 a-Bash#1(f)@9 b-Bash#2(f)@9 | f=5"}, false, "shared: a Bash#1 or b Bash#2 or you"},
		{"an edit names no directory", []string{"0:", "10: a+Edit#1(d)@4 a-Edit#1@6 | d/f=5"}, false, "outside: you"},
		{"another's tool", []string{"0:", "10: a+mcp#1@4 a-mcp#1@6 | f=5"}, false, "shell: a mcp#1 or you"},
		{"after the shell", []string{"0:", "10: a+Bash#1@4 a-Bash#1@6 | f=7"}, false, "shared: you or a Bash#1"},
		{"after the shell, with a look between", []string{"0:", "6 post#1: a+Bash#1@4 a-Bash#1@6", "10: | f=7"}, false, "outside: you"},
		{"before the shell", []string{"0:", "10: a+Bash#1@4 a-Bash#1@6 | f=3"}, false, "outside: you"},
		{"the tick before the shell", []string{"0:", "10: a+Bash#1@4 a-Bash#1@6 | f=3.995"}, false, "shell: a Bash#1 or you"},
		{"the call that the checkpoint is in front of", []string{"0:", "10 pre#1: a+Bash#1@9.9"}, false, "outside: you"},
		{"formatter", []string{"0:", "10: a+Edit#1(f)@4 a-Edit#1(f)@6 | f=6.9"}, false, "shell: a Edit#1 or you"},
		{"later than a formatter", []string{"0:", "10: a+Edit#1(f)@4 a-Edit#1(f)@6 | f=7.2"}, false, "shared: you or a Edit#1"},
		{"shells of two at once", []string{"0:", "10: a+Bash#1@4 b+Bash#2@5 a-Bash#1@7 b-Bash#2@8 | f=6"}, false, "shared: b Bash#2 or a Bash#1 or you"},
		{"a shell of another is open, and only one holds it", []string{"0:", "10: a+Bash#1@4 a-Bash#1@5 b+Bash#2@6 b-Bash#2@8 | f=7"}, false, "shared: b Bash#2 or a Bash#1 or you"},
		{"an edit beside another's shell", []string{"0:", "10: a+Bash#1@4 b+Edit#2(f)@5 b-Edit#2(f)@6 a-Bash#1@8 | f=5.5"}, false, "shared: b Edit#2 or a Bash#1 or you"},
		{"two edits of one path", []string{"0:", "10: a+Edit#1(f)@4 b+Edit#2(f)@4.5 a-Edit#1(f)@5 b-Edit#2(f)@5.5 | f=5.2"}, false, "shared: b Edit#2 or a Edit#1"},
		{"parallel calls", []string{"0:", "10: a+Bash#1@4 a+Bash#2@5 a-Bash#1@7 a-Bash#2@8 | f=6"}, false, "shell: a Bash#2 or a Bash#1 or you"},
		{"parallel calls, one of which ended", []string{"0:", "3: a+Bash#0@1 a-Bash#0@2", "10: a+Bash#1@4 a+Edit#2(f)@5 a-Edit#2(f)@6 | f=8.5"}, false, "shell: a Bash#1 or a Edit#2 or you"},
		{"a subagent's edit in its parent's call", []string{"0:", "10: a+Task#1@3 a/s+Edit#2(f)@4 a/s-Edit#2(f)@5 a-Task#1@6 | f=4.5"}, false, "declared: a/s Edit#2"},
		{"a subagent's shell beside its parent's", []string{"0:", "10: a+Bash#1@3 a/s+Bash#2@4 a/s-Bash#2@5 a-Bash#1@6 | f=4.5"}, false, "shell: a/s Bash#2 or a Bash#1 or you"},
		{"Esc: the next prompt ends it", []string{"0:", "20: a>p@1 a+Bash#1@4 a>q@8 | f=9"}, false, "shared: you or a Bash#1"},
		{"Esc, and a look", []string{"0:", "8: a>p@1 a+Bash#1@4 a>q@8", "20: | f=9"}, false, "outside: you"},
		{"a late end counts, in spite of the session's next event", []string{"0:", "20: a+Bash#1@4 a+Bash#2@5 a-Bash#2@6 a-Bash#1@10 | f=9"}, false, "shell: a Bash#1 or a Bash#2 or you"},
		{"crash: nothing was heard any more", []string{"0:", "3: a+Bash#1@2", "9: | f=8"}, false, "shell: a Bash#1 or you"},
		{"crash, long ago", []string{"0:", "3: a+Bash#1@2", "9000:", "9010: | f=9005"}, false, "outside: you"},
		{"resumed after a crash", []string{"0:", "3: a+Bash#1@2", "9: a^@5", "12: | f=10"}, false, "outside: you"},
		{"a stop", []string{"0:", "5: a+Bash#1@2 a.@5", "9: | f=8"}, false, "outside: you"},
		{"a server in the background", []string{"0:", "5: a+Bash#1&@2 a-Bash#1&@3 a.@5", "20: | f=8"}, false, "shell: a Bash#1 or you"},
		{"a server after its session's end", []string{"0:", "5: a+Bash#1&@2 a-Bash#1&@3 a.@5", "8: a!@7", "20: | f=10"}, false, "outside: you"},
		{"a subagent's stop leaves its parent's call", []string{"0:", "9: a+Task#1@1 a+Bash#3@2 a/s+Bash#2@3 a/s.@4", "20: | f=12"}, false, "shell: a Bash#3 or you"},
		{"one session in two clients", []string{"0:", "20: a+Bash#1@2 a^@4 a>q@5 a+Edit#2(g)@6 a-Edit#2(g)@7 a-Bash#1@9 | f=8"}, false, "shell: a Bash#1 or you"},
		{"no end is told of this tool: the next call ends it", []string{"0:", "20: a+mcp#1@2 a+Edit#2(g)@5 a-Edit#2(g)@6 | f=5.5"}, false, "shared: you or a mcp#1"},
		{"an end without a beginning", []string{"0:", "20: a>p@1 a-Bash#1@6 | f=5"}, false, "shell: a Bash#1 or you"},
		{"no times: one shell", []string{"0:", "20: a+Bash#1@2 a-Bash#1@4"}, false, "shell: a Bash#1 or you"},
		{"no times: an edit", []string{"0:", "20: a+Edit#1(f)@2 a-Edit#1(f)@4"}, false, "declared: a Edit#1 or you"},
		{"no times: two", []string{"0:", "20: a+Bash#1@2 a-Bash#1@4 b+Bash#2@6 b-Bash#2@7"}, false, "shared: b Bash#2 or a Bash#1 or you"},
		{"a time from the future", []string{"0:", "20: a+Bash#1@2 a-Bash#1@4 | f=7000"}, false, "shell: a Bash#1 or you"},
		{"a time from before: it was moved here", []string{"0:", "20: a+Bash#1@2 a-Bash#1@4 | f=0.5", "30: b+Bash#2@22 b-Bash#2@24 | f=0.7"}, false, "shell: b Bash#2 or you"},
		{"with its directory", []string{"0:", "30: a+Bash#1@5 a-Bash#1@7 b+Bash#2@22 b-Bash#2@24 | d=6", "40: b+Bash#3@31 b-Bash#3@33 | d=35 d/f=1"}, false, "shared: you or b Bash#3"},
		{"two seconds are one time", []string{"0:", "20: a+Bash#1@5.5 a-Bash#1@7 | f=5.9s"}, false, "shell: a Bash#1 or you"},
		{"the clock was set back", []string{"100:", "110: a+Bash#1@104 a-Bash#1@6 | f=5"}, false, "shell: a Bash#1 or you"},
		{"the clock was set back before", []string{"100:", "101: a+Bash#1@6 a-Bash#1@8", "102: b+Bash#2@9 b-Bash#2@12 | f=10"}, false, "shell: b Bash#2 or you"},
		{"a deletion", []string{"0:", "20: a+Bash#1@5 a-Bash#1@7 | f=6"}, true, "shell: a Bash#1 or you"},
		{"a deletion that is named", []string{"0:", "5 pre#1: a+Bash#1(f)@5", "20: a-Bash#1@6 | f=6"}, true, "declared: a Bash#1"},
		{"a deletion, then the directory changed again", []string{"0:", "20: a+Bash#1@5 a-Bash#1@7 | f=9"}, true, "shared: you or a Bash#1"},
		{"several deletions in one directory", []string{"0:", "20: a+Bash#1@5 a-Bash#1@7 b+Bash#2@8 b-Bash#2@9 | f=8.5"}, true, "shared: b Bash#2 or a Bash#1 or you"},
		{"a deletion that is named, then an edit beside it", []string{"0:", "4 pre#1: a+Bash#1(f)@4", "20: a-Bash#1(f)@5 a+Write#2(g)@8 a-Write#2(g)@9 | f=8.5 g=8.5"}, true, "declared: a Bash#1 or you"},
		{"and another command after it", []string{"0:", "20: a+Bash#1(f)@4 a-Bash#1(f)@5 a+Bash#2@6 a-Bash#2@7 a+Write#3(g)@8 a-Write#3(g)@9 | f=8.5 g=8.5"}, true, "declared: a Bash#1 or a Bash#2 or you"},
		{"another's command", []string{"0:", "20: a+Bash#1(f)@4 a-Bash#1(f)@5 b+Bash#2@6 b-Bash#2@7 a+Write#3(g)@8 a-Write#3(g)@9 | f=8.5 g=8.5"}, true, "shared: a Bash#1 or b Bash#2 or you"},
		{"another's edit beside it", []string{"0:", "20: a+Bash#1(f)@4 a-Bash#1(f)@5 b+Write#2(g)@8 b-Write#2(g)@9 | f=8.5 g=8.5"}, true, "declared: a Bash#1 or you"},
		{"a deletion, then an edit beside it: it may have gone between them", []string{"0:", "20: a+Bash#1@4 a-Bash#1@5 a+Write#2(g)@8 a-Write#2(g)@9 | f=8.5 g=8.5"}, true, "shared: a Bash#1 or you"},
		{"an edit that made directories beside it", []string{"0:", "20: a+Bash#1(f)@4 a-Bash#1(f)@5 a+Write#2(d/e/g)@8 a-Write#2(d/e/g)@9 | f=8.5 d=8.5"}, true, "declared: a Bash#1 or you"},
		{"an edit, then you changed the directory", []string{"0:", "20: a+Bash#1(f)@4 a-Bash#1(f)@5 a+Write#2(g)@8 a-Write#2(g)@9 | f=9.5 g=8.5"}, true, "shared: you or a Bash#1"},
		{"a command after the edit", []string{"0:", "20: a+Write#2(g)@8 a-Write#2(g)@9 a+Bash#1(f)@10 a-Bash#1(f)@11 | f=8.5 g=8.5"}, true, "outside: you"},
		{"an edit alone", []string{"0:", "20: a+Write#2(g)@8 a-Write#2(g)@9 | f=8.5 g=8.5"}, true, "outside: you"},
		{"a script's turn, then an edit beside it", []string{"0:", "20: g>p@2 g.@6 a+Write#2(g)@8 a-Write#2(g)@9 | f=8.5 g=8.5"}, true, "shared: g or you"},
		{"one line twice, as a crash leaves it", []string{"0:", "6: a+Bash#1@4 a-Bash#1@6", "20: a+Bash#1@4 | f=8"}, false, "outside: you"},
		{"a script that tells of no calls: the turn", []string{"0:", "20: g>p@2 g.@9 | f=8"}, false, "shell: g or you"},
		{"a turn of talk, the first of all", []string{"0:", "20: a>p@2 a.@9 | f=8"}, false, "shared: a or you"},
		{"its agent tells of calls, and this session of none", []string{"0:", "1: b>p@0.1 b+Bash#1@0.3 b-Bash#1@0.4 b.@0.5", "20: a>p@2 a.@9 | f=8"}, false, "shared: a or you"},
		{"an edit that was refused, then made by hand", []string{"0:", "20: a>p@1 a+Edit#1(g)@2 a-Edit#1(g)@3 a+Edit#2(f)@4 a>q@9 | f=7"}, false, "shared: a Edit#2 or you"},
		{"an edit of a script that tells of no ends", []string{"0:", "20: g>p@1 g+Edit#2(f)@4 g>q@9 | f=7"}, false, "declared: g Edit#2"},
		{"an edit that was refused, the first of all", []string{"0:", "20: a>p@1 a+Edit#2(f)@4 a>q@9 | f=7"}, false, "shared: a Edit#2 or you"},
		{"an edit whose end comes late", []string{"0:", "20: a+Edit#1(g)@2 a-Edit#1(g)@3 a+Edit#2(f)@4 a>q@6 a-Edit#2(f)@9 | f=7"}, false, "declared: a Edit#2"},
		{"somebody tells of calls, and of none", []string{"0:", "20: a>p@2 a+Edit#1(g)@3 a-Edit#1(g)@4 a.@9 | f=8"}, false, "outside: you"},
		{"between two turns", []string{"0:", "5: a>p@2 a.@4", "20: a>q@8 a.@12 | f=6"}, false, "outside: you"},
		{"before the prompt, and no times", []string{"0:", "20 prompt#p: a>p@19.9"}, false, "outside: you"},
		{"the call that has no id", []string{"0:", "20 pre#: a+Bash@19.9"}, false, "outside: you"},
		{"the same turn again and again", []string{"0:", "20: a>p@1 a+Bash#1@2 a-Bash#1@3 a+Bash#2@4 a-Bash#2@5 | f=4.5"}, false, "shell: a Bash#2 or a Bash#1 or you"},
		{"two turns without a look between", []string{"0:", "20: a>p@1 a+Bash#1@2 a-Bash#1@3 a>q@4 a+Bash#2@5 a-Bash#2@6 | f=5.5"}, false, "shared: a Bash#2 or a Bash#1 or you"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Attribution{}
			for i, text := range c.log {
				a.points = append(a.points, checkpointOf(t, uint64(10*(i+1)), text))
			}
			a.build()
			path := "f"
			if last := c.log[len(c.log)-1]; strings.Contains(last, "d/f=") {
				path = "d/f"
			}
			n := len(a.points)
			if got := says(a.madeBy(path, a.points[n-2], a.points[n-1], file, there(!c.gone))); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

// TestHeardTwice: where hooks are registered twice, each event of a call is heard of twice. It is one call.
func TestHeardTwice(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []string
		want string
	}{
		{"it wrote, and has no id", []string{"0:", "10: a+Bash@4 a+Bash@4.01 a-Bash@6 a-Bash@6.01 | f=5"}, "shell: a Bash or you"},
		{"it wrote", []string{"0:", "10: a+Bash#1@4 a+Bash#1@4.01 a-Bash#1@6 a-Bash#1@6.01 | f=5"}, "shell: a Bash#1 or you"},
		{"an edit", []string{"0:", "10: a+Edit#1(f)@4 a+Edit#1(f)@4.01 a-Edit#1(f)@6 a-Edit#1(f)@6.01 | f=5"}, "declared: a Edit#1"},
		{"another call of the same words", []string{"0:", "10: a+Bash@4 a-Bash@4.4 a+Bash@4.5 a-Bash@6 | f=5"}, "shell: a Bash or a Bash or you"},
		{"two calls of the same words at once", []string{"0:", "10: a+Bash@4 a+Bash@4.5 a-Bash@5 a-Bash@9 | f=8"}, "shell: a Bash or a Bash or you"},
		{"each event has a checkpoint, the first of which took both lines", []string{"0:", "4.02 pre a+Bash: a+Bash@4 a+Bash@4.01", "4.03 pre a+Bash:", "10: a-Bash@5 a-Bash@5.01 | f=8"}, "shared: you or a Bash"},
		{"so, with an id", []string{"0:", "4.02 pre a+Bash#1: a+Bash#1@4 a+Bash#1@4.01", "4.03 pre a+Bash#1:", "10: a-Bash#1@5 a-Bash#1@5.01 | f=8"}, "shared: you or a Bash#1"},
		{"another session's checkpoint took its line", []string{"0:", "4 pre b+Edit#2: a+Bash#1@3.9 b+Edit#2(g)@3.95", "4.03 pre a+Bash#1:", "10: a-Bash#1@5 b-Edit#2(g)@5 | f=8"}, "shared: you or a Bash#1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Attribution{}
			for i, text := range c.log {
				a.points = append(a.points, checkpointOf(t, uint64(10*(i+1)), text))
			}
			a.build()
			n := len(a.points)
			if got := says(a.madeBy("f", a.points[n-2], a.points[n-1], file, file)); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

var file, directory = &manifest.Entry{Kind: manifest.File}, &manifest.Entry{Kind: manifest.Subdir}

func there(is bool) *manifest.Entry {
	if is {
		return file
	}
	return nil
}

// TestDirectory: a directory is made by the edit that needs it for its file, whatever comes into it later.
func TestDirectory(t *testing.T) {
	for _, c := range []struct {
		name, log, path string
		old, new        *manifest.Entry
		want            string
	}{
		{"an edit below it", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6 | d=5 d/f=5", "d", nil, directory, "declared: a Edit#1"},
		{"further below", "10: a+Edit#1(d/e/f)@4 a-Edit#1(d/e/f)@6 | d=5 d/e=5 d/e/f=5", "d", nil, directory, "declared: a Edit#1"},
		{"in place of a file", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6 | d=5 d/f=5", "d", file, directory, "declared: a Edit#1"},
		{"a name that begins alike", "10: a+Edit#1(de/f)@4 a-Edit#1(de/f)@6 | d=5", "d", nil, directory, "outside: you"},
		{"it was there: a mode", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6 | d=5", "d", directory, directory, "outside: you"},
		{"a file of that name", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6 | d=5", "d", nil, file, "outside: you"},
		{"you put something into it later", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6 | d=9 d/f=5 d/x=9", "d", nil, directory, "declared: a Edit#1"},
		{"no times", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@6", "d", nil, directory, "declared: a Edit#1"},
		{"another's edit in it, later", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@5 b+Edit#2(d/g)@6 b-Edit#2(d/g)@7 | d=6.5 d/f=4.5 d/g=6.5", "d", nil, directory, "declared: a Edit#1"},
		{"another's command, later", "10: a+Edit#1(d/f)@4 a-Edit#1(d/f)@5 b+Bash#2@6 b-Bash#2@7 | d=6.5 d/f=4.5 d/g=6.5", "d", nil, directory, "declared: a Edit#1"},
		{"another's command, before", "10: b+Bash#2@2 b-Bash#2@3 a+Edit#1(d/f)@4 a-Edit#1(d/f)@5 | d=4.5 d/f=4.5", "d", nil, directory, "shared: a Edit#1 or b Bash#2 or you"},
		{"a file that was moved with it, and written right before the look", "10: a+Bash#1@4 a-Bash#1@6 | d=5 d/f=-0.005", "d/f", nil, file, "shell: a Bash#1 or you"},
		{"a file that was there, written in the tick of the look", "10: a+Bash#1@4 a-Bash#1@6 | d=5 d/f=-0.005", "d/f", file, file, "outside: you"},
		{"an edit that failed", "10: a+Edit#1(d/f)@4 a-#1@6 | d=8", "d", nil, directory, "outside: you"},
		{"an edit that may have been refused", "20: a>p@1 a+Edit#1(d/f)@4 a>q@9 | d=7", "d", nil, directory, "shared: a Edit#1 or you"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Attribution{points: []*point{checkpointOf(t, 10, "0:"), checkpointOf(t, 20, c.log)}}
			a.build()
			if got := says(a.madeBy(c.path, a.points[0], a.points[1], c.old, c.new)); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

// TestMoved: where the states between two looks were removed, a command may have moved there what another had edited.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name, log string
		there     string // in the end, beside f
		want      string
	}{
		{"all states are there", "20: b+Edit#1(g)@12 b-Edit#1(g)@13 a+Bash#2@15 a-Bash#2@16 | f=15.5", "", "shell: a Bash#2 or you"},
		{"some were removed", "20 removed: b+Edit#1(g)@12 b-Edit#1(g)@13 a+Bash#2@15 a-Bash#2@16 | f=15.5", "", "shared: a Bash#2 or b Edit#1 or you"},
		{"it is where it was", "20 removed: b+Edit#1(g)@12 b-Edit#1(g)@13 a+Bash#2@15 a-Bash#2@16 | f=15.5", "g", "shell: a Bash#2 or you"},
		{"it was edited later", "20 removed: a+Bash#2@12 a-Bash#2@13 b+Edit#1(g)@15 b-Edit#1(g)@16 | f=12.5", "", "shell: a Bash#2 or you"},
		{"while the command ran", "20 removed: a+Bash#2@12 b+Edit#1(g)@13 b-Edit#1(g)@14 a-Bash#2@16 | f=15.5", "", "shared: a Bash#2 or b Edit#1 or you"},
		{"its own", "20 removed: a+Edit#1(g)@12 a-Edit#1(g)@13 a+Bash#2@15 a-Bash#2@16 | f=15.5", "", "shell: a Bash#2 or you"},
		{"an edit moves nothing", "20 removed: b+Edit#1(g)@12 b-Edit#1(g)@13 a+Edit#2(f)@15 a-Edit#2(f)@16 | f=15.5", "", "declared: a Edit#2"},
		{"nobody's", "20 removed: b+Edit#1(g)@12 b-Edit#1(g)@13 | f=15.5", "", "outside: you"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, last := checkpointOf(t, 10, "10:"), checkpointOf(t, 20, c.log)
			last.root = oid.ID{1}
			tree := manifest.Dir{Entries: []manifest.Entry{{Name: "f"}, {Name: c.there}}}
			a := &Attribution{points: []*point{first, last}, dirs: map[oid.ID]manifest.Dir{last.root: tree}}
			a.build()
			if got := says(a.madeBy("f", first, last, file, file)); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

// TestOf: whose a step is, of what is certain and of what is not.
func TestOf(t *testing.T) {
	a, b := &Work{Session: "a"}, &Work{Session: "b"}
	of := func(s string) func(*Work) bool { return func(w *Work) bool { return w.Session == s } }
	for _, c := range []struct {
		o         Owner
		session   string
		all, some bool
	}{
		{Owner{Class: Outside}, "a", false, false},
		{Owner{Class: Declared, By: a}, "a", true, true},
		{Owner{Class: Declared, By: a}, "b", false, false},
		{Owner{Class: Shell, By: a, AlsoOutside: true}, "a", true, true},
		{Owner{Class: Shell, By: a, Also: []*Work{a}, AlsoOutside: true}, "a", true, true},
		{Owner{Class: Shared, By: a, Also: []*Work{b}}, "a", false, true},
		{Owner{Class: Shared, By: a, Also: []*Work{b}}, "b", false, true},
		{Owner{Class: Shared, By: a, Also: []*Work{a}, AlsoOutside: true}, "a", false, true},
		{Owner{Class: Shared, Also: []*Work{a}, AlsoOutside: true}, "a", false, true},
	} {
		if all, some := c.o.Of(of(c.session)); all != c.all || some != c.some {
			t.Errorf("%s of %s: %t, %t", says(c.o), c.session, all, some)
		}
	}
}

// TestNow: what was changed since the newest checkpoint may be a running call's.
func TestNow(t *testing.T) {
	a := &Attribution{}
	a.points = []*point{checkpointOf(t, 10, "0: a+Bash#1@0")}
	a.build()
	now := &Present{Time: clock("9"), At: map[string]time.Time{"f": clock("5")}}
	if got := says(a.madeBy("f", a.points[0], now.point(), file, file)); got != "shell: a Bash#1 or you" {
		t.Error(got)
	}
}

// TestReach: what is open longest is found from anywhere behind it.
func TestReach(t *testing.T) {
	windows := []*window{{closed: 5}, {closed: 3}, {closed: 9}, {closed: 4}}
	if got := reachOf(windows); !slices.Equal(got, []uint64{5, 5, 9, 9}) {
		t.Error(got)
	}
}
