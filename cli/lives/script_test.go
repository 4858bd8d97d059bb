package lives

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// person is who works at the editor; agents have the letters of their sessions.
const person = "person"

// kind is what happens at an event.
type kind string

const (
	onStart   kind = "SessionStart"
	onPrompt  kind = "UserPromptSubmit"
	onPre     kind = "PreToolUse"
	onPost    kind = "PostToolUse"
	onStop    kind = "Stop"
	onSubStop kind = "SubagentStop"
	onEnd     kind = "SessionEnd"
	onWrite   kind = "write"   // a change of the tree
	onCommand kind = "command" // what the person types
)

const (
	maxLines     = 3  // that a change inserts, replaces or deletes
	startLines   = 24 // of each file at first
	thinkAtLeast = 500 * time.Millisecond
	thinkAtMost  = 8 * time.Second
	personEvery  = 30 * time.Second // on average
	turnPause    = 20 * time.Second // at most, between a session's turns
	formatsAfter = 40 * time.Millisecond
)

// work is whose a change is. The zero of all but Session is the person's.
type work struct {
	Session  string // A, B, or person
	Subagent string
	Prompt   string // A.p2
	Call     string // toolu_A_3
	Shell    bool
	Formats  bool // the formatter that ran because of the edit
	Late     bool // a server in the background, after the call's end
}

func (w work) String() string {
	return strings.TrimRight(fmt.Sprintf("%s/%s/%s/%s", w.Session, w.Subagent, w.Prompt, w.Call), "/")
}

// change is what is done to a file, said so that it means something whatever is in it.
type change struct {
	Path   string
	Do     string // insert replace delete append create remove rename chmod
	At     float64
	N      int
	To     string // of a rename
	Atomic bool   // written aside and renamed, as editors do
}

// event is one moment of a life.
type event struct {
	At   time.Duration // since the life began, on the simulated clock
	Unit int           // what it goes with when a life is cut down; 0 stays
	Kind kind
	By   work

	Tool       string
	Command    string
	Files      []string
	Background bool
	Change     change
	Words      []string // of a command
}

func (e event) String() string {
	s := fmt.Sprintf("%7.2fs #%-3d %-16s %s", e.At.Seconds(), e.Unit, e.Kind, e.By)
	switch e.Kind {
	case onPre, onPost:
		s += fmt.Sprintf(" %s %q %v bg=%v", e.Tool, e.Command, e.Files, e.Background)
	case onWrite:
		s += fmt.Sprintf(" %+v late=%v", e.Change, e.By.Late)
	case onCommand:
		s += fmt.Sprint(" ", e.Words)
	}
	return s
}

// manner is what a life may have in it.
type manner struct {
	Tier     string
	Sessions int
	Person   bool
	Paths    int           // shared by all
	Shell    time.Duration // how long a command runs, about
	Shells   float64       // the share of commands among the tool calls
	Turns    int
	Hard     bool // files that come, go and move; servers; Esc; subagents
	Restores bool // the person restores in between
	Interval time.Duration
}

func (m manner) String() string {
	who := map[bool]string{true: ", person", false: ""}[m.Person]
	return fmt.Sprintf("%s, %d sessions%s, shells %s", m.Tier, m.Sessions, who, m.Shell)
}

// script is a life.
type script struct {
	Seed   uint64
	Manner manner
	Events []event
}

// without is the life without some units. What a call wrote goes with the call.
func (s script) without(gone map[int]bool) script {
	calls := map[string]bool{}
	for _, e := range s.Events {
		if e.Kind == onPre && gone[e.Unit] {
			calls[e.By.Call] = true
		}
	}
	s.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e event) bool { return gone[e.Unit] || calls[e.By.Call] })
	return s
}

func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %+v\n", s.Seed, s.Manner)
	for _, e := range s.Events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// drawing makes a script.
type drawing struct {
	*rand.Rand
	m      manner
	events []event
	units  int
	calls  int
}

