package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Store keeps what is captured. Implementations cut and compress as they like.
type Store interface {
	// Put stores all bytes of r and returns their id and number.
	Put(r io.Reader) (id oid.ID, size int64, err error)
	// Get opens what was put. The bytes are verified as they are read.
	Get(id oid.ID) (io.ReadCloser, error)
}

// Capture stores what conversations gained. The zero value of Previous captures anew.
type Capture struct {
	Store Store
	Agent Agent
	File  string // the transcript, as the agent named it
	// From, if not nil, has the transcript's bytes, wherever File is: a copy, with no files beside it.
	From *io.SectionReader

	Previous     oid.ID // Content of the session's capture before, zero for none
	PreviousLeaf string // its Leaf

	OnlyJSON bool // a file that does not begin with JSON is an error
}

// Captured is what a capture gave.
type Captured struct {
	Content     oid.ID // a List; zero: the conversation is empty
	Change      Change // of the transcript
	Offset      int64  // bytes of the transcript held, through the last complete line
	Leaf        string // the last event of the conversation, "" if it is empty
	PromptID    string // of the newest prompt among the new lines, else, where the agent has none for prompts, that of its line; "" if none came
	Prompt      string // its text
	HasMessages bool   // messages are among the new lines, or it is not known
	Added       int64  // bytes of transcript and side files given to the store
	// Missed names side files that could not be captured, with the reason.
	Missed map[string]error
}

// Run captures the transcript and the files beside it. A file that is not there
// is an empty conversation. It costs what was appended, and 128 KiB read to see
// that nothing else changed; only a rewritten file is read as a whole.
// Errors: *ChangedError after a second try, *DamagedError, and those of the
// store and the file system.
func (c *Capture) Run() (Captured, error) {
	f, err := c.Agent.known()
	if err != nil {
		return Captured{}, err
	}
	before, err := readList(c.Store, c.Previous)
	if err != nil {
		// What is held cannot be read: capture anew, nothing is lost by that. A
		// store that is out of order altogether fails at the next Put.
		c.Previous, c.PreviousLeaf, before = oid.ID{}, "", nil
	}
	got, list, err := c.file(c.File, c.Previous, before, true)
	if err != nil || got.Change == Missing {
		return got, err
	}
	var held oid.ID
	if before != nil {
		held = before.Sides
	}
	sides := held
	if c.From == nil && f.sides != nil {
		if sides, err = c.sides(f, held, &got); err != nil {
			return Captured{}, err
		}
	}
	if got.Change == Same && sides == held {
		return got, nil
	}
	list.Sides = sides
	got.Content, err = c.putList(list)
	return got, err
}

// file captures one file. The list is new, or that of before where nothing came.
func (c *Capture) file(name string, id oid.ID, before *List, lines bool) (Captured, *List, error) {
	for try := 0; ; try++ {
		got, list, err := c.fileOnce(name, id, before, lines)
		if (errors.As(err, new(*ChangedError)) || errors.Is(err, io.ErrUnexpectedEOF)) && try == 0 {
			continue
		}
		return got, list, err
	}
}

func (c *Capture) fileOnce(name string, id oid.ID, before *List, lines bool) (Captured, *List, error) {
	var f io.ReaderAt
	var size int64
	if c.From != nil {
		f, size = c.From, c.From.Size()
	} else {
		file, info, err := vfs.OpenRegular(name, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return Captured{Change: Missing}, nil, nil
		}
		if err != nil {
			return Captured{}, nil, err
		}
		defer file.Close()
		f, size = file, info.Size()
	}
	if before == nil {
		before = &List{}
	}
	plan, err := NewPlan(before.Cursor, f, size, lines)
	if err != nil {
		return Captured{}, nil, err
	}
	got := Captured{Content: id, Change: plan.Change, Offset: before.Cursor.Offset, Leaf: c.PreviousLeaf}
	if plan.Change == Same {
		kept := *before
		return got, &kept, nil
	}
	if lines && name == c.File {
		if c.OnlyJSON && plan.Segment.Offset == 0 && plan.Segment.Length > 0 && !beginsWithJSON(f) {
			return Captured{}, nil, errors.New("the file holds no JSON: it is no conversation")
		}
		c.follow(f, plan, &got)
	}
	list := before
	if plan.Change == Rewritten {
		// A client that cuts its last line, or a restore in place, leaves most
		// of the file as it was: keep the segments that still fit.
		id, list = c.keepPrefix(f, id, plan.Segment.Length, &plan)
	}
	seg, track := plan.Segment, plan.edges()
	kept := *list
	next := &kept
	if seg.Length > 0 {
		key, n, err := c.Store.Put(io.TeeReader(io.NewSectionReader(f, seg.Offset, seg.Length), track))
		if err != nil {
			return Captured{}, nil, err
		}
		if n != seg.Length || track.total != seg.Offset+n {
			return Captured{}, nil, &ChangedError{name}
		}
		next = list.next(id)
		next.Entries = append(next.Entries, Entry{key, n})
		got.Added = n
	}
	next.Cursor = track.cursor()
	got.Offset = next.Cursor.Offset
	if next.Cursor.Offset == 0 {
		next = &List{}
	}
	return got, next, nil
}

