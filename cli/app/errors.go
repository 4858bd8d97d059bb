package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Exit codes: the contract with scripts.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitPartial     = 3
	ExitNoProject   = 4
	ExitNotFound    = 5
	ExitBusy        = 6
	ExitDamaged     = 7
	ExitRefused     = 8
	ExitUnreachable = 9
	ExitInterrupted = 130
)

// ExitMeaning is what help says about a code.
func ExitMeaning(code int) string {
	return map[int]string{
		ExitOK:          "done",
		ExitFailed:      "failed; nothing was changed",
		ExitUsage:       "usage error",
		ExitPartial:     "partly done: some paths could not be captured or restored; they are listed",
		ExitNoProject:   "no project here, not initialised, a root that is not allowed, or a store that is not yours",
		ExitNotFound:    "no such checkpoint or session, or an ambiguous one",
		ExitBusy:        "another process holds the lock",
		ExitDamaged:     "the store is damaged; rewind verify shows where",
		ExitRefused:     "refused: something would be lost; the hint says how to proceed",
		ExitUnreachable: "a remote does not answer, or refuses; what is saved here is not affected",
		ExitInterrupted: "interrupted",
	}[code]
}

// failing is an error that knows how it is shown. f has its message, the code of a failure, and a document.
type failing interface {
	error
	Explain(f *Failure)
}

// UsageError is a wrong command line. Nothing has been touched.
type UsageError struct{ Msg, Hint string }

func (e *UsageError) Error() string      { return e.Msg }
func (e *UsageError) Explain(f *Failure) { f.Code, f.Hint = ExitUsage, e.Hint }

func Usagef(format string, args ...any) error {
	return &UsageError{Msg: fmt.Sprintf(format, args...)}
}

// PartialError says that a command did its work but for some paths. The answer has been printed.
type PartialError struct {
	Verb  string // "captured", "restored"
	Paths []problem.Problem
	Hint  string // the command to type next; "" for none
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%s could not be %s", Plural(len(e.Paths), "path", "paths"), e.Verb)
}

// PartlyError says that a command changed some files, but not all that it should. The answer has been printed.
type PartlyError struct{ Err error }

func (e *PartlyError) Error() string { return e.Err.Error() }
func (e *PartlyError) Unwrap() error { return e.Err }

func (e *PartlyError) Explain(f *Failure) {
	*f = Explain(e.Err)
	f.Code, f.Document = ExitPartial, false
}

// FailedError is an error of a command that is shown as its Failure says. Mostly the answer has been printed.
type FailedError struct{ Failure }

func (e *FailedError) Error() string      { return e.Message }
func (e *FailedError) Explain(f *Failure) { *f = e.Failure }

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error      { return e.error }
func (e *codedError) Explain(f *Failure) { f.Code = e.code }

func Coded(err error, code int) error { return &codedError{err, code} }

// InterruptedError is a call that Ctrl-C ended.
type InterruptedError struct{ Text string } // what it has changed, and what remains of its work; may be empty

func (e *InterruptedError) Error() string { return "interrupted" }
func (e *InterruptedError) Unwrap() error { return context.Canceled }

func (e *InterruptedError) Explain(f *Failure) {
	*f = Failure{Code: ExitInterrupted, Message: "interrupted", Document: true}
	if e.Text != "" {
		f.Message += ": " + e.Text
	}
}

// OutputError: the answer could not be written. What the command did, it did.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return "cannot write the output: " + e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

func (e *OutputError) Explain(f *Failure) {
	f.Message = e.Error()
	switch pe := (*fs.PathError)(nil); {
	case IsBrokenPipe(e.Err): // the reader has seen enough
		*f = Failure{Code: ExitFailed}
	case errors.As(e.Err, &pe) && pe.Op == "create":
		f.Message = pe.Error() // it names the file that was asked for
	}
}

// hintedError is an error for which the command knows a better hint.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

func Hinted(err error, hint string) error { return &hintedError{err, hint} }

