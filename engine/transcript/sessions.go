package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Session is a transcript of which both ends were read.
type Session struct {
	Found
	Dir     string // working directory that it was started in, "" if unknown
	Parent  string // session that it was forked from, "" for none
	Title   string
	Last    string       // label of a late prompt, "" if none is near the file's end
	Root    string       // id of the first event: forks have that of their origin
	Prompts []PromptLine // near the file's beginning and its end, in order
}

// PromptLine is one prompt of the person.
type PromptLine struct {
	ID   string // of its event
	Text string // label
	Time time.Time
	Copy bool // it is in a fork, and is a message of the session that it came from
}

// Found is a transcript that has not been read.
type Found struct {
	Agent   Agent
	ID      string
	File    string
	Size    int64
	ModTime time.Time
}

const (
	headSize = 256 << 10 // bytes, in which a session's directory and origin are
	tailSize = 64 << 10  // where clients keep the title
)

// Sessions lists the sessions of the agent that were started in root or below
// it, newest first. It reads both ends of each file only. What is no session
// (other names than UUIDs: subagents) or cannot be read is left out.
func Sessions(agent Agent, h Home, root string) ([]Session, error) {
	found, err := Find(agent, h, root)
	if err != nil {
		return nil, err
	}
	var out []Session
	for _, e := range found {
		if s, err := Describe(agent, e.File); err == nil && s.In(root) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Session) int { return b.ModTime.Compare(a.ModTime) })
	return out, nil
}

// Find lists the transcripts of sessions that can have been started in root or
// below it, newest first. It looks at the beginnings of those at most whose place
// or name says nothing: whose they are Describe says, and In.
func Find(agent Agent, h Home, root string) ([]Found, error) {
	f, err := agent.known()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	var out []Found
	for _, file := range f.files(h, root) {
		id, ok := f.sessionOf(file)
		if !ok {
			continue
		}
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		out = append(out, Found{Agent: agent, ID: id, File: file, Size: info.Size(), ModTime: info.ModTime()})
	}
	slices.SortStableFunc(out, func(a, b Found) int { return b.ModTime.Compare(a.ModTime) })
	return out, nil
}

// Lookup finds one transcript.
func Lookup(agent Agent, file string) (Found, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Found{}, err
	}
	return Found{Agent: agent, ID: SessionOf(agent, file), File: file, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// In reports whether the session was started in root or below it, as far as it
// says so.
func (s Session) In(root string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return s.Dir == "" || vfs.Within(root, s.Dir)
}

// Describe reads both ends of a session's transcript.
func Describe(agent Agent, file string) (Session, error) {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	size := info.Size()
	s := Session{Found: Found{agent, SessionOf(agent, file), file, size, info.ModTime()}}
	first, err := Read(agent, io.NewSectionReader(f, 0, min(size, headSize)))
	if err != nil && !errors.As(err, new(*FormatError)) {
		return Session{}, err
	}
	last := first
	if size > headSize {
		at := max(headSize, size-tailSize)
		if last, err = Read(agent, io.NewSectionReader(f, at, size-at)); err != nil && !errors.As(err, new(*FormatError)) {
			return Session{}, err
		}
	}
	for _, x := range []*Index{first, last} {
		if x == nil {
			continue // nothing understood in this part
		}
		s.Dir, s.Parent, s.Title = cmp.Or(s.Dir, x.Dir(file)), cmp.Or(x.Parent, s.Parent), cmp.Or(x.Title, s.Title)
		if s.Root == "" && x == first {
			s.Root = x.root()
		}
	}
	s.say(first)
	early := 0
	if last != first {
		early = len(s.Prompts)
		s.say(last)
	}
	if n := len(s.Prompts); n > early {
		s.Last = s.Prompts[n-1].Text
	}
	return s, nil
}

// say adds the prompts of a part of the file.
func (s *Session) say(x *Index) {
	if x == nil {
		return
	}
	for i := range x.Lines {
		if l := &x.Lines[i]; l.Prompt && !l.Side {
			s.Prompts = append(s.Prompts, PromptLine{ID: l.ID, Text: l.Label(), Time: l.Time, Copy: l.is(isCopy)})
		}
	}
	if x.forkedAt == "" {
		return
	}
	// The lines up to the event at which the fork was made are a copy.
	if at, ok := x.byID[x.forkedAt]; ok {
		for i := range s.Prompts {
			if k, ok := x.byID[s.Prompts[i].ID]; ok && k <= at {
				s.Prompts[i].Copy = true
			}
		}
	}
}

// root is the id of the first event; of Gemini CLI's, which begin all with the same
// message about the surroundings, that of the first prompt.
func (x *Index) root() string {
	for i := range x.Lines {
		if l := &x.Lines[i]; l.tree() && !l.Side && (x.Agent != Gemini || l.Prompt) {
			return l.ID
		}
	}
	return ""
}

// head indexes the beginning of a file; nil when nothing is understood.
func head(agent Agent, file string, size int64) *Index {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	x, err := Read(agent, io.NewSectionReader(f, 0, min(info.Size(), size)))
	if err != nil {
		return nil
	}
	return x
}

// firstLine indexes the first line of a file, of those that say there what they are; nil
// when nothing is understood.
func firstLine(agent Agent, file string) *Index {
	f, _, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(f, headSize), 16<<10).ReadBytes('\n')
	if err != nil {
		return nil // not written yet, or too long for one
	}
	x, err := Read(agent, bytes.NewReader(line))
	if err != nil {
		return nil
	}
	return x
}

// firstTime is the earliest time that the beginning of a transcript tells.
func firstTime(agent Agent, file string) time.Time {
	x := head(agent, file, headSize)
	if x == nil {
		return time.Time{}
	}
	for i := range x.Lines {
		if t := x.Lines[i].Time; !t.IsZero() {
			return t.Truncate(time.Second)
		}
	}
	return time.Time{}
}

// Ancestors follows a session's parents among those given, nearest first. A
// parent that is not among them ends the line, by its id.
func Ancestors(parents map[string]string, id string) []string {
	var out []string
	seen := map[string]bool{id: true}
	for {
		id = parents[id]
		if id == "" || seen[id] {
			return out
		}
		seen[id] = true
		out = append(out, id)
	}
}

// IsUUID reports whether a file name can be a session's.
func IsUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	id, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return err == nil && len(id) == 16
}
