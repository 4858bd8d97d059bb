package remote

import (
	"errors"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Pending says what of the log is not in a remote.
type Pending struct {
	Checkpoints int
	Since       time.Time // when the oldest of them was taken; zero where there is none
	Pushed      time.Time // the last push; zero where there was none
}

// State is a remote as this store knows it.
type State struct {
	*Remote
	Pending Pending
	Later   *Later   // nil: none is known
	Failure *Failure // of the last push; nil where it came through
	PutBack bool     // a copy of the project took its place: the remote was not asked yet for what was pushed later
}

// States looks at all remotes of a project, and asks none of them anything.
func States(p *project.Project) (all []State, err error) {
	every, err := List(p)
	if err != nil {
		return nil, err
	}
	for _, r := range every {
		d, err := r.Pending()
		if err != nil {
			return nil, err
		}
		all = append(all, State{r, d, r.later(), r.Failure(), r.putBack()})
	}
	return all, nil
}

// Pending looks at the log and at the mark. It asks the remote nothing.
func (r *Remote) Pending() (d Pending, err error) {
	m := r.mark()
	d.Pushed = m.Time
	last, err := r.p.Store.Last()
	if err != nil || positionText(last) == m.At {
		return d, r.p.Classify(err)
	}
	for c, err := range r.p.Store.Commits(m.Seq + 1) {
		if err != nil {
			return d, r.p.Classify(err)
		}
		record, err := manifest.ParseRecord(c.Payload)
		if err != nil || record.Checkpoint == nil || c.Seq <= m.Seq {
			continue
		}
		if d.Checkpoints++; d.Since.IsZero() {
			d.Since = record.Checkpoint.Time
		}
	}
	return d, nil
}

// Holding are the names of the remotes to which something was pushed, or is on its way: what is forgotten here, they have still.
func Holding(p *project.Project) (names []string, err error) {
	every, err := List(p)
	if err != nil {
		return nil, err
	}
	for _, r := range every {
		lock, err := r.lock(over())
		if err == nil {
			lock.Release()
		}
		_, _, sending, _ := r.readSpool()
		if m := r.mark(); m.Sent > 0 || m.Seq > 0 || sending || err != nil { // err: a push is under way
			names = append(names, r.Name)
		}
	}
	return names, nil
}

// DropUnsent removes what waits for a remote as an object, sealed: it may hold what was forgotten. The next push makes it anew.
func DropUnsent(p *project.Project) error {
	every, err := List(p)
	for _, r := range every {
		err = errors.Join(err, r.dropSpool())
	}
	return err
}