// Failure is an error as the person sees it.
type Failure struct {
	Code          int
	Message, Hint string
	Warnings      []string
	Choices       []string     // what the hint is to choose among, a line each
	choices       []choiceView // the same sessions, for JSON
	Conflicts     []ConflictView
	Note          bool // what the person chose: no error
	Document      bool // with --json, an error document is printed
}

// MaxNamed bounds how many paths an error names on the screen; --json has all.
const MaxNamed = 20

// Explain turns an error into message, hint and exit code. The page and the picker replace some hints by what their reader can do.
func Explain(err error) (f Failure) {
	defer func() {
		f.Message = problem.InWords(f.Message, err)
		if f.Hint == "" && f.Code == ExitFailed && errors.Is(err, fs.ErrPermission) {
			f.Hint = "check the owner and the permissions"
		}
	}()
	f = Failure{Code: ExitFailed, Message: err.Error(), Document: true}
	var (
		own      failing
		left     *treeio.AbortedError
		declined *restore.DeclinedError
		better   *hintedError
	)
	switch {
	case errors.As(err, &left) && len(left.Left) > 0 && !errors.As(err, new(*InterruptedError)): // whatever ended it
		explainEngine(err, &f)
	case errors.As(err, &own):
		own.Explain(&f)
	case errors.Is(err, context.Canceled):
		f.Code, f.Message = ExitInterrupted, "interrupted"
	case IsBrokenPipe(err):
		return Failure{Code: ExitFailed}
	case errors.As(err, &declined): // the person has answered: nothing to advise
		f.Note = true
	default:
		explainEngine(err, &f)
	}
	if errors.As(err, &better) && (own == nil || errors.As(better.error, new(failing))) {
		f.Hint = better.hint
	}
	return f
}

func (e *PartialError) Explain(f *Failure) {
	*f = Failure{Code: ExitPartial, Message: e.Error(), Hint: e.Hint}
	f.Warnings = FirstNamed(e.Paths, MaxNamed, func(p problem.Problem) string { return p.Path + ": " + p.Reason })
	if len(e.Paths) > MaxNamed {
		f.Warnings[MaxNamed] += InJSON
	}
}

// HistoryText says which stores another directory has left at a path.
func HistoryText(all []project.History) []string {
	return Map(all, func(h project.History) string {
		text := "another directory at this path had the store " + ShortStore(h.ID)
		if !h.LastSave.IsZero() {
			text += ", last saved " + h.LastSave.UTC().Format("2006-01-02 15:04 UTC")
		}
		return text
	})
}

// ShortStore is as much of a store's id as a person types.
func ShortStore(id string) string { return id[:min(len(id), 8)] }

// FirstNamed is the text of the first elements of a list, and how many more there are.
func FirstNamed[T any](list []T, most int, text func(T) string) (out []string) {
	for _, v := range FirstN(list, most) {
		out = append(out, text(v))
	}
	if n := len(list) - most; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return out
}

// WarnEach prints a warning for each of the first elements of a list. rest says where the others are listed; it may be empty.
func WarnEach[T any](o *Output, list []T, rest string, text func(T) string) {
	for _, v := range FirstN(list, MaxNamed) {
		o.Warn("%s", text(v))
	}
	if n := len(list) - MaxNamed; n > 0 {
		o.Warn("and %d more%s", n, rest)
	}
}

// InJSON follows the number of what a warning does not name.
const InJSON = "; --json lists all"

func FirstN[T any](s []T, n int) []T {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// IsBrokenPipe: the reader of stdout is gone, as with head(1).
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// ShellQuote makes a word that a person can paste into a shell.
func ShellQuote(s string) string {
	special := func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("/._-+=:,@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// NoAnswer is a search that found nothing to answer with.
func NoAnswer(message, hint string) error {
	return &FailedError{Failure{Code: ExitFailed, Message: message, Hint: hint, Document: true}}
}

// StaleError: what was asked about is not there.
type StaleError struct {
	What, Name string
	Known      bool // it was
}

func (e *StaleError) Error() string {
	if e.Known {
		return "that " + e.What + " is gone"
	}
	return "there is no such " + e.What + ": " + Quote(e.Name)
}

func (e *StaleError) Explain(f *Failure) { f.Code = ExitNotFound }
