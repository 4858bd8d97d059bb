package weave

import (
	"bytes"
	"slices"

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
	if v.Content != "" {
		return w.AddText(v.Content, v.Step)
	}
	return w.Add(v.Lines, v.Step)
}

// IsText reports whether a file's content can be taken as lines: it has no NUL.
func IsText(content []byte) bool { return bytes.IndexByte(content, 0) < 0 && len(content) <= MaxText }

// File is all versions of a path: its text as a weave, and what is no text as registers. It is not
// safe for concurrent use.
type File struct {
	entries []*manifest.Entry
	steps   []int
	text    *Weave // of the versions since base, all of which are text, or nothing
	base    int
}

// NewFile begins with the oldest version that is known.
func NewFile(oldest Version) *File {
	f := &File{}
	f.Add(oldest)
	return f
}

// Add puts the next version in. The caller may reuse v.Lines and v.Content afterwards.
func (f *File) Add(v Version) {
	f.entries = append(f.entries, v.Entry)
	f.steps = append(f.steps, v.Step)
	switch {
	case v.Entry != nil && !v.Text:
		f.text = nil
	case f.text != nil && v.add(f.text) == nil:
	default:
		f.base = len(f.entries) - 1
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

// Reason says why a path as a whole is in conflict.
type Reason uint8

const (
	Created   Reason = iota + 1 // own steps made it what it is, and others changed it since
	Recreated                   // own steps took it away, and others put something else there
	Changed                     // its content is no text, and others changed it after own steps
)

// PathConflict is what cannot be taken out of a path. It stays unchanged, or with Undo becomes what it was before
// the first own step. There are no Markers.
type PathConflict struct {
	Reason  Reason
	Choice  Choice
	Before  *manifest.Entry // before the first own step; nil: nothing there
	Own     []int           // steps, in order
	Foreign []int           // those of others since
}

// FileOptions of File.Without.
type FileOptions struct {
	Options
	ChoosePath func(PathConflict) Choice // nil keeps all
}

// FileResult is a path without own steps.
type FileResult struct {
	Entry    *manifest.Entry // nil: nothing there. Not to be changed
	Merged   bool            // the content is Text.Lines, which may be no version's: ID and Size of Entry are not valid
	Text     Result          // of a path whose content is taken as lines
	AsText   bool            // it is
	Conflict *PathConflict   // of the path as a whole; Text has those of its blocks
	Own      []int           // own steps that have a part in the newest version, in order
}

// Without gives the path as if own steps had not been. Existence and kind, mode, and target of a link are what the
// last foreign step made them. A text is taken as lines where it has been text since before the first own
// step; any other content must be all others', or all own since some version. What is below
// a directory is not looked at.
func (f *File) Without(own func(step int) bool, o FileOptions) FileResult {
	r := registers{f: f}
	first := r.assign(own)
	now := f.entries[len(f.entries)-1]
	if first == 0 {
		return FileResult{Entry: now, AsText: f.text != nil}
	}
	r.walk(first)
	out := FileResult{Entry: r.outside, Own: r.own, AsText: f.text != nil && f.base < first}
	if out.AsText {
		out.Text = f.text.Without(own, o.Options)
	}
	reason := r.reason(first, out)
	if reason == 0 {
		if !isFile(out.Entry) {
			out.Text = Result{} // others took it away, or all of it was own
		} else if out.AsText {
			out.Merged = !isFile(now) || !slices.Equal(out.Text.Lines, f.text.Newest())
			if !out.Merged {
				out.Entry = withContent(out.Entry, now)
			}
		}
		return out
	}
	c := &PathConflict{Reason: reason, Before: f.entries[first-1], Own: r.own, Foreign: r.foreign}
	if o.ChoosePath != nil {
		c.Choice = o.ChoosePath(*c)
	}
	out.Conflict, out.Text = c, Result{}
	switch {
	case c.Choice == Undo:
		out.Entry = c.Before
	case reason == Changed:
		out.Entry = withContent(out.Entry, now)
	default:
		out.Entry = now
	}
	return out
}

// registers are the values of a path's fields that others set.
type registers struct {
	f            *File
	roles        []role
	outside      *manifest.Entry
	own, foreign []int // steps
	made         bool  // an own step made the path what it is (its kind, or that it is there)
	madeChanged  bool  // and others changed it since
	taken        int   // the version before the last own step that took the path away; none if others did not put something there since
	content      bool  // an own step changed content that is no text, and then others did
}

// assign gives each version its role, and the first own one; 0 for none. A version that comes back to an
// earlier one, in more than its mode, is a return.
func (r *registers) assign(isOwn func(int) bool) int {
	f := r.f
	r.roles = make([]role, len(f.entries))
	r.roles[0] = foreign
	first := 0
	for i := len(f.entries) - 1; i > 0; {
		back := r.back(i)
		switch {
		case isOwn(f.steps[i]):
			r.roles[i] = own
			first = i
			i--
		case back >= 0:
			i = back
		default:
			r.roles[i] = foreign
			i--
		}
	}
	return first
}

// back gives the newest earlier version that version i returns to, or none.
func (r *registers) back(i int) int {
	e, before := r.f.entries[i], r.f.entries[i-1]
	if what(e) == what(before) && sameContent(e, before) {
		return none
	}
	for j := i - 2; j >= 0; j-- {
		if alike(r.f.entries[j], e) {
			return j
		}
	}
	return none
}

// walk goes through the versions with a part, oldest first.
func (r *registers) walk(first int) {
	r.taken = none
	entries := r.f.entries
	r.outside = entries[first-1]
	ownContent := false
	for i := first; i < len(entries); i++ {
		was, is := entries[i-1], entries[i]
		step := r.f.steps[i]
		switch r.roles[i] {
		case own:
			r.own = appendNew(r.own, step)
			switch {
			case what(was) != what(is):
				r.made, r.madeChanged, r.content, ownContent = is != nil, false, false, false
				if r.taken = none; was != nil && is == nil {
					r.taken = i - 1
				}
			case !sameContent(was, is):
				ownContent = true
			}
		case foreign:
			if alike(was, is) {
				continue
			}
			r.foreign = appendNew(r.foreign, step)
			r.set(was, is)
			switch {
			case what(was) != what(is):
				r.made, r.madeChanged, r.content, ownContent = false, false, false, false
				if was != nil {
					r.taken = none // theirs is the last that went
				}
			case !sameContent(was, is):
				r.content = r.content || ownContent
				r.madeChanged = r.made
			default:
				r.madeChanged = r.made
			}
		}
	}
}

func appendNew(steps []int, step int) []int {
	if slices.Contains(steps, step) {
		return steps
	}
	return append(steps, step)
}

// set takes over what a foreign step changed.
func (r *registers) set(was, is *manifest.Entry) {
	switch {
	case is == nil || was == nil || what(was) != what(is):
		r.outside = is
		return
	case r.outside == nil || what(r.outside) != what(is):
		return // it has no such fields now: the path is in conflict
	}
	e := *r.outside
	if was.Mode != is.Mode {
		e.Mode = is.Mode
	}
	if !sameContent(was, is) {
		e = *withContent(&e, is)
	}
	r.outside = &e
}

// reason gives why the path is in conflict, or 0.
func (r *registers) reason(first int, out FileResult) Reason {
	entries := r.f.entries
	now := entries[len(entries)-1]
	switch {
	case now == nil && out.Entry == nil, alike(now, entries[first-1]):
		return 0
	case what(now) != what(out.Entry):
		// Of a text that others changed nothing may be left.
		left := !out.AsText || !isFile(now) || len(out.Text.Lines) > 0 || out.Text.Conflicts() > 0 || r.modeChanged(first)
		if now != nil && r.made && r.madeChanged && left {
			return Created
		}
	case out.AsText && isFile(now):
		return 0 // its blocks say so
	case r.taken >= 0 && now != nil && !alike(entries[r.taken], now):
		return Recreated
	case r.content && isFile(now):
		return Changed
	}
	return 0
}

// modeChanged reports whether a foreign step since an own one changed the mode of what was there.
func (r *registers) modeChanged(first int) bool {
	for i := first; i < len(r.roles); i++ {
		was, is := r.f.entries[i-1], r.f.entries[i]
		if r.roles[i] == foreign && what(was) == what(is) && was != nil && was.Mode != is.Mode {
			return true
		}
	}
	return false
}

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

func isFile(e *manifest.Entry) bool { return what(e) == manifest.File }

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

func alike(a, b *manifest.Entry) bool {
	return what(a) == what(b) && (a == nil || sameContent(a, b) && a.Mode == b.Mode)
}

// withContent is an entry with the content of another of the same kind.
func withContent(e, content *manifest.Entry) *manifest.Entry {
	out := *content
	out.Mode = e.Mode
	return &out
}
