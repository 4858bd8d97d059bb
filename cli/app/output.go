package app

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

// Output writes a call's answer to stdout and all else to stderr.
type Output struct {
	Stdout answerWriter
	Stderr io.Writer
	Stdin  io.Reader
	Now    func() time.Time

	JSON, Quiet, Verbose   bool
	OutTerm, ErrTerm, InOK bool
	dumb                   bool         // a terminal that can only print lines
	client                 hookio.Agent // the agent in whose window the answer is shown, "" for a shell
	transcript             string       // of the session that it is shown in
	Color, ErrColor        screen.Painter

	Interrupted <-chan struct{} // closed at the first Ctrl-C

	watched project.Progress // takes the place of the line; nil: none does

	Mu        sync.Mutex // stderr: progress comes from other goroutines
	meter     *meter
	beat      chan struct{} // closed where the line is to move no more
	full      bool          // something else draws on the whole screen
	Buf       *bufio.Writer
	committed bool     // the command has changed something in the store
	Changed   bool     // or elsewhere
	answer    bool     // a JSON document was printed
	paging    bool     // the answer goes through a pager
	later     []string // hints for when the pager is done
}

func NewOutput(s Stdio, env account.Env, asJSON bool) *Output {
	o := &Output{Stderr: s.Err, watched: s.Progress, Stdin: s.In, Now: env.Now, JSON: asJSON}
	if o.Now == nil {
		o.Now = time.Now
	}
	if env.Getenv != nil {
		o.client, o.transcript = hookio.Agent(env.Getenv(ClientVariable)), env.Getenv("REWIND_TRANSCRIPT_PATH")
	}
	o.OutTerm, o.ErrTerm, o.InOK = IsTerminal(s.Out), IsTerminal(s.Err), IsTerminal(s.In)
	o.Stdout = answerWriter{Writer: s.Out}
	if o.OutTerm {
		o.Stdout.before = o.EndProgress
	}
	o.Buf = bufio.NewWriterSize(o.Stdout, 32<<10)
	return o
}

// answerWriter marks errors of stdout, so that they differ from those of the store.
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
		err = &OutputError{err}
	}
	return n, err
}

// Configure takes over the flags that say how to print.
func (o *Output) Configure(g Globals, env account.Env) {
	o.JSON, o.Quiet, o.Verbose = g.JSON, g.Quiet, g.Verbose
	o.dumb = env.Getenv("TERM") == "dumb"
	plainTerm := g.noColor || env.Getenv("NO_COLOR") != "" || o.dumb
	o.Color.On = o.OutTerm && !plainTerm && !o.JSON
	o.ErrColor.On = o.ErrTerm && !plainTerm
}

func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// Interactive says whether a person can be asked something.
func (o *Output) Interactive() bool { return o.InOK && o.OutTerm && o.ErrTerm }

// Width of the terminal that the answer goes to; 0 when it goes elsewhere.
func (o *Output) Width() int {
	if o.client != "" {
		return clientWidth
	}
	if !o.OutTerm {
		return 0
	}
	return widthOf(o.Stdout.Writer)
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

// Line prints one line of the answer. What comes from outside must be escaped.
func (o *Output) Line(format string, args ...any) {
	fmt.Fprintf(o.Buf, format, args...)
	o.Buf.WriteByte('\n')
}

// Table prints a table as wide as the terminal.
func (o *Output) Table(t screen.Table) {
	t.Width = o.Width()
	t.Write(o.Color, func(s string) { o.Line("%s", s) })
}

// Summary is a line that says what a command did: not with --quiet, and with
// --json the document says it.
func (o *Output) Summary(format string, args ...any) {
	if !o.Quiet && !o.JSON {
		o.Line(format, args...)
	}
}

// Tell prints a line on stderr that a question or a refusal comes after.
func (o *Output) Tell(format string, args ...any) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	o.meter.clear(o.Stderr)
	fmt.Fprintf(o.Stderr, format+"\n", args...)
}

// Document prints the answer of --json.
func (o *Output) Document(v any) error {
	enc := json.NewEncoder(o.Buf)
	enc.SetEscapeHTML(false)
	o.answer = true
	return enc.Encode(v)
}

func (o *Output) Message(s screen.Style, kind, text string) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	o.meter.clear(o.Stderr)
	// One write, so that lines of processes that share a terminal do not mix.
	io.WriteString(o.Stderr, "rewind: "+o.ErrColor.Paint(s, kind)+" "+Escape(text)+"\n")
}

func (o *Output) Warn(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = problem.Text(err)
		}
	}
	o.Message(screen.Yellow, "warning:", fmt.Sprintf(format, args...))
}

// Hint says what to type next, below what was printed so far. It is for the goroutine that prints the answer.
func (o *Output) Hint(format string, args ...any) {
	text := o.Typed(fmt.Sprintf(format, args...))
	if o.paging {
		o.later = append(o.later, text)
		return
	}
	if !o.JSON {
		o.Buf.Flush() // a stdout that cannot be written is found by the last flush
	}
	o.Message(screen.Cyan, "hint:", text)
}

// Note is for --verbose.
func (o *Output) Note(format string, args ...any) {
	if o.Verbose {
		o.Message(screen.Dim, "note:", fmt.Sprintf(format, args...))
	}
}

