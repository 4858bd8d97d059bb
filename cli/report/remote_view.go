package report

import (
	"fmt"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/remote"
)

// RemoteView is a remote of the project.
type RemoteView struct {
	Remote   string     `json:"remote"`
	URL      string     `json:"url"`
	Precious bool       `json:"precious"`
	Manual   bool       `json:"manual"`    // nothing is pushed by itself
	Pending  int        `json:"pending"`   // checkpoints that are not there yet
	Since    *string    `json:"since"`     // when the oldest of these was taken
	Pushed   *string    `json:"pushed"`    // the last push
	Epoch    int        `json:"epoch"`     // number of the key that is pushed for: 1 is the first
	NewerKey bool       `json:"newer_key"` // the remote has a newer one, which this account does not have
	Later    *LaterView `json:"later"`     // what was pushed from this store, and is not in it: the machine was put back, or a copy has gone on
	Failed   *string    `json:"failed"`    // why the last push did not come through
}

// LaterView is what was pushed from this store, and is not in it.
type LaterView struct {
	Log    string `json:"log"`    // its id
	Name   string `json:"name"`   // with which references to it begin once it is pulled
	Pushed string `json:"pushed"` // when
	Next   string `json:"next"`   // the command that brings it
}

// ViewLater is its view; nil for none.
func ViewLater(l *remote.Later) *LaterView {
	if l == nil {
		return nil
	}
	return &LaterView{l.Log, l.Name, app.ViewTime(l.Pushed), NextOfLater(*l)}
}

// NextOfLater is the shell command that brings what was pushed later: here, or where the key is.
func NextOfLater(l remote.Later) string {
	if !l.Key {
		return "rewind clone " + app.ShellQuote(l.URL) + " DIR --log " + l.Log
	}
	return "rewind pull " + l.Remote + " && rewind restore " + l.Name + "/last"
}

// LaterText says that a project is at an earlier state than what was pushed from it.
func LaterText(l remote.Later) string {
	text := fmt.Sprintf("%s has later work of this project, pushed %s from here before it was put back to an earlier state, or from a copy of it; ", l.Remote, l.Pushed.Local().Format("2006-01-02 15:04"))
	if !l.Key {
		return text + "where the remote's key is, this brings it: " + NextOfLater(l)
	}
	return text + "this brings it: " + NextOfLater(l)
}

// ViewRemote is its view.
func ViewRemote(s remote.State) RemoteView {
	v := RemoteView{Remote: s.Name, URL: s.URL, Precious: s.Precious, Manual: s.Manual, Pending: s.Pending.Checkpoints, Epoch: s.Epoch(), NewerKey: s.Newer}
	if s.Pending.Checkpoints > 0 {
		v.Since = new(app.ViewTime(s.Pending.Since))
	}
	if !s.Pending.Pushed.IsZero() {
		v.Pushed = new(app.ViewTime(s.Pending.Pushed))
	}
	if s.Failure != nil {
		v.Failed = &s.Failure.Error
	}
	v.Later = ViewLater(s.Later)
	return v
}

// RemoteText is what waits for a push, and why.
func RemoteText(o *app.Output, s remote.State) string {
	text := "everything is pushed"
	if d := s.Pending; d.Checkpoints > 0 {
		text = "not pushed: " + app.Plural(d.Checkpoints, "checkpoint", "checkpoints") + ", the oldest taken " + app.Ago(o, d.Since)
	}
	if s.Newer {
		text += "; the remote has a newer key, which this account does not have"
	}
	if s.PutBack && s.Later == nil {
		text += "; this project was put back from a copy of it: rewind pull " + s.Name + " brings what was pushed from here since"
	}
	if s.Later != nil {
		text += "; " + app.Escape(LaterText(*s.Later))
	}
	if s.Failure != nil {
		text += "; the last push failed " + app.Ago(o, s.Failure.Time) + ": " + app.Escape(s.Failure.Error)
	}
	return text
}
