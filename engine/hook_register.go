package engine

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"rewind/manifest"
)

// sessionName is the file in the store that says which session is the newest,
// for people and scripts. It is never read here.
const sessionName = "session.json"

// CurrentSession is what it says.
type CurrentSession struct {
	Agent      string    `json:"agent"`
	Session    string    `json:"session_id"`
	Transcript string    `json:"transcript_path"`
	Source     string    `json:"source,omitempty"`
	Root       string    `json:"root"`
	Time       time.Time `json:"time"`
}

// WriteSession names the newest session.
func (p *Project) WriteSession(s CurrentSession) error {
	if p.readOnly != nil {
		return p.readOnly
	}
	s.Root = p.place.root
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return writeCache(filepath.Join(p.place.store, sessionName), append(data, '\n'), p.owner)
}

// RegisterSession tells the log of a session without a checkpoint.
func (p *Project) RegisterSession(ctx context.Context, s manifest.Session) error {
	if err := p.writing(ctx); err != nil {
		return err
	}
	if _, err := p.commit(ctx, manifest.Record{Session: &s}); err != nil {
		return err
	}
	return UpdateSession(ctx, p.env, s.Agent, s.ID, func(now *SessionState) { now.Registered = registeredAs(s) })
}

// registeredAs is what the session's state says of a session that the log knows.
func registeredAs(s manifest.Session) string {
	if s.TranscriptPath == "" {
		return "-" // an agent without transcripts
	}
	return s.TranscriptPath
}

// SecondName says why the packs have no second name; nil if all of them have one.
func (p *Project) SecondName() error {
	if p.copied {
		return errors.New("this store is a copy, and gets a second name of its own at its first save")
	}
	return p.store.SecondName()
}

// NoteHookFailure is NoteHookError for a detached process: its success says
// nothing about hooks.
func (p *Project) NoteHookFailure(err error) {
	if err != nil {
		p.NoteHookError(err)
	}
}
