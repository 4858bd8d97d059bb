package hookio

import "strings"

// Rewrite is what an edit says that it made of the text of its file.
type Rewrite struct {
	swaps   []swap
	content *string // of the whole file
	partly  bool    // it did more than is known
}

// swap is a text that comes in the place of another, of each that is alike where all is set.
type swap struct {
	old, new *string
	all      bool
}

// close ends one swap.
func (r *Rewrite) close(s swap) {
	switch {
	case s.old != nil && s.new != nil:
		r.swaps = append(r.swaps, s)
	case s.old != nil || s.new != nil:
		r.partly = true
	}
}

// known reports whether the call said all.
func (r *Rewrite) known() bool { return !r.partly && (r.content != nil) != (len(r.swaps) > 0) }

// Explains reports whether the edit made a file's text of the one before it, with nothing of another's in it. Ends of
// lines, and blanks in front of them, count for nothing: tools change those as they like.
func (r *Rewrite) Explains(before, after []byte) bool {
	want := bare(string(after))
	if r.content != nil {
		return bare(*r.content) == want
	}
	text := strings.ReplaceAll(string(before), "\r\n", "\n")
	return bare(r.apply(text, false)) == want || bare(r.apply(text, true)) == want
}

// apply makes the swaps; all makes each everywhere, as some tools do unasked.
func (r *Rewrite) apply(text string, all bool) string {
	for _, s := range r.swaps {
		old, new := strings.ReplaceAll(*s.old, "\r\n", "\n"), strings.ReplaceAll(*s.new, "\r\n", "\n")
		switch {
		case old == "": // a new file, or one that was empty
			text += new
		case all || s.all:
			text = strings.ReplaceAll(text, old, new)
		default:
			text = strings.Replace(text, old, new, 1)
		}
	}
	return text
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
