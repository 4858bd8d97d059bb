package transcript

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// ForkPrefix begins the title of every fork.
const ForkPrefix = "[Fork] "

// Fork makes a new session of the lines that lead to an event.
type Fork struct {
	Index *Index
	Data  io.Reader // the transcript that Index was read from, from its beginning
	File  string    // its path, also if it is gone; the new one lies beside it
	Leaf  string    // the last event of the new session
	Title string    // "": the old one's title, else its first prompt
	// Dir is the working directory to open the new session in; "": the old one's.
	// Where that has gone, Folder is where clients look for Dir's sessions; "": beside File.
	Dir, Folder string

	// Sidecar opens what is held of a file beside the transcript (such as
	// ".settings.json"); nil, or an error that is fs.ErrNotExist: the file itself.
	Sidecar func(suffix string) (io.ReadCloser, error)

	NewID func() string           // nil: a random UUID
	Now   func() time.Time        // nil: time.Now
	Owner func(name string) error // gives a created file to its rightful owner; nil: nothing
}

// Forked is a session that a Fork made.
type Forked struct {
	Agent   Agent
	Session string
	File    string
	Dir     string   // working directory to open it in, "" if unknown
	Files   []string // all files made, the transcript last
}

// Command opens the session; it is for a POSIX shell.
func (f *Forked) Command() string { return Command(f.Agent, f.Dir, f.Session) }

// Command is the shell command that opens a session in its directory.
func Command(a Agent, dir, session string) string {
	format, ok := a.format()
	if !ok {
		return ""
	}
	words := format.command(session)
	for i := range words {
		words[i] = shellQuote(words[i])
	}
	return InDir(dir, strings.Join(words, " "))
}

// InDir is the shell command that runs another one in a directory; "": where it is. A directory that is
// gone is made again: agents look for a session where it began.
func InDir(dir, run string) string {
	if dir == "" {
		return run
	}
	enter := "cd " + shellQuote(dir) + " && "
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		enter = "mkdir -p " + shellQuote(dir) + " && " + enter
	}
	return enter + run
}

// shellQuote leaves plain words unquoted.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Prepare writes the new session's files, each under a temporary name, synced, with mode 0600. The
// caller publishes or discards all of them, the transcript last. Nothing that exists is replaced.
// Errors: *NoEventError, *NothingBeforeError, and those of reading and writing.
func (f *Fork) Prepare() (_ Forked, staged []*Staged, err error) {
	k, err := f.plan()
	if err != nil {
		return Forked{}, nil, err
	}
	dir := cmp.Or(f.Folder, filepath.Dir(f.File))
	out := Forked{
		Agent: f.Index.Agent, Session: k.id, File: k.format.newFile(dir, k.id, k.now),
		Dir: cmp.Or(f.Dir, f.Index.Dir(f.File)),
	}
	if err := os.MkdirAll(filepath.Dir(out.File), 0o700); err != nil {
		return Forked{}, nil, err
	}
	defer func() {
		if err != nil {
			for _, s := range staged {
				s.Discard()
			}
			staged = nil
		}
	}()
	for _, suffix := range k.format.sidecars {
		src, err := f.sidecar(suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Forked{}, staged, err
		}
		s, err := Stage(filepath.Join(dir, k.id+suffix), false, f.Owner, func(w io.Writer) error { _, err := io.Copy(w, src); return err })
		src.Close()
		if err != nil {
			return Forked{}, staged, err
		}
		staged = append(staged, s)
		out.Files = append(out.Files, s.Name)
	}
	s, err := Stage(out.File, false, f.Owner, func(w io.Writer) error { return k.write(w, f.Data, false) })
	if err != nil {
		return Forked{}, staged, err
	}
	out.Files = append(out.Files, out.File)
	return out, append(staged, s), nil
}

