package screen

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	// lookAfter keeps fast scrolling from starting a look, and compareAfter a scan, per line.
	lookAfter    = 30 * time.Millisecond
	compareAfter = 150 * time.Millisecond
	// escapeWait is how long the rest of an escape sequence may take to come.
	escapeWait = 50 * time.Millisecond
)

// What is sent on entering and on leaving: the alternate screen, the cursor, no line breaks of the
// terminal's own, bracketed paste.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h"
	leaveScreen = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// Show draws m on the terminal until a key ends it, and has source answer what m asks. The terminal
// is then as it was, after a panic too. An operation that runs is waited for, so that it is whole or
// not at all. Error: in is no terminal that can be put into raw mode.
func Show(ctx context.Context, in, out *os.File, m *Picker, source Source) (Action, error) {
	t := &session{m: m, in: in, out: out, source: source, answers: make(chan answered)}
	if err := t.enter(); err != nil {
		return Quit, err
	}
	defer t.leave()
	var cancel context.CancelFunc
	t.ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	a := t.run()
	cancel()
	for t.doing > 0 { // what changes the project ends before we do
		if r := <-t.answers; r.what == AskDo {
			t.doing--
		}
	}
	return a, nil
}

// session is one showing of a picker.
type session struct {
	m       *Picker
	in, out *os.File
	source  Source
	ctx     context.Context
	saved   *term.State // nil while the terminal is not ours
	answers chan answered
	doing   int    // operations that run
	shown   string // the picture on the screen

	looking Ask // the look that runs
	stop    context.CancelFunc
	search  context.CancelFunc // ends the search that runs; nil: none does
}

// answered is an answer with the number of its question.
type answered struct {
	Answer
	what     What
	look     Ask
	panicked any
}

func (t *session) enter() (err error) {
	if t.saved, err = term.MakeRaw(int(t.in.Fd())); err != nil {
		t.saved = nil
		return err
	}
	io.WriteString(t.out, enterScreen)
	t.shown = ""
	return nil
}

func (t *session) leave() {
	if t.saved == nil {
		return
	}
	io.WriteString(t.out, leaveScreen)
	term.Restore(int(t.in.Fd()), t.saved)
	t.saved = nil
}

// run is the loop: draw, then wait for a key, an answer, another size.
func (t *session) run() Action {
	input := readInput(t.ctx, t.in)
	signals, stop := resizes()
	defer stop()
	var pending []byte
	rest, lone := time.NewTimer(lookAfter), time.NewTimer(time.Hour)
	defer rest.Stop()
	defer lone.Stop()
	for {
		t.size()
		if picture := drawing(t.m.view()); picture != t.shown {
			io.WriteString(t.out, picture)
			t.shown = picture
		}
		var keys []string
		select {
		case <-t.ctx.Done():
			return Interrupt
		case b, ok := <-input:
			if !ok {
				return Quit // the terminal went away
			}
			keys, pending = decodeKeys(append(pending, b...), false)
			lone.Reset(escapeWait)
		case <-lone.C:
			keys, pending = decodeKeys(pending, true)
		case s := <-signals:
			t.shown = ""      // a resize moves what is there
			if continued(s) { // after a stop that we were not asked about the terminal is in any state
				t.leave()
				if t.enter() != nil {
					return Quit
				}
			}
		case r := <-t.answers:
			t.took(r)
			rest.Reset(0)
		case <-rest.C:
			t.lookOn()
		}
		for _, k := range keys {
			switch a := t.m.key(k); a {
			case stay:
			case Suspend:
				t.leave()
				suspend()
				if t.enter() != nil {
					return Quit
				}
			default:
				return a
			}
			a, ok := t.m.wanted()
			switch {
			case !ok || a == t.looking:
			case a.Now:
				rest.Reset(compareAfter)
			default:
				rest.Reset(lookAfter)
			}
			if t.stop != nil && a != t.looking {
				t.stop()
			}
		}
		if t.search != nil && t.m.mode != searching {
			t.search() // no key waits for it
			t.search = nil
		}
		for _, a := range t.m.questions() {
			ctx := t.ctx
			if a.What == AskSearch {
				ctx, t.search = context.WithCancel(ctx)
			}
			t.begin(ctx, a, Ask{})
		}
	}
}

// begin has a question answered beside the loop. A panic there is one of the loop, which leaves the
// terminal as it was.
func (t *session) begin(ctx context.Context, a, look Ask) {
	if a.What == AskDo {
		t.doing++
	}
	go func() {
		r := answered{what: a.What, look: look}
		defer func() {
			if p := recover(); p != nil {
				r.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			if a.What == AskDo {
				t.answers <- r // is waited for
				return
			}
			select {
			case t.answers <- r:
			case <-t.ctx.Done():
			}
		}()
		r.Answer = t.source(ctx, a)
		r.Answer.Ask = a
	}()
}

func (t *session) took(r answered) {
	if r.panicked != nil {
		panic(r.panicked)
	}
	if r.what == AskDo {
		t.doing--
	}
	if r.what == AskLook && r.look == t.looking {
		t.stop()
		t.looking, t.stop = Ask{}, nil
	}
	if a, ok := t.m.wanted(); r.what == AskLook && r.Err != "" && (!ok || a != r.Answer.Ask) {
		return // called off
	}
	t.m.take(r.Answer)
}

// lookOn begins the look that the picture needs, and calls off another one.
func (t *session) lookOn() {
	if a, ok := t.m.uncounted(); ok {
		t.begin(t.ctx, a, Ask{})
	}
	a, ok := t.m.wanted()
	if !ok || !t.m.loaded || t.m.look() != nil {
		return
	}
	if t.stop != nil {
		if a == t.looking {
			return
		}
		t.stop()
	}
	ctx, stop := context.WithCancel(t.ctx)
	t.looking, t.stop = a, stop
	t.begin(ctx, a, a)
}

func (t *session) size() {
	t.m.w, t.m.h = 80, 24
	if w, h, err := term.GetSize(int(t.out.Fd())); err == nil && w > 0 && h > 0 {
		t.m.w, t.m.h = w, h
	}
}

// readInput reads until the process ends: a blocked read of a terminal cannot be
// called back, and nothing else reads it after the picker.
func readInput(ctx context.Context, in *os.File) <-chan []byte {
	input := make(chan []byte)
	go func() {
		defer close(input)
		for {
			b := make([]byte, 4096)
			n, err := in.Read(b)
			if err != nil {
				return
			}
			select {
			case input <- b[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return input
}

// drawing is what paints the whole picture, in one write.
func drawing(lines []string) string {
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[H") // shown at once, where the terminal can
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[K") // before the text: behind a full line it would take the last character
		b.WriteString(l)
	}
	b.WriteString("\x1b[?2026l")
	return b.String()
}
