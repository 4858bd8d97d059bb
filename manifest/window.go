package manifest

import (
	"encoding/binary"
	"time"

	"github.com/rewind-cli/rewind/manifest/wire"
)

// Window is one line that a hook event leaves: where an agent's work began or ended.
type Window struct {
	Time                               time.Time // when the hook began, UTC, in nanoseconds
	Agent, Session, Subagent, PromptID string
	Call                               string // the agent's id of the tool call, "" where it has none
	Tool                               string
	Summary                            string // the command line's first line, or the files; at most MaxToolSummary bytes
	Class                              WindowClass
	Edge                               WindowEdge
	Files                              []string // below the root, with slashes: what an edit declares, what a command line writes; absolute: what an edit declares elsewhere
	Background                         bool     // a command that runs on after its close
}

// WindowClass says what kind of work a window is about. A newer program may have others.
type WindowClass uint8

const (
	WindowNone  WindowClass = iota // a point, as a prompt or a stop is
	WindowEdit                     // a tool that declares the files it writes
	WindowShell                    // a command line
	WindowOther                    // any other tool: what it writes is unknown
)

// WindowEdge says which end of work a window is. A newer program may have others.
type WindowEdge uint8

const (
	WindowOpen         WindowEdge = iota + 1 // before a tool's call
	WindowClose                              // after it
	WindowPrompt                             // the person sent a prompt
	WindowStop                               // the agent came to its end
	WindowSubagentStop                       // a subagent did
	WindowStart                              // a session began
	WindowEnd                                // a session ended
	WindowLost                               // up to its time windows, or when paths were written, were left out: there were too many
	WindowUnseen                             // before a tool's call, of which files, none for all of them, could not be looked at; after it, which it did not change alone
)

// Changed is a path that a checkpoint has other than its parent, and when it was last written.
type Changed struct {
	Path string    // below the root, with slashes
	At   time.Time // ctime as the scan saw it, UTC; of a path that is gone, its directory's
}

// MaxWindows is how many bytes of windows a checkpoint holds at most: some 1,500. Of more the newest stay, after
// one that says WindowLost.
const MaxWindows = 64 << 10

// MaxChanged is how many paths a checkpoint keeps the ctimes of; of more it keeps none.
const MaxChanged = 4096

// The form of both fields: their first byte.
const (
	windowsForm = 1
	changedForm = 1
)

// AppendWindows appends the canonical bytes of windows in their order, as Checkpoint.Windows holds them: each text is there
// once, times are differences. No windows append nothing.
func AppendWindows(dst []byte, windows []Window) []byte {
	if len(windows) == 0 {
		return dst
	}
	w := windowWriter{dst: append(dst, windowsForm), refs: map[string]uint64{}}
	var last int64
	for i := range windows {
		v := &windows[i]
		at := nanos(v.Time)
		w.dst = binary.AppendVarint(w.dst, at-last) // wraps, and back again when read
		last = at
		head := uint64(v.Class)<<1 | uint64(v.Edge)<<9
		if v.Background {
			head |= 1
		}
		w.dst = binary.AppendUvarint(w.dst, head)
		for _, s := range []string{v.Agent, v.Session, v.Subagent, v.PromptID, v.Call, v.Tool, v.Summary} {
			w.text(s)
		}
		w.dst = binary.AppendUvarint(w.dst, uint64(len(v.Files)))
		for _, s := range v.Files {
			w.text(s)
		}
	}
	return w.dst
}

// windowWriter writes each text where it comes first, and its number from then on: 0 is none, 1 a new one.
type windowWriter struct {
	dst  []byte
	refs map[string]uint64
}

func (w *windowWriter) text(s string) {
	if s == "" {
		w.dst = append(w.dst, 0)
		return
	}
	if n, known := w.refs[s]; known {
		w.dst = binary.AppendUvarint(w.dst, n+2)
		return
	}
	w.refs[s] = uint64(len(w.refs))
	w.dst = wire.AppendText(append(w.dst, 1), pack(s))
}