func (f *Fork) sidecar(suffix string) (io.ReadCloser, error) {
	if f.Sidecar != nil {
		r, err := f.Sidecar(suffix)
		if !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	r, _, err := vfs.OpenRegular(strings.TrimSuffix(f.File, ".jsonl")+suffix, 0)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (f *Fork) plan() (*forking, error) {
	k, err := newForking(f.Index, f.Leaf)
	if err != nil {
		return nil, err
	}
	k.now = time.Now()
	if f.Now != nil {
		k.now = f.Now()
	}
	if f.NewID != nil {
		k.id = f.NewID()
	} else {
		k.id = newUUID()
	}
	k.from, k.file = f.Index.Session, f.File
	if name, ok := k.format.sessionOf(f.File); ok {
		k.from = name
	}
	if f.Folder != "" || f.Dir != f.Index.Dir(f.File) {
		k.dir = f.Dir
	}
	k.title = ForkPrefix + strings.TrimPrefix(clip(cmp.Or(f.Title, f.Index.defaultTitle()), 100), ForkPrefix)
	return k, nil
}

// Linear writes what an in-place restore makes of a transcript: the same
// session with only the lines that lead to leaf, byte for byte, in file order,
// with its titles. The caller keeps a backup and replaces the file.
// It returns the last event of the session then.
func Linear(w io.Writer, x *Index, data io.Reader, leaf string) (string, error) {
	k, err := newForking(x, leaf)
	if err != nil {
		return "", err
	}
	k.id = x.Session
	return k.sel.Leaf, k.write(w, data, true)
}

// forking is one fork being made.
type forking struct {
	x      *Index
	format format
	sel    Selection
	from   string // the old session
	file   string // its transcript
	id     string // the new one
	title  string
	dir    string // working directory to write into it, "" for what it has
	now    time.Time
}

func newForking(x *Index, leaf string) (*forking, error) {
	format, err := x.Agent.known()
	if err != nil {
		return nil, err
	}
	sel, err := x.Cut(leaf)
	if err != nil {
		return nil, err
	}
	return &forking{x: x, format: format, sel: sel}, nil
}

// write copies the lines that are wanted from data, in order.
func (k *forking) write(w io.Writer, data io.Reader, place bool) error {
	out := bufio.NewWriterSize(w, 64<<10)
	in := bufio.NewReaderSize(data, 256<<10)
	var at int64
	var raw, line []byte
	next := 0 // in sel.Lines
	past := false
	for i := range k.x.Lines {
		if k.format.whole && next == len(k.sel.Lines) {
			break // the lines behind the leaf begin the next turn
		}
		l := &k.x.Lines[i]
		selected := next < len(k.sel.Lines) && k.sel.Lines[next] == i
		if selected {
			next++
		} else if l.tree() && !l.Side && next == len(k.sel.Lines) {
			past = true // the lines between the leaf and the next event are before the cut
		}
		switch {
		case selected:
		case l.tree() || l.Broken || !k.format.keep(l, place, past):
			continue
		}
		if _, err := in.Discard(int(l.Offset - at)); err != nil {
			return short(err)
		}
		if int64(cap(raw)) < l.Length {
			raw = make([]byte, l.Length)
		}
		raw = raw[:l.Length]
		if _, err := io.ReadFull(in, raw); err != nil {
			return short(err)
		}
		at = l.Offset + l.Length
		line = append(line[:0], raw[:len(raw)-1]...)
		if !place {
			var err error
			if line, err = splice(line[:0], raw[:len(raw)-1], k.format.edits(k, i)...); err != nil {
				return fmt.Errorf("line at byte %d: %w", l.Offset, err)
			}
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if k.format.trailer == nil {
		return out.Flush()
	}
	for _, line := range k.format.trailer(k, place) {
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Flush()
}

// origin says what the fork is a copy of.
func (k *forking) origin() []byte { return object("session", k.from, "leaf", k.sel.Leaf) }

// workingDir is the directory to open the new session in, "" if unknown.
func (k *forking) workingDir() string {
	if k.dir == "" && len(k.x.Dirs) > 0 {
		return k.x.Dirs[0]
	}
	return k.dir
}

func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errShort
	}
	return err
}

// lastPrompt is the text of the newest prompt that is kept, for pickers.
func (k *forking) lastPrompt() string {
	prompts, err := k.x.Prompts(k.sel.Leaf)
	if err != nil || len(prompts) == 0 {
		return ""
	}
	return clip(strings.Join(strings.Fields(withoutReminders(k.x.Lines[prompts[0]].Text)), " "), 200)
}

func (x *Index) defaultTitle() string {
	if x.Title != "" {
		return x.Title
	}
	for i := range x.Lines {
		if l := &x.Lines[i]; l.Prompt && l.Label() != "" {
			return clip(l.Label(), 100)
		}
	}
	return x.Session
}

// clip shortens s to n characters.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// stamp is a time as clients write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
