package report

import (
	"strconv"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/project"
)

// PulledView is what was pulled of one machine.
type PulledView struct {
	Name        string  `json:"name"`        // with which references to its checkpoints begin
	Remote      string  `json:"remote"`      // that it was pulled from
	Machine     string  `json:"machine"`     // as it calls itself
	From        string  `json:"from"`        // the project's directory there
	Checkpoints int     `json:"checkpoints"` // that this store's own log does not have
	Newest      *string `json:"newest"`      // when the newest of all was taken
	Ahead       bool    `json:"ahead"`       // it continues from the newest checkpoint of this store
}

// ViewPulled is the view of a log.
func ViewPulled(l project.PulledLog, ahead bool) PulledView {
	from, _ := strconv.Unquote(l.Root)
	v := PulledView{Name: l.Name, Remote: l.Remote, Machine: l.Machine, From: app.ViewPath(from).Path, Checkpoints: l.Newer, Ahead: ahead}
	if !l.Newest.IsZero() {
		v.Newest = new(app.ViewTime(l.Newest))
	}
	return v
}

// IsAhead is PulledLog.IsAhead; what cannot be read is not ahead.
func IsAhead(p *project.Project, l project.PulledLog) bool {
	ahead, err := l.IsAhead(p)
	return err == nil && ahead
}

// PulledText says how much was pulled of a machine.
func PulledText(o *app.Output, l project.PulledLog) string {
	text := app.Plural(l.Newer, "checkpoint", "checkpoints") + " of " + l.Name
	if !l.Newest.IsZero() {
		text += ", the newest taken " + app.Ago(o, l.Newest)
	}
	return text
}