// ParseWindows reads what AppendWindows wrote; what it would not write is a *FormatError.
func ParseWindows(data string) ([]Window, error) {
	if data == "" {
		return nil, nil
	}
	r := windowReader{Decoder: wire.Decoder{What: "windows", Data: data}, known: map[string]bool{}}
	if r.Byte() != windowsForm {
		r.Fail("unknown form")
	}
	var windows []Window
	var last int64
	for r.More() {
		var v Window
		last += r.varint()
		v.Time = timeOf(last)
		head := r.AtMost(1<<17 - 1)
		v.Background = head&1 != 0
		v.Class, v.Edge = WindowClass(head>>1), WindowEdge(head>>9)
		for _, s := range []*string{&v.Agent, &v.Session, &v.Subagent, &v.PromptID, &v.Call, &v.Tool, &v.Summary} {
			*s = r.text()
		}
		n := r.AtMost(uint64(len(r.Data) - r.Pos)) // a byte each at least
		if n > 0 && r.Err == nil {
			v.Files = make([]string, n)
			for i := range v.Files {
				v.Files[i] = r.text()
			}
		}
		windows = append(windows, v)
	}
	if windows == nil {
		r.Fail("no windows")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return windows, nil
}

type windowReader struct {
	wire.Decoder
	table []string
	known map[string]bool
}

func (r *windowReader) text() string {
	switch n := r.Uvarint(); {
	case r.Err != nil || n == 0:
		return ""
	case n > 1:
		if n-2 >= uint64(len(r.table)) {
			r.Fail("text that was not there before")
			return ""
		}
		return r.table[n-2]
	}
	packed := r.Text()
	if r.Err != nil {
		return ""
	}
	s, ok := unpack(packed)
	if !ok {
		r.Fail("text not in its canonical form")
		return ""
	}
	if r.known[s] {
		r.Fail("text twice")
		return ""
	}
	r.known[s] = true
	r.table = append(r.table, s)
	return s
}

func (r *windowReader) varint() int64 { return zigzag(r.Uvarint()) }

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// nanos is a time as the log has it: the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return clampNanos(t)
}

func timeOf(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// AppendChanged appends the canonical bytes of changed paths, as Checkpoint.Changed holds them. They are in path order,
// each once. None, and more than MaxChanged, append nothing.
func AppendChanged(dst []byte, changed []Changed) []byte {
	if len(changed) == 0 || len(changed) > MaxChanged {
		return dst
	}
	dst = append(dst, changedForm)
	var last int64
	before := ""
	for _, c := range changed {
		same := commonPrefix(before, c.Path)
		dst = wire.AppendText(binary.AppendUvarint(dst, uint64(same)), c.Path[same:])
		at := nanos(c.At)
		dst = binary.AppendVarint(dst, at-last)
		before, last = c.Path, at
	}
	return dst
}

// ParseChanged reads what AppendChanged wrote; what it would not write is a *FormatError.
func ParseChanged(data string) ([]Changed, error) {
	if data == "" {
		return nil, nil
	}
	r := wire.Decoder{What: "changed paths", Data: data}
	if r.Byte() != changedForm {
		r.Fail("unknown form")
	}
	var changed []Changed
	var last int64
	before := ""
	total := 0
	for r.More() {
		same := r.AtMost(uint64(len(before)))
		rest := r.Text()
		last += zigzag(r.Uvarint())
		if r.Err != nil {
			break
		}
		path := before[:same] + rest
		switch total += len(path); {
		case total > MaxChanged*4096:
			r.Fail("paths too long")
		case len(changed) == MaxChanged:
			r.Fail("too many paths")
		case path == "" || before != "" && comparePaths(before, path) >= 0:
			r.Fail("paths out of order")
		case commonPrefix(before, path) != int(same):
			r.Fail("path not in its canonical form")
		}
		changed = append(changed, Changed{Path: path, At: timeOf(last)})
		before = path
	}
	if changed == nil {
		r.Fail("no paths")
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return changed, nil
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// comparePaths compares in path order: a slash comes before every other byte.
func comparePaths(a, b string) int {
	n := commonPrefix(a, b)
	switch {
	case n == len(a) || n == len(b):
		return len(a) - len(b)
	case a[n] == '/':
		return -1
	case b[n] == '/':
		return 1
	}
	return int(a[n]) - int(b[n])
}
