package patch

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// Limits, in bytes: past MaxText a file is not compared by lines, past maxBinary its content is not written down.
const (
	MaxText   = 8 << 20
	maxBinary = 256 << 20
)

// Options of Write.
type Options struct {
	Context     int  // unchanged lines around a change
	IgnoreSpace bool // lines that differ in white space alone are the same
	Binary      bool // the content of binary files too, as git apply needs it
	// Head reads the first bytes of a file that is too large to be compared by lines, 8,000 or more, to tell a text; nil: all of
	// those count as binary.
	Head Source
}

// Written is what became of a pair.
type Written struct {
	Text           string // the patch; "" where nothing differs under the options
	Binary         bool   // not compared by lines
	Large          bool   // since the texts are too large
	Added, Deleted int    // lines; 0 of what is binary
	Hunks          int
}

// Write puts one pair down. Errors are those of read.
func Write(p Pair, read Source, o Options) (Written, error) {
	if p.Status() != Retyped {
		return write(p, read, o)
	}
	// As git does: one goes, the other comes.
	gone, err := write(Pair{Old: p.Old}, read, o)
	if err != nil {
		return Written{}, err
	}
	came, err := write(Pair{New: p.New}, read, o)
	return Written{
		gone.Text + came.Text, gone.Binary || came.Binary, gone.Large || came.Large,
		gone.Added + came.Added, gone.Deleted + came.Deleted, gone.Hunks + came.Hunks,
	}, err
}

// side is one content.
type side struct {
	file *File
	data []byte
	held bool // data is all of it
	text bool
	long bool // it is a text that is too large for its lines
}

func load(f *File, read Source, o Options) (side, error) {
	s := side{file: f}
	if f == nil {
		s.held, s.text = true, true
		return s, nil
	}
	var err error
	if f.Size > MaxText && o.Head != nil {
		head, err := o.Head(f)
		if err != nil {
			return s, err
		}
		s.long = IsText(head)
	}
	if f.Size > MaxText && (!o.Binary || f.Size > maxBinary) {
		return s, nil
	}
	if s.data, err = read(f); err != nil {
		return s, err
	}
	s.held = true
	s.text = IsText(s.data) && f.Size <= MaxText
	return s, nil
}

// IsText decides as git does: no NUL among the first 8,000 bytes.
func IsText(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 }

func write(p Pair, read Source, o Options) (Written, error) {
	same := p.Old != nil && p.New != nil && p.Old.Key == p.New.Key
	var old, new side
	if !same {
		var err error
		if old, err = load(p.Old, read, o); err != nil {
			return Written{}, err
		}
		if new, err = load(p.New, read, o); err != nil {
			return Written{}, err
		}
		same = old.held && new.held && p.Old != nil && p.New != nil && bytes.Equal(old.data, new.data)
	}
	w := writer{o: o}
	if same {
		if p.Status() == Modified && p.Old.Mode == p.New.Mode {
			return Written{}, nil // the same, recorded in another way
		}
		w.header(p, true)
		return w.done(), nil
	}
	w.Large = (old.long || new.long) && (old.text || old.long) && (new.text || new.long)
	switch {
	case old.text && new.text:
		a, b := linediff.Lines(string(old.data)), linediff.Lines(string(new.data))
		changes := linediff.Diff(a, b, linediff.Options{IgnoreSpace: o.IgnoreSpace})
		if len(changes) == 0 && p.Status() == Modified && p.Old.Mode == p.New.Mode {
			return Written{}, nil // white space alone
		}
		w.header(p, len(changes) == 0)
		w.index(p, old, new, 7)
		w.Added, w.Deleted = linediff.Count(changes)
		if len(changes) > 0 {
			w.names(p)
			w.lines(a, b, changes)
		}
	case o.Binary && old.held && new.held:
		w.Binary = true
		w.header(p, false)
		w.index(p, old, new, 40)
		w.text.WriteString("GIT binary patch\n")
		w.literal(new.data)
		w.literal(old.data) // for git apply -R
	default:
		w.Binary = true
		w.header(p, false)
		if old.held && new.held {
			w.index(p, old, new, 7)
		}
		what := "Binary files"
		if w.Large {
			what = "Files" // git apply refuses both
		}
		fmt.Fprintf(&w.text, "%s %s and %s differ\n", what, nameOf("a/", p.Old), nameOf("b/", p.New))
	}
	return w.done(), nil
}

type writer struct {
	Written
	o    Options
	text strings.Builder
}

func (w *writer) done() Written {
	w.Text = w.text.String()
	return w.Written
}

