package hookio

import "strings"

// Rewrite is what an edit says that it made of the text of its file.
type Rewrite struct {
	swaps   []swap
	content *string // of the whole file
	partly  bool    // it did more than is known
	size    int     // of the texts of swaps, in bytes
}

// Bounds of what is kept of an edit, and of what is made of it: a model wrote it. Past them it is not known, or not
// explained: no file that is looked at is so large.
const (
	maxSwaps     = 1000
	maxSwapBytes = 1 << 20
	maxRewritten = 4 << 20
)

// swap is a text that comes in the place of another, of each that is alike where all is set.
type swap struct {
	old, new *string
	all      bool
}

// close ends one swap.
func (r *Rewrite) close(s swap) {
	switch {
	case r.partly:
	case s.old != nil && s.new != nil:
		r.swaps, r.size = append(r.swaps, s), r.size+len(*s.old)+len(*s.new)
		if len(r.swaps) > maxSwaps || r.size > maxSwapBytes {
			r.partly, r.swaps = true, nil
		}
	case s.old != nil || s.new != nil:
		r.partly = true
	}
}

// known reports whether the call has the whole edit.
func (r *Rewrite) known() bool { return !r.partly && (r.content != nil) != (len(r.swaps) > 0) }

// Explains reports whether the edit made a file's text of the one before it, with nothing of another's in it. Ends of
// lines, and blanks in front of them, count for nothing: tools change those as they like.
func (r *Rewrite) Explains(before, after []byte) bool {
	want := bare(string(after))
	if r.content != nil {
		return bare(*r.content) == want
	}
	text := strings.ReplaceAll(string(before), "\r\n", "\n")
	for _, all := range []bool{false, true} {
		if made, ok := r.apply(text, all); ok && bare(made) == want {
			return true
		}
	}
	return false
}

// apply makes the swaps; all makes each everywhere, as some tools do unasked. It gives up where that becomes too large.
func (r *Rewrite) apply(text string, all bool) (made string, ok bool) {
	for _, s := range r.swaps {
		old, new := strings.ReplaceAll(*s.old, "\r\n", "\n"), strings.ReplaceAll(*s.new, "\r\n", "\n")
		times := 1
		if old != "" && (all || s.all) {
			times = strings.Count(text, old)
		}
		if len(text)+times*len(new) > maxRewritten {
			return "", false
		}
		switch {
		case old == "": // a new file, or one that was empty
			text += new
		case all || s.all:
			text = strings.ReplaceAll(text, old, new)
		default:
			text = strings.Replace(text, old, new, 1)
		}
	}
	return text, true
}

// found reports whether each text to be replaced is there when its turn comes.
func (r *Rewrite) found(text string, all bool) bool {
	for i := range r.swaps {
		before := &Rewrite{swaps: r.swaps[:i]}
		made, ok := before.apply(text, all)
		if !ok || !strings.Contains(made, strings.ReplaceAll(*r.swaps[i].old, "\r\n", "\n")) {
			return false
		}
	}
	return true
}

// bare is a text without what Explains does not look at.
func bare(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight(line, " \t\r"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}
