package hook

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// currentSession is what it says.
type currentSession struct {
	Agent      string    `json:"agent"`
	Session    string    `json:"session_id"`
	Transcript string    `json:"transcript_path"`
	EnvFile    string    `json:"env_file"` // which the agent's shell reads, "" where it has none
	Source     string    `json:"source,omitempty"`
	Root       string    `json:"root"`
	Time       time.Time `json:"time"`
}

// nameSession writes down that the event's session is the newest, and which process it runs in.
func (c *Call) nameSession() error {
	e := &c.Event
	session.NoteProcess(c.Project, e.By.Agent, e.By.Session)
	return writeSession(c.Project, currentSession{
		Agent: e.By.Agent, Session: e.By.Session, Transcript: e.By.Transcript, EnvFile: e.EnvFile, Source: e.Source, Time: e.Time.UTC(),
	})
}

// named reports whether that is written down already.
func (c *Call) named() bool {
	s, by := c.current(), &c.Event.By
	return s.Agent == by.Agent && s.Session == by.Session && s.Transcript == by.Transcript
}

// newest is the session of an agent that is written down, "" for another agent's.
func (c *Call) newest(agent string) string {
	if s := c.current(); s.Agent == agent {
		return s.Session
	}
	return ""
}

// current is what is written down; what cannot be read is empty.
func (c *Call) current() (s currentSession) {
	data, err := vfs.ReadSmall(filepath.Join(c.Project.StoreDir(), account.SessionName), 1<<16, vfs.NoFollow)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return currentSession{}
	}
	return s
}

// writeSession names the newest session.
func writeSession(p *project.Project, s currentSession) error {
	if p.ReadOnly != nil {
		return p.ReadOnly
	}
	s.Root = p.Root()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return account.WriteCache(filepath.Join(p.StoreDir(), account.SessionName), append(data, '\n'), p.Owner)
}

// registerSession tells the log of a session without a checkpoint.
func registerSession(ctx context.Context, p *project.Project, s manifest.Session) error {
	if err := p.BeginWriting(ctx); err != nil {
		return err
	}
	if _, err := commit.Commit(ctx, p, manifest.Record{Session: &s}); err != nil {
		return err
	}
	return account.UpdateSession(ctx, p.Env, s.Agent, s.ID, func(now *account.SessionState) { noteRegistered(now, p, s) })
}

// noteRegistered notes in the session's state that the log of a project knows it.
func noteRegistered(now *account.SessionState, p *project.Project, s manifest.Session) {
	if now.Registered = registeredAs(s); now.Worktree == "" {
		now.Store = p.ID.String()
	}
}

// registeredAs is what the session's state says of a session that the log knows.
func registeredAs(s manifest.Session) string {
	if s.TranscriptPath == "" {
		return "-" // an agent without transcripts
	}
	return s.TranscriptPath
}

// Mirrored says why packs are missing in the mirror; nil if none is.
func Mirrored(p *project.Project) error {
	if p.Copied {
		return errors.New("this store is a copy, and gets a mirror of its own at its first save")
	}
	return p.Store.Mirrored()
}
