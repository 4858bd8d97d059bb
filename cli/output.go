package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/hookio"
)

// output writes a call's answer to stdout and all else to stderr.
type output struct {
	stdout answerWriter
	stderr io.Writer
	stdin  io.Reader
	now    func() time.Time

	json, quiet, verbose   bool
	outTerm, errTerm, inOK bool
	dumb                   bool         // a terminal that can only print lines
	client                 hookio.Agent // the agent in whose window the answer is shown, "" for a shell
	transcript             string       // of the session that it is shown in
	color, errColor        screen.Painter

	interrupted <-chan struct{} // closed at the first Ctrl-C

	watched project.Progress // takes the place of the line; nil: none does

	mu        sync.Mutex // stderr: progress comes from other goroutines
	meter     *meter
	beat      chan struct{} // closed where the line is to move no more
	full      bool          // something else draws on the whole screen
	buf       *bufio.Writer
	committed bool     // the command has changed something in the store
	changed   bool     // or elsewhere
	answer    bool     // a JSON document was printed
	paging    bool     // the answer goes through a pager
	later     []string // hints for when the pager is done
}

func newOutput(s Stdio, env account.Env, asJSON bool) *output {
	o := &output{stderr: s.Err, watched: s.Progress, stdin: s.In, now: env.Now, json: asJSON}
	if o.now == nil {
		o.now = time.Now
	}
	if env.Getenv != nil {
		o.client, o.transcript = hookio.Agent(env.Getenv(clientVariable)), env.Getenv("REWIND_TRANSCRIPT_PATH")
	}
	o.outTerm, o.errTerm, o.inOK = isTerminal(s.Out), isTerminal(s.Err), isTerminal(s.In)
	o.stdout = answerWriter{Writer: s.Out}
	if o.outTerm {
		o.stdout.before = o.endProgress
	}
	o.buf = bufio.NewWriterSize(o.stdout, 32<<10)
	return o
}

// answerWriter tells errors of stdout from those of the store.
type answerWriter struct {
	io.Writer
	before func() // called before every write; may be nil
}

func (w answerWriter) Write(b []byte) (int, error) {
	if w.before != nil {
		w.before()
	}
	n, err := w.Writer.Write(b)
	if err != nil {
		err = &outputError{err}
	}
	return n, err
}

// configure takes over the flags that say how to print.
func (o *output) configure(g globals, env account.Env) {
	o.json, o.quiet, o.verbose = g.json, g.quiet, g.verbose
	o.dumb = env.Getenv("TERM") == "dumb"
	plainTerm := g.noColor || env.Getenv("NO_COLOR") != "" || o.dumb
	o.color.On = o.outTerm && !plainTerm && !o.json
	o.errColor.On = o.errTerm && !plainTerm
}

func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// interactive says whether a person can be asked something.
func (o *output) interactive() bool { return o.inOK && o.outTerm && o.errTerm }

// width of the terminal that the answer goes to; 0 when it goes elsewhere.
func (o *output) width() int {
	if o.client != "" {
		return clientWidth
	}
	if !o.outTerm {
		return 0
	}
	return widthOf(o.stdout.Writer)
}

// clientWidth is how wide an answer inside an agent is, whose window is not known: it fits into
// one of 100 columns with the frame that is drawn around it.
const clientWidth = 90

func widthOf(v any) int {
	if f, ok := v.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// line prints one line of the answer. What comes from outside must be escaped.
func (o *output) line(format string, args ...any) {
	fmt.Fprintf(o.buf, format, args...)
	o.buf.WriteByte('\n')
}

// summary is a line that says what a command did: not with --quiet, and with
// --json the document says it.
func (o *output) summary(format string, args ...any) {
	if !o.quiet && !o.json {
		o.line(format, args...)
	}
}

// tell prints a line on stderr that a question or a refusal comes after.
func (o *output) tell(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.meter.clear(o.stderr)
	fmt.Fprintf(o.stderr, format+"\n", args...)
}

// document prints the answer of --json.
func (o *output) document(v any) error {
	enc := json.NewEncoder(o.buf)
	enc.SetEscapeHTML(false)
	o.answer = true
	return enc.Encode(v)
}

func (o *output) message(s screen.Style, kind, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.meter.clear(o.stderr)
	// One write, so that lines of processes that share a terminal do not mix.
	io.WriteString(o.stderr, "rewind: "+o.errColor.Paint(s, kind)+" "+escape(text)+"\n")
}

func (o *output) warn(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = problem.Text(err)
		}
	}
	o.message(screen.Yellow, "warning:", fmt.Sprintf(format, args...))
}

