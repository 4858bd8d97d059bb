package weave

import (
	"bytes"

	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/manifest"
)

// MaxText is the largest file, in bytes, that is taken as lines.
const MaxText = 8 << 20

// Version is a path as a step left it.
type Version struct {
	Step  int             // Oldest, or whatever, for the oldest
	Entry *manifest.Entry // nil: nothing there
	Text  bool            // of a file: Content or Lines are its content. Whoever reads it decides: IsText, and no more than MaxText
	Lines []string
	Taken *Taken // it was made by taking steps out of the one before; nil: it was written
	Back  *int   // it is a return to what a step up to this one left: see Weave.ReturnsTo

	Content string // the same in one piece; "" where there are Lines
}

// add makes it a weave's next version.
func (v *Version) add(w *Weave) error {
	if v.Taken != nil {
		lines := v.Lines
		if v.Content != "" {
			lines = linediff.Lines(v.Content)
		}
		return w.AddWithout(lines, v.Step, *v.Taken)
	}
	if v.Back != nil {
		w.ReturnsTo(*v.Back)
	}
	if v.Content != "" {
		return w.AddText(v.Content, v.Step)
	}
	return w.Add(v.Lines, v.Step)
}

// IsText reports whether a file's content can be taken as lines: it has no NUL.
func IsText(content []byte) bool { return bytes.IndexByte(content, 0) < 0 && len(content) <= MaxText }

// File is the text of a path in all its versions, as a weave. It is not safe for concurrent use.
type File struct {
	versions int
	text     *Weave // of the versions since base, all of which are text, or nothing
	base     int
}

// NewFile begins with the oldest version that is known.
func NewFile(oldest Version) *File {
	f := &File{}
	f.Add(oldest)
	return f
}

// Add puts the next version in. The caller may reuse v.Lines and v.Content afterwards.
func (f *File) Add(v Version) {
	f.versions++
	switch {
	case v.Entry != nil && !v.Text:
		f.text = nil
	case f.text != nil && v.add(f.text) == nil:
	default:
		f.base = f.versions - 1
		if v.Content != "" {
			f.text = NewText(v.Content)
		} else {
			f.text = New(v.Lines)
		}
		if f.text.made[0].back == tooLarge {
			f.text = nil
		}
	}
}

// Weave gives the text's weave, for blame, and the version that it begins with, from 0. It is nil where the
// newest version is no text.
func (f *File) Weave() (*Weave, int) { return f.text, f.base }

// what is the kind of an entry; one for both that files have, 0 for nothing.
func what(e *manifest.Entry) manifest.Kind {
	switch {
	case e == nil:
		return 0
	case e.Kind == manifest.Chunked:
		return manifest.File
	}
	return e.Kind
}

// sameContent compares entries of one kind in all but their mode.
func sameContent(a, b *manifest.Entry) bool {
	switch what(a) {
	case manifest.File:
		return a.ID == b.ID
	case manifest.Symlink:
		return a.Target == b.Target
	}
	return true
}