// beginsWithJSON reports whether one of a file's first lines could be JSON. A payload can name any file, and one that
// is no conversation is nothing to keep.
func beginsWithJSON(f io.ReaderAt) bool {
	buf := make([]byte, 64<<10)
	n, _ := f.ReadAt(buf, 0)
	for line := range bytes.Lines(buf[:n]) {
		if line = bytes.TrimLeft(line, " \t\r\n\ufeff"); len(line) > 0 && (line[0] == '{' || line[0] == '[') {
			return true
		}
	}
	return false
}

// next returns the list to which the next segment is added.
func (l *List) next(id oid.ID) *List {
	if len(l.Entries) == listEntries {
		return &List{Parent: id, Before: l.Cursor.Offset}
	}
	n := *l
	n.Entries = append(make([]Entry, 0, len(l.Entries)+1), l.Entries...)
	return &n
}

// putList stores a list; the empty one is the zero ID.
func (c *Capture) putList(l *List) (oid.ID, error) {
	if len(l.Entries) == 0 && l.Sides == (oid.ID{}) {
		return oid.ID{}, nil
	}
	id, _, err := c.Store.Put(bytes.NewReader(l.Append(nil)))
	return id, err
}

// follow finds the last event of the conversation after the new lines, from
// these alone where that is possible.
func (c *Capture) follow(f io.ReaderAt, p Plan, got *Captured) {
	if p.Change == Rewritten {
		got.Leaf = ""
	}
	x, err := Read(c.Agent, io.NewSectionReader(f, p.Segment.Offset, p.Segment.Length))
	if err != nil {
		// Nothing in them is understood: the bytes are captured all the same.
		got.HasMessages = got.Leaf == "" // else they are notes of the client
		return
	}
	if leaf := x.Leaf(); leaf != "" {
		got.Leaf = leaf
	}
	if x.stated {
		// The person went back inside the agent: that is about older lines,
		// and rare enough to read them all.
		whole, err := Read(c.Agent, io.NewSectionReader(f, 0, p.Segment.Offset+p.Segment.Length))
		if err == nil {
			got.Leaf = whole.Leaf()
		}
	}
	got.HasMessages = slices.ContainsFunc(x.Lines, func(l Line) bool { return l.Role != NoRole && l.tree() && !l.Side })
	for i := len(x.Lines) - 1; i >= 0; i-- {
		if l := &x.Lines[i]; l.Prompt && !l.Side {
			got.PromptID, got.Prompt = cmp.Or(l.PromptID, l.ID), l.Text
			break
		}
	}
}