// hint says what to type next, below what was printed so far. It is for the goroutine that prints the answer.
func (o *output) hint(format string, args ...any) {
	text := o.typed(fmt.Sprintf(format, args...))
	if o.paging {
		o.later = append(o.later, text)
		return
	}
	if !o.json {
		o.buf.Flush() // a stdout that cannot be written is found by the last flush
	}
	o.message(screen.Cyan, "hint:", text)
}

// note is for --verbose.
func (o *output) note(format string, args ...any) {
	if o.verbose {
		o.message(screen.Dim, "note:", fmt.Sprintf(format, args...))
	}
}

// finish ends a call: the error, if any, becomes message and exit code.
func (o *output) finish(err error) int {
	if err != nil {
		return o.fail(err)
	}
	if err := o.buf.Flush(); err != nil {
		return o.fail(err)
	}
	return exitOK
}

func (o *output) fail(err error) int {
	if err == nil {
		return o.finish(nil)
	}
	o.endProgress()
	f := explain(err)
	if unwritten := (*outputError)(nil); (o.committed || o.changed) && errors.As(err, &unwritten) {
		f.code = exitPartial
		if f.message != "" {
			f.message = "it was done, but the answer could not be written: " + problem.InWords(unwritten.err.Error(), unwritten.err)
			if o.committed {
				f.hint = "rewind list, or rewind list --ops, shows it"
			}
		}
	}
	if f.document && o.json && !o.answer {
		o.buf.Reset(o.stdout)
		var doc errorView
		doc.Error.Code, doc.Error.Message, doc.Error.Hint, doc.Error.Choices, doc.Error.Conflicts = f.code, f.message, f.hint, f.choices, f.conflicts
		o.document(doc) // a stdout that cannot be written is found by the flush
	}
	if flushErr := o.buf.Flush(); flushErr != nil && !isBrokenPipe(flushErr) && f.message == "" {
		f.message = flushErr.Error()
	}
	for _, w := range f.warnings {
		o.warn("%s", w)
	}
	if f.note {
		o.message(screen.Dim, "note:", f.message)
	} else if f.message != "" {
		o.message(screen.Red, "error:", f.message)
	}
	if f.hint != "" {
		o.hint("%s", f.hint)
	}
	return f.code
}

type errorView struct {
	Error struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Hint    string       `json:"hint"`
		Choices []choiceView `json:"choices,omitempty"` // where it is not clear which session is meant
		// Conflicts are where others built on what a revert would take back.
		Conflicts []conflictView `json:"conflicts,omitempty"`
	} `json:"error"`
}

// fullScreen keeps progress lines away while something draws on the whole screen.
func (o *output) fullScreen(on bool) {
	o.endProgress()
	o.mu.Lock()
	o.full = on
	o.mu.Unlock()
}

// ask puts a yes-or-no question at a terminal; no is the default.
func (o *output) ask(format string, args ...any) (bool, error) {
	o.endProgress()
	o.buf.Flush()
	fmt.Fprintf(o.stderr, "%s [y/N] ", escape(fmt.Sprintf(format, args...)))
	line, err := o.readLine()
	if err != nil && err != io.EOF {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// readLine reads a person's answer. A Ctrl-C ends the question: context.Canceled.
func (o *output) readLine() (string, error) {
	return o.readLineFrom(bufio.NewReader(o.stdin))
}

// readLineFrom is readLine for a dialog of several questions, whose reader may hold
// the next answers already.
func (o *output) readLineFrom(in *bufio.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // it ends with the process, if nothing comes
		line, err := in.ReadString('\n')
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		return a.line, a.err
	case <-o.interrupted:
		fmt.Fprintln(o.stderr)
		return "", context.Canceled
	}
}

// choose has a person pick one of several lines by its number; -1 for none.
func (o *output) choose(question string, lines []string) (int, error) {
	o.endProgress()
	o.buf.Flush()
	fmt.Fprintln(o.stderr, question)
	for i, l := range lines {
		fmt.Fprintf(o.stderr, "%3d  %s\n", i+1, escape(l))
	}
	fmt.Fprintf(o.stderr, "Choose a number: ")
	line, err := o.readLine()
	if err != nil && err != io.EOF {
		return -1, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > len(lines) {
		return -1, nil
	}
	return n - 1, nil
}

// quote puts a word of the person's into a message.
func quote(s string) string { return fmt.Sprintf("%q", s) }