// draw makes the life of a seed.
func draw(seed uint64, m manner) script {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 31)), m: m}
	var last time.Duration
	for i := range m.Sessions {
		last = max(last, d.session(string(rune('A'+i)), d.between(0, 3*time.Second)))
	}
	if m.Person {
		d.editor(last)
	}
	slices.SortStableFunc(d.events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	return script{Seed: seed, Manner: m, Events: d.events}
}

func (d *drawing) between(low, high time.Duration) time.Duration {
	return low + time.Duration(d.Int64N(int64(high-low)+1))
}

func (d *drawing) chance(p float64) bool { return d.Float64() < p }

func (d *drawing) add(e event) { d.events = append(d.events, e) }

func (d *drawing) unit() int {
	d.units++
	return d.units
}

func (d *drawing) path() string { return fmt.Sprintf("f%d.txt", d.IntN(d.m.Paths)) }

// server is a command in the background.
type server struct {
	by    work
	since time.Duration
}

// session is one run of an agent; the result is when it ends.
func (d *drawing) session(name string, at time.Duration) time.Duration {
	d.add(event{At: at, Kind: onStart, By: work{Session: name}})
	var servers []server
	for turn := range d.m.Turns {
		at += d.between(time.Second, turnPause)
		by := work{Session: name, Prompt: fmt.Sprintf("%s.p%d", name, turn+1)}
		unit := d.unit()
		d.add(event{At: at, Unit: unit, Kind: onPrompt, By: by})
		for range 1 + d.IntN(4) {
			at = d.call(by, at+d.between(thinkAtLeast, thinkAtMost), &servers)
		}
		at += d.between(thinkAtLeast, 2*time.Second)
		if !d.m.Hard || !d.chance(0.1) { // Esc: no stop
			d.add(event{At: at, Unit: unit, Kind: onStop, By: by})
		}
	}
	at += d.between(time.Second, 5*time.Second)
	for _, s := range servers {
		s.by.Late = true
		for range d.IntN(3) {
			d.add(event{At: d.between(s.since+50*time.Millisecond, at-50*time.Millisecond), Unit: d.unit(), Kind: onWrite, By: s.by, Change: d.change()})
		}
	}
	if len(servers) > 0 || d.chance(0.5) {
		d.add(event{At: at, Kind: onEnd, By: work{Session: name}})
	}
	return at
}

// call is one tool call; the result is when it ends.
func (d *drawing) call(by work, at time.Duration, servers *[]server) time.Duration {
	d.calls++
	unit := d.unit()
	by.Call = fmt.Sprintf("toolu_%s_%d", by.Session, d.calls)
	pre := event{At: at, Unit: unit, Kind: onPre, By: by}
	if d.m.Hard && by.Subagent == "" && d.chance(0.1) { // a subagent with calls of its own
		pre.Tool = "Task"
		d.add(pre)
		sub := by
		sub.Subagent = fmt.Sprintf("agent-%s-%d", by.Session, d.calls)
		for range 1 + d.IntN(2) {
			at += d.between(thinkAtLeast, thinkAtMost)
			at = d.call(sub, at, servers)
		}
		at += d.between(100*time.Millisecond, time.Second)
		d.add(event{At: at, Unit: unit, Kind: onSubStop, By: sub})
		at += d.between(20*time.Millisecond, 200*time.Millisecond)
		post := pre
		post.At, post.Kind = at, onPost
		d.add(post)
		return at
	}
	if d.chance(d.m.Shells) {
		return d.shell(pre, servers)
	}
	return d.edit(pre)
}