// keepPrefix finds how many of the held segments are still the beginning of
// the file, whose complete lines end at end, and makes the plan one for the
// rest. It returns the list of those segments and that list's id.
func (c *Capture) keepPrefix(f io.ReaderAt, id oid.ID, end int64, p *Plan) (oid.ID, *List) {
	chain, err := readChain(c.Store, id)
	if err != nil {
		chain = nil // nothing can be kept of what cannot be read
	}
	var at int64
	keep, kept := oid.ID{}, &List{}
	track := &edges{}
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i].list
		part := &List{Parent: l.Parent, Before: l.Before, Sides: l.Sides}
		for _, e := range l.Entries {
			if at+e.Length > end {
				i = 0
				break
			}
			same, err := c.equal(e, f, at, track)
			if err != nil || !same { // unreadable is as good as different
				i = 0
				break
			}
			at += e.Length
			part.Entries = append(part.Entries, e)
		}
		if len(part.Entries) == 0 {
			break
		}
		if len(part.Entries) == len(l.Entries) {
			keep, kept = chain[i].id, l
			continue
		}
		part.Cursor.Offset = at
		keep, kept = oid.ID{}, part
	}
	if at == 0 {
		return oid.ID{}, &List{}
	}
	p.Segment = Segment{at, end - at}
	p.head, p.tail = track.head, track.tail
	return keep, kept
}

// equal compares a stored segment with the file; track sees it if they are equal.
func (c *Capture) equal(e Entry, f io.ReaderAt, at int64, track *edges) (bool, error) {
	r, err := c.Store.Get(e.ID)
	if err != nil {
		return false, err
	}
	defer r.Close()
	saved := edges{track.total, bytes.Clone(track.head), bytes.Clone(track.tail)}
	a, b := make([]byte, 256<<10), make([]byte, 256<<10)
	for left := e.Length; left > 0; {
		n := min(left, int64(len(a)))
		if _, err := io.ReadFull(r, a[:n]); err != nil {
			return false, err
		}
		if _, err := f.ReadAt(b[:n], at); err != nil && err != io.EOF {
			return false, err
		}
		if !bytes.Equal(a[:n], b[:n]) {
			*track = saved
			return false, nil
		}
		track.Write(a[:n])
		left, at = left-n, at+n
	}
	return true, nil
}

// sides captures the files beside the transcript and returns the object that
// lists them. What vanished since stays listed: it is part of the conversation.
func (c *Capture) sides(f format, held oid.ID, got *Captured) (oid.ID, error) {
	found, err := f.sides(c.File)
	if err != nil {
		got.miss("side files", err)
	}
	states, err := readSides(c.Store, held)
	if err != nil {
		states = nil // anew, as with an unreadable list
	}
	at := make(map[string]int, len(states))
	for i, s := range states {
		at[s.Name] = i
	}
	changed := false
	for _, side := range found {
		i, known := at[side.Name]
		if !known {
			if len(states) >= maxSides || !validSide(side.Name) {
				got.miss(side.Name, fmt.Errorf("not captured: more than %d side files, or an unusual name", maxSides))
				continue
			}
			i = len(states)
			states = append(states, sideState{Name: side.Name})
		}
		did, err := c.side(side, &states[i], got)
		if err != nil {
			got.miss(side.Name, err)
		}
		if !known && (err != nil || states[i].Content == (oid.ID{})) {
			states = states[:i]
			continue
		}
		changed = changed || did
	}
	if !changed {
		return held, nil
	}
	slices.SortFunc(states, func(a, b sideState) int { return cmp.Compare(a.Name, b.Name) })
	id, _, err := c.Store.Put(bytes.NewReader(appendSides(nil, states)))
	return id, err
}

func (c *Capture) side(side Side, st *sideState, got *Captured) (changed bool, err error) {
	name := filepath.Join(filepath.Dir(c.File), filepath.FromSlash(side.Name))
	info, err := os.Lstat(name)
	if err != nil {
		return false, err
	}
	mod := max(info.ModTime().UnixNano(), 0)
	if (side.Lines || side.Fixed) && st.Content != (oid.ID{}) && st.Size == info.Size() && st.ModTime == mod {
		return false, nil
	}
	before, err := readList(c.Store, st.Content)
	if err != nil {
		st.Content, before = oid.ID{}, nil
	}
	one, list, err := c.file(name, st.Content, before, side.Lines)
	if err != nil || one.Change == Missing {
		return false, err
	}
	if one.Change != Same {
		if st.Content, err = c.putList(list); err != nil {
			return false, err
		}
		got.Added += one.Added
	}
	st.Size, st.ModTime = info.Size(), mod
	return one.Change != Same, nil
}

func (g *Captured) miss(name string, err error) {
	if g.Missed == nil {
		g.Missed = map[string]error{}
	}
	g.Missed[name] = err
}
