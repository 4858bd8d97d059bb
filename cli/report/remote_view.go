package report

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/remote"
)

// RemoteView is a remote of the project.
type RemoteView struct {
	Remote   string  `json:"remote"`
	URL      string  `json:"url"`
	Precious bool    `json:"precious"`
	Manual   bool    `json:"manual"`    // nothing is pushed by itself
	Pending  int     `json:"pending"`   // checkpoints that are not there yet
	Since    *string `json:"since"`     // when the oldest of these was taken
	Pushed   *string `json:"pushed"`    // the last push
	Epoch    int     `json:"epoch"`     // number of the key that is pushed for: 1 is the first
	NewerKey bool    `json:"newer_key"` // the remote has a newer one, which this account does not have
	Failed   *string `json:"failed"`    // why the last push did not come through
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
	if s.Failure != nil {
		text += "; the last push failed " + app.Ago(o, s.Failure.Time) + ": " + app.Escape(s.Failure.Error)
	}
	return text
}
