package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// conversationSource is one copy of a session's conversation: the agent's own
// file, or what the store holds of it.
type conversationSource struct {
	index *transcript.Index
	live  bool
	held  *transcript.Held // nil for the live file
	open  func() (io.ReadCloser, error)
}

// copies reads the copies that there are of a session's conversation, as
// they are asked for.
type copies struct {
	p     *project.Project
	ctx   context.Context
	agent transcript.Agent
	id    string // of the session
	file  string

	held    []oid.ID // contents that checkpoints hold, the most useful first
	seq     uint64   // of the newest checkpoint that holds one
	fits    bool     // the live file begins with what is held
	read    []*conversationSource
	strange error // why a copy was not understood
	unread  error // why the live file could not be read, although it is there
	matched map[*transcript.Index]*matched
}

// conversationOf gathers the copies of the conversation of a session. near, if
// not nil, is the checkpoint whose place is looked for. The caller holds the
// users lock as long as it uses the result.
func conversationOf(ctx context.Context, p *project.Project, agent, id, file string, near *manifest.Checkpoint) (*copies, error) {
	v := &copies{p: p, ctx: ctx, agent: transcript.Agent(agent), id: id}
	v.file = session.Here(p, v.agent, file)
	var newest, next, own oid.ID
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: id}) {
			if err != nil {
				return err
			}
			t := c.Transcript
			if t == nil || t.Agent != agent {
				continue
			}
			if v.file == "" {
				v.file = session.Here(p, v.agent, t.Path)
			}
			if transcript.PartOf(v.agent, t.Path) != transcript.PartOf(v.agent, v.file) {
				continue // of another file of the session
			}
			if newest == (oid.ID{}) {
				newest, v.seq = t.Content, c.Seq
			}
			if near == nil {
				if newest != (oid.ID{}) {
					break
				}
				continue
			}
			if c.Seq == near.Seq {
				own = t.Content
				break
			}
			if !t.Content.IsZero() {
				next = t.Content
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range []oid.ID{newest, next, own} {
		if id != (oid.ID{}) && !slices.Contains(v.held, id) {
			v.held = append(v.held, id)
		}
	}
	begin := newest
	if near != nil {
		begin = own
	}
	v.fits = true // where nothing was held yet, the file can only have grown
	if !begin.IsZero() {
		v.fits, err = v.begins(begin)
	}
	return v, err
}

// begins reports whether the live file begins with what is held.
func (v *copies) begins(content oid.ID) (bool, error) {
	held, err := session.HeldCursor(v.p, content)
	if err != nil {
		return false, err
	}
	change, err := transcript.ChangeSince(held, v.file)
	v.noteUnread(err) // the store has what is in a file that is gone, or that may not be read
	return err == nil && (change == transcript.Same || change == transcript.Grown), nil
}

// noteUnread notes a failure of the system at the live file.
func (v *copies) noteUnread(err error) {
	if errors.As(err, new(syscall.Errno)) && !errors.Is(err, fs.ErrNotExist) {
		v.unread = err
	}
}

// sources yields the copies, the best first: the live file if it begins with what is held, then what checkpoints hold, then
// a file that was rewritten. The live file has more than any capture, because agents write to it after their hooks have run.
func (v *copies) sources(yield func(*conversationSource) bool) error {
	order := []func() (*conversationSource, error){v.live}
	for _, id := range v.held {
		order = append(order, func() (*conversationSource, error) { return v.captured(id) })
	}
	if !v.fits {
		order = append(order[1:], order[0])
	}
	for i, get := range order {
		if i == len(v.read) {
			s, err := get()
			switch {
			case errors.As(err, new(*transcript.FormatError)):
				v.strange = err
			case errors.Is(err, fs.ErrNotExist), err != nil && err == v.unread:
			case err != nil:
				return v.p.Classify(err)
			}
			if err != nil {
				s = nil // a copy that cannot be read is none
			}
			v.read = append(v.read, s)
		}
		if s := v.read[i]; s != nil && !yield(s) {
			return nil
		}
	}
	return nil
}

func (v *copies) live() (_ *conversationSource, err error) {
	defer func() { v.noteUnread(err) }()
	s := &conversationSource{live: true}
	s.open = func() (io.ReadCloser, error) {
		f, _, err := vfs.OpenRegular(v.file, 0)
		if errors.Is(err, vfs.ErrNotRegular) {
			err = &fs.PathError{Op: "open", Path: v.file, Err: fs.ErrNotExist}
		}
		if err != nil {
			return nil, err
		}
		data, err := withoutForgotten(v.ctx, v.p, string(v.agent), v.id, v.file, f)
		return liveFile{data, f}, err
	}
	return s, s.scan(v.agent)
}

// liveFile is an agent's own file, as it may be read.
type liveFile struct {
	io.Reader
	io.Closer
}

func (v *copies) captured(id oid.ID) (*conversationSource, error) {
	held, err := transcript.Open(storeOf(v.ctx, v.p), id)
	if err != nil {
		if errors.As(err, new(*transcript.DamagedError)) {
			err = &account.DamagedStoreError{What: "a conversation", Err: err}
		}
		return nil, err
	}
	s := &conversationSource{held: held, open: func() (io.ReadCloser, error) { return held.Reader(), nil }}
	return s, s.scan(v.agent)
}

func (s *conversationSource) scan(agent transcript.Agent) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	s.index, err = transcript.Read(agent, r)
	return err
}

// nothing is the error when no copy could be read.
func (v *copies) nothing() error {
	if v.strange != nil {
		return v.strange
	}
	return &transcript.NothingBeforeError{}
}

// best is the copy that has the end of the conversation. If the live file exists and cannot be read, the end is not known,
// because what the store has is older.
func (v *copies) best() (found *conversationSource, err error) {
	if !v.fits && len(v.read) == 0 {
		if v.fits, err = v.rewritten(); err != nil {
			return nil, err
		}
	}
	err = v.sources(func(s *conversationSource) bool {
		found = s
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case v.unread != nil && (found == nil || !found.live):
		return nil, fmt.Errorf("read the session's transcript: %w", v.unread)
	case found == nil:
		return nil, v.nothing()
	}
	return found, nil
}

// rewritten reports whether an operation rewrote the live file in place later than everything in the store: then the file
// has the end of the conversation, and the store has an older state. The client may have written to its end since.
func (v *copies) rewritten() (bool, error) {
	file, err := filepath.EvalSymlinks(v.file) // a link stays, and what it leads to is rewritten
	if err != nil {
		return false, nil // the file is gone, or not ours to read
	}
	var ops []manifest.Operation
	err = v.p.Query(v.ctx, func(db *manifest.DB) error {
		for op, err := range db.Operations() {
			if err != nil || op.Seq < v.seq {
				return err
			}
			ops = append(ops, op)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, op := range ops {
		line, err := v.p.Moved(op)
		if err != nil || line == nil || !line.InPlace {
			continue // it may have been removed
		}
		for _, f := range line.Files {
			if f.After == nil || f.File != v.file && f.File != file {
				continue
			}
			now, err := sumStart(file, f.After.Size)
			v.noteUnread(err)
			return err == nil && sameSum(now, f.After), nil
		}
	}
	return false, nil
}