// header are the lines before the index. alone says that no names of either side follow: then patch reads
// those of the first line, and finds where a name with spaces ends if it is quoted.
func (w *writer) header(p Pair, alone bool) {
	old, new := p.Old, p.New
	if old == nil {
		old = new
	}
	if new == nil {
		new = old
	}
	from, to := Quote("a/"+old.Path), Quote("b/"+new.Path)
	if alone && strings.Contains(from+to, " ") {
		if from[0] != '"' {
			from = `"` + from + `"`
		}
		if to[0] != '"' {
			to = `"` + to + `"`
		}
	}
	fmt.Fprintf(&w.text, "diff --git %s %s\n", from, to)
	status := p.Status()
	switch {
	case status == Added:
		fmt.Fprintf(&w.text, "new file mode %o\n", new.Mode)
	case status == Deleted:
		fmt.Fprintf(&w.text, "deleted file mode %o\n", old.Mode)
	case old.Mode != new.Mode:
		fmt.Fprintf(&w.text, "old mode %o\nnew mode %o\n", old.Mode, new.Mode)
	}
	word := "rename"
	switch status {
	case Copied:
		word = "copy"
		fallthrough
	case Renamed:
		fmt.Fprintf(&w.text, "similarity index %d%%\n%s from %s\n%[2]s to %[4]s\n", p.Score, word, Quote(old.Path), Quote(new.Path))
	}
}

// index writes what git calls both contents, to so many digits.
func (w *writer) index(p Pair, old, new side, digits int) {
	fmt.Fprintf(&w.text, "index %s..%s", blobName(old)[:digits], blobName(new)[:digits])
	if p.Old != nil && p.New != nil && p.Old.Mode == p.New.Mode {
		fmt.Fprintf(&w.text, " %o", p.New.Mode)
	}
	w.text.WriteByte('\n')
}

func blobName(s side) string {
	if s.file == nil {
		return strings.Repeat("0", 2*sha1.Size)
	}
	h := sha1.New()
	h.Write([]byte("blob" + " " + strconv.Itoa(len(s.data)) + "\x00")) // what git calls it
	h.Write(s.data)
	return hex.EncodeToString(h.Sum(nil))
}

func nameOf(prefix string, f *File) string {
	if f == nil {
		return "/dev/null"
	}
	return Quote(prefix + f.Path)
}

func (w *writer) names(p Pair) {
	for _, n := range []struct {
		mark, name string
	}{{"---", nameOf("a/", p.Old)}, {"+++", nameOf("b/", p.New)}} {
		w.text.WriteString(n.mark + " " + n.name)
		if strings.ContainsRune(n.name, ' ') {
			w.text.WriteByte('\t') // patch ends a name at a space, unless a tab comes
		}
		w.text.WriteByte('\n')
	}
}

func (w *writer) lines(a, b []string, changes []linediff.Change) {
	h := headings{lines: a}
	for _, hunk := range linediff.Hunks(changes, w.o.Context, len(a)) {
		w.Hunks++
		WriteHunk(&w.text, a, b, hunk, h.before(hunk.A))
	}
}

// WriteHunk writes one hunk with its head; heading, which may be empty, is the head's end.
func WriteHunk(out *strings.Builder, a, b []string, hunk linediff.Hunk, heading string) {
	out.WriteString("@@ -")
	writeRange(out, hunk.A, hunk.AEnd)
	out.WriteString(" +")
	writeRange(out, hunk.B, hunk.BEnd)
	out.WriteString(" @@")
	if heading != "" {
		out.WriteString(" " + heading)
	}
	out.WriteByte('\n')
	at := hunk.A
	for _, c := range hunk.Changes {
		writeLines(out, ' ', a[at:c.A])
		writeLines(out, '-', a[c.A:c.AEnd])
		writeLines(out, '+', b[c.B:c.BEnd])
		at = c.AEnd
	}
	writeLines(out, ' ', a[at:hunk.AEnd])
}

// writeRange says which lines: the first, counted from 1, and how many if not one; of none, the line before.
func writeRange(out *strings.Builder, from, to int) {
	n := to - from
	if n > 0 {
		from++
	}
	out.WriteString(strconv.Itoa(from))
	if n != 1 {
		out.WriteString("," + strconv.Itoa(n))
	}
}

func writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		out.WriteByte(mark)
		out.WriteString(line)
		if line[len(line)-1] != '\n' {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// headings finds the line above a hunk that names its function: the last before it that begins with a letter. Hunks
// are asked for in order, so that each line is looked at once.
type headings struct {
	lines []string
	seen  int
	last  string
}

const maxHeading = 80 // bytes, as git's

func (h *headings) before(line int) string {
	for i := line - 1; i >= h.seen; i-- {
		if l := h.lines[i]; l[0] >= 'a' && l[0] <= 'z' || l[0] >= 'A' && l[0] <= 'Z' || l[0] == '_' || l[0] == '$' {
			l = l[:min(len(l), maxHeading)]
			for len(l) > 0 && !utf8.ValidString(l) && len(l) > maxHeading-utf8.UTFMax {
				l = l[:len(l)-1]
			}
			h.last = strings.TrimRight(l, " \t\r\n\v\f")
			break
		}
	}
	h.seen = max(h.seen, line)
	return h.last
}
