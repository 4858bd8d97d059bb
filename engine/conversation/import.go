package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Import puts copies of transcripts that another program has made into a transaction. Of each session only
// what a copy has beyond the one before is stored. One goroutine at a time uses it.
type Import struct {
	p     *project.Project
	store *store
	last  map[[2]string]*manifest.Transcript // by agent and session
}

// NewImport begins to put copies into tx. The caller holds the users lock.
func NewImport(ctx context.Context, p *project.Project, tx *commit.Tx) *Import {
	return &Import{p: p, store: &store{ctx: ctx, get: tx.Get, writer: tx.Writer()}, last: map[[2]string]*manifest.Transcript{}}
}

// Copy is a transcript that another program kept. What that program says of it is untrusted.
type Copy struct {
	Agent   string // "" where it does not know
	Session string // "" where it does not know
	Path    string // of the transcript that was copied
	Data    *io.SectionReader
}

// NotUnderstoodError: a copy is no conversation that can be gone back to.
type NotUnderstoodError struct{ Reason string }

func (e *NotUnderstoodError) Error() string { return e.Reason }

// Knows notes what was imported before: later copies of the session continue it.
func (m *Import) Knows(t *manifest.Transcript) {
	if t != nil {
		m.last[[2]string{t.Agent, t.Session}] = t
	}
}

// Put stores a copy, and gives the end of its conversation. The path of it is one where
// the agent looks for its sessions, whatever the copy says. Errors: *NotUnderstoodError, and those
// of the store.
func (m *Import) Put(c Copy) (*manifest.Transcript, error) {
	agent, x, err := m.read(c)
	if err != nil {
		return nil, err
	}
	t := &manifest.Transcript{Agent: string(agent)}
	name := strings.TrimSuffix(filepath.Base(c.Path), ".jsonl")
	for _, t.Session = range []string{name, c.Session, x.Session} {
		if transcript.IsUUID(t.Session) {
			break
		}
	}
	if t.Path = transcript.FileIn(agent, session.AgentHome(m.p), m.p.Root(), t.Session, c.Path); t.Path == "" {
		return nil, &NotUnderstoodError{"it does not say of which session it is"}
	}
	before := cmp.Or(m.last[[2]string{t.Agent, t.Session}], &manifest.Transcript{})
	capture := transcript.Capture{Store: m.store, Agent: agent, File: t.Path, From: c.Data, Previous: before.Content, PreviousLeaf: before.EventID}
	got, err := capture.Run()
	if err != nil {
		return nil, err
	}
	t.Content, t.Offset, t.EventID = got.Content, uint64(got.Offset), x.Leaf()
	m.last[[2]string{t.Agent, t.Session}] = t
	return t, nil
}

// read parses a copy in the format of the agent that it names, else in the first format that fits.
func (m *Import) read(c Copy) (transcript.Agent, *transcript.Index, error) {
	agents := []transcript.Agent{transcript.Agent(c.Agent)}
	if c.Agent == "" {
		agents = []transcript.Agent{transcript.AgentOf(c.Path), transcript.Droid}
	}
	var first error
	for _, agent := range agents {
		x, err := transcript.Read(agent, io.NewSectionReader(c.Data, 0, c.Data.Size()))
		var strange *transcript.FormatError
		switch {
		case err == nil:
			return agent, x, nil
		case !errors.As(err, &strange):
			return "", nil, fmt.Errorf("read a copy of a conversation: %w", err)
		case first == nil:
			first = &NotUnderstoodError{strange.Error()}
		}
	}
	return "", nil, first
}

// Flush hands what was put to the transaction, before its commit.
func (m *Import) Flush() error { return m.store.writer.Flush() }
