package show

import (
	"cmp"
	"context"
	"slices"

	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// listView answers list.
type listView struct {
	Checkpoints []listedView `json:"checkpoints"`
	Now         nowView      `json:"now"`
}

// listedView is a checkpoint as the row of a list.
type listedView struct {
	rows.CheckpointView
	Folded     string          `json:"folded"`        // why list leaves it out, "" where it does not
	Ends       string          `json:"ends"`          // the prompt whose turn it ends
	OwnChanges *ownChangesView `json:"own_changes"`   // null where they are not known
	InTurn     bool            `json:"in_turn"`       // kind prompt, and no prompt of its own: it came into the running turn
	Then       *ownChangesView `json:"then"`          // what came after it, of a prompt after its turn's end, up to a checkpoint that does not tell of it; null for nothing
	Git        []rows.GitView  `json:"git,omitempty"` // what git did after it and before the next checkpoint, or until now
}

// ownChangesView is what a row is responsible for: of a prompt those of its turn, of a tool call
// what came of it, of a save what came since the state before.
type ownChangesView struct {
	Side     string  `json:"side"` // since: before its own state; did, after: behind it
	From     *string `json:"from"` // checkpoint; null for the empty tree, or what an operation left
	To       *string `json:"to"`   // checkpoint; null for now, or what an operation found
	Added    uint64  `json:"added"`
	Modified uint64  `json:"modified"`
	Deleted  uint64  `json:"deleted"`
	// Owners are whose they are; null of rows behind the newest, and where no agent is at work.
	Owners []rowOwnerView `json:"owners"`
}

// rowOwnerView is how many paths of a row one session changed, or the person, or one of several.
type rowOwnerView struct {
	Class     string `json:"class"`      // as show has it
	SessionID string `json:"session_id"` // "" for the person, and of shared
	Agent     string `json:"agent"`
	Paths     int    `json:"paths"`
}

func viewRowOwners(all rows.Owned) []rowOwnerView {
	if len(all) == 0 {
		return nil
	}
	counts := map[rowOwnerView]int{}
	for _, o := range all {
		v := rowOwnerView{Class: string(o.Class)}
		if o.By != nil && o.Class != attribution.Shared && o.Class != attribution.Operation {
			v.SessionID, v.Agent = o.By.Session, o.By.Agent
		}
		counts[v]++
	}
	var out []rowOwnerView
	for v, n := range counts {
		v.Paths = n
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b rowOwnerView) int {
		return cmp.Or(cmp.Compare(b.Paths, a.Paths), cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// nowView is the project as it is now.
type nowView struct {
	Known      bool    `json:"known"`
	Reason     string  `json:"reason"`     // why it is not known
	Checkpoint *string `json:"checkpoint"` // what it is compared with: the newest, or what was restored last
	Operation  *uint64 `json:"operation"`  // the restore, by its seq, where that came last
	Added      uint64  `json:"added"`
	Modified   uint64  `json:"modified"`
	Deleted    uint64  `json:"deleted"`
}

// maxDiffs bounds how many rows are read from the store beyond the log: how many of a document are compared with trees, of
// which the log has the counts of most others, and of how many it is said what git did.
const maxDiffs = 1000

// document prints the rows as JSON.
func (l *listing) document(ctx context.Context) error {
	v := listView{Checkpoints: []listedView{}, Now: nowView{Known: l.present != nil, Reason: l.unseen}}
	whose, err := l.owners(ctx)
	if err != nil {
		return err
	}
	diffs := 0
	git := timeline.NewGit(l.p, l.present, nil)
	for _, r := range l.rows {
		if _, known := r.Known(); !known {
			diffs++
		}
		n, known, err := timeline.Counts{}, false, error(nil)
		if diffs <= maxDiffs {
			if n, known, err = r.Count(ctx, l.p, l.present); project.IsDamage(err) {
				known = false
			} else if err != nil {
				return err
			}
		}
		if r.Kind == timeline.Now {
			v.Now.Added, v.Now.Modified, v.Now.Deleted = n.Added, n.Modified, n.Deleted
			if r.Target != nil {
				v.Now.Checkpoint = rows.ViewID(r.Target.ID)
			}
			if r.Operation != nil {
				v.Now.Operation = &r.Operation.Seq
			}
			continue
		}
		row := listedView{CheckpointView: rows.ViewCheckpoint(*r.Checkpoint), Folded: string(r.Folded), Ends: r.Ends, InTurn: r.Kind == timeline.Message}
		own := func(r *timeline.Row, n timeline.Counts) *ownChangesView {
			return &ownChangesView{string(r.Side), viewStateID(r.From), viewStateID(r.To), n.Added, n.Modified, n.Deleted, viewRowOwners(whose[r])}
		}
		if known {
			row.OwnChanges = own(r, n)
		}
		if then := r.Then; then != nil {
			n, _ := then.Known()
			row.Then = own(then, n)
		}
		if l.gitRows < maxDiffs && !l.ofPaths {
			events, err := git.Of(r)
			if err != nil {
				return err
			}
			if len(events) > 0 {
				l.gitRows++
			}
			row.Git = rows.ViewGit(events)
		}
		v.Checkpoints = append(v.Checkpoints, row)
	}
	return l.c.Out.Document(v)
}

func viewStateID(s *timeline.State) *string {
	if s == nil {
		return nil
	}
	return rows.ViewID[manifest.CheckpointID](s.ID)
}