// Finish ends a call: the error, if any, becomes message and exit code.
func (o *Output) Finish(err error) int {
	if err != nil {
		return o.Fail(err)
	}
	if err := o.Buf.Flush(); err != nil {
		return o.Fail(err)
	}
	return ExitOK
}

func (o *Output) Fail(err error) int {
	if err == nil {
		return o.Finish(nil)
	}
	o.EndProgress()
	f := Explain(err)
	if unwritten := (*OutputError)(nil); (o.committed || o.Changed) && errors.As(err, &unwritten) {
		f.Code = ExitPartial
		if f.Message != "" {
			f.Message = "it was done, but the answer could not be written: " + problem.InWords(unwritten.Err.Error(), unwritten.Err)
			if o.committed {
				f.Hint = "rewind list, or rewind list --ops, shows it"
			}
		}
	}
	if f.Document && o.JSON && !o.answer {
		o.Buf.Reset(o.Stdout)
		var doc ErrorView
		doc.Error.Code, doc.Error.Message, doc.Error.Hint, doc.Error.Choices, doc.Error.Conflicts = f.Code, f.Message, f.Hint, f.choices, f.Conflicts
		o.Document(doc) // a stdout that cannot be written is found by the flush
	}
	if flushErr := o.Buf.Flush(); flushErr != nil && !IsBrokenPipe(flushErr) && f.Message == "" {
		f.Message = flushErr.Error()
	}
	for _, w := range f.Warnings {
		o.Warn("%s", w)
	}
	if f.Note {
		o.Message(screen.Dim, "note:", f.Message)
	} else if f.Message != "" {
		o.Message(screen.Red, "error:", f.Message)
	}
	if f.Hint != "" {
		o.Hint("%s", f.Hint)
	}
	for _, choice := range f.Choices {
		o.Hint("%s", choice)
	}
	return f.Code
}

type ErrorView struct {
	Error struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Hint    string       `json:"hint"`
		Choices []choiceView `json:"choices,omitempty"` // where it is not clear which session is meant
		// Conflicts are where others built on what a revert would take back.
		Conflicts []ConflictView `json:"conflicts,omitempty"`
	} `json:"error"`
}

// FullScreen keeps progress lines away while something draws on the whole screen.
func (o *Output) FullScreen(on bool) {
	o.EndProgress()
	o.Mu.Lock()
	o.full = on
	o.Mu.Unlock()
}

// Ask puts a yes-or-no question at a terminal; no is the default.
func (o *Output) Ask(format string, args ...any) (bool, error) {
	o.EndProgress()
	o.Buf.Flush()
	fmt.Fprintf(o.Stderr, "%s [y/N] ", Escape(fmt.Sprintf(format, args...)))
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

// AskSecret asks for something at a terminal that is not shown as it is typed. A Ctrl-C ends the question: context.Canceled.
func (o *Output) AskSecret(question string) ([]byte, error) {
	o.EndProgress()
	o.Buf.Flush()
	f, ok := o.Stdin.(*os.File)
	if !ok {
		return nil, errors.New("there is no terminal to ask at")
	}
	was, err := term.GetState(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	fmt.Fprint(o.Stderr, Escape(question))
	defer fmt.Fprintln(o.Stderr)
	type answer struct {
		text []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() { // it ends with the process, if nothing comes
		text, err := term.ReadPassword(int(f.Fd()))
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		return a.text, a.err
	case <-o.Interrupted:
		return nil, errors.Join(context.Canceled, term.Restore(int(f.Fd()), was))
	}
}

// readLine reads a person's answer. A Ctrl-C ends the question: context.Canceled.
func (o *Output) readLine() (string, error) {
	return o.ReadLineFrom(bufio.NewReader(o.Stdin))
}

// ReadLineFrom is readLine for a dialog of several questions, whose reader may hold
// the next answers already.
func (o *Output) ReadLineFrom(in *bufio.Reader) (string, error) {
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
	case <-o.Interrupted:
		fmt.Fprintln(o.Stderr)
		return "", context.Canceled
	}
}

// choose has a person pick one of several lines by its number; -1 for none.
func (o *Output) choose(question string, lines []string) (int, error) {
	o.EndProgress()
	o.Buf.Flush()
	fmt.Fprintln(o.Stderr, question)
	for i, l := range lines {
		fmt.Fprintf(o.Stderr, "%3d  %s\n", i+1, Escape(l))
	}
	return o.AskNumber("Choose a number: ", len(lines))
}

// AskNumber has a person pick one of n things that were listed, by its number; -1 for none.
func (o *Output) AskNumber(question string, n int) (int, error) {
	o.EndProgress()
	o.Buf.Flush()
	fmt.Fprint(o.Stderr, question)
	line, err := o.readLine()
	if err != nil && err != io.EOF {
		return -1, err
	}
	picked, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || picked < 1 || picked > n {
		return -1, nil
	}
	return picked - 1, nil
}

// Quote puts a word of the person's into a message.
func Quote(s string) string { return fmt.Sprintf("%q", s) }

// Stdio is where a call reads and writes. Files that are terminals get colours,
// questions and progress lines; all others get plain text.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Progress project.Progress // gets the reports on long work, instead of the line on Err; nil: the line is printed
}