func (d *drawing) edit(pre event) time.Duration {
	c := d.change()
	pre.Tool, pre.Files = "Edit", []string{c.Path}
	switch c.Do {
	case "remove", "rename", "chmod": // what edit tools do not do
		c.Do, c.N = "insert", 1+d.IntN(maxLines)
	case "create":
		pre.Tool = "Write"
	}
	d.add(pre)
	at := pre.At + d.between(30*time.Millisecond, 300*time.Millisecond)
	d.add(event{At: at, Unit: pre.Unit, Kind: onWrite, By: pre.By, Change: c})
	post := pre
	if d.m.Hard && d.chance(0.15) { // a formatter beside our hook, or before it
		f := pre.By
		f.Formats = true
		d.add(event{At: at + formatsAfter, Unit: pre.Unit, Kind: onWrite, By: f, Change: change{Path: c.Path, Do: "replace", At: c.At, N: 1}})
		if d.chance(0.5) {
			at += 2 * formatsAfter
		}
	}
	at += d.between(20*time.Millisecond, 200*time.Millisecond)
	post.At, post.Kind = at, onPost
	if !d.m.Hard || !d.chance(0.05) { // Esc
		d.add(post)
	}
	return at
}

func (d *drawing) shell(pre event, servers *[]server) time.Duration {
	pre.By.Shell = true
	at := pre.At
	pre.Tool, pre.Command = "Bash", "make all"
	lasts := d.between(d.m.Shell/3, d.m.Shell*5/3)
	changes := make([]change, 1+d.IntN(3))
	for i := range changes {
		changes[i] = d.change()
	}
	if d.chance(0.25) { // a command that names what it writes
		changes = changes[:1]
		c := &changes[0]
		switch c.Do {
		case "rename":
			pre.Command = "mv " + c.Path + " " + c.To
		case "remove":
			pre.Command = "rm " + c.Path
		case "chmod":
			pre.Command = "chmod +x " + c.Path
		case "append":
			pre.Command = "echo more >> " + c.Path
		default:
			pre.Command = "sed -i s/a/b/ " + c.Path
		}
	}
	if d.m.Hard && d.chance(0.1) {
		pre.Background = true
		lasts = d.between(100*time.Millisecond, 500*time.Millisecond)
		*servers = append(*servers, server{pre.By, at + lasts})
	}
	d.add(pre)
	for _, c := range changes {
		d.add(event{At: pre.At + d.between(30*time.Millisecond, lasts-25*time.Millisecond), Unit: d.unit(), Kind: onWrite, By: pre.By, Change: c})
	}
	post := pre
	post.At, post.Kind = pre.At+lasts, onPost
	if !d.m.Hard || !d.chance(0.05) { // Esc
		d.add(post)
	}
	return post.At
}

// editor is the person, who saves a file now and then.
func (d *drawing) editor(until time.Duration) {
	for at := d.between(0, personEvery); at < until; at += time.Duration(d.ExpFloat64() * float64(personEvery)) {
		c := d.change()
		c.Atomic = d.chance(0.5)
		d.add(event{At: at, Unit: d.unit(), Kind: onWrite, By: work{Session: person}, Change: c})
	}
	if d.m.Restores && d.chance(0.5) {
		d.add(event{At: d.between(until/2, until), Unit: d.unit(), Kind: onCommand, By: work{Session: person}, Words: []string{"restore", "prev", "--code-only"}})
	}
}

func (d *drawing) change() change {
	c := change{Path: d.path(), At: d.Float64(), N: 1 + d.IntN(maxLines)}
	most := 10
	if d.m.Hard {
		most = 14
	}
	switch d.IntN(most) {
	case 0, 1, 2, 3:
		c.Do = "insert"
	case 4, 5, 6:
		c.Do = "replace"
	case 7, 8:
		c.Do = "delete"
	case 9:
		c.Do = "append"
	case 10:
		c.Do, c.Path = "create", fmt.Sprintf("new%d.txt", d.IntN(3))
	case 11:
		c.Do = "remove"
	case 12:
		c.Do, c.To = "rename", fmt.Sprintf("moved%d.txt", d.IntN(3))
	case 13:
		c.Do = "chmod"
	}
	return c
}
