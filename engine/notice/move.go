package notice

import (
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// Move is a conversation that an operation brought to an earlier place.
type Move struct {
	From, To Session   // the same where it was rewritten in place; else To is a fork
	Until    time.Time // of the newest message that it holds
	// Files is of when the files are that went to that place with it; zero where not all of them did.
	Files time.Time
}

// concerns reports whether files are otherwise than the moved conversation says, because of an operation that it does not
// know of.
func (m *Move) concerns(q *queued) bool {
	if !m.Files.IsZero() && !q.Time.Before(m.Files) {
		return false // the files are of before it
	}
	return q.State.IsZero() || q.State.Before(m.Until) // else they have all that the conversation knows
}

// untold are the operations of those notices of a store that the moved conversation does not hold and has to get.
func (m *Move) untold(all []queued, store string) map[uint64]bool {
	untold := map[uint64]bool{}
	for i := range all {
		if q := &all[i]; q.Store == store && (q.waits() || q.Void == 0 && q.Given.After(m.Until)) && m.concerns(q) {
			untold[q.Operation] = true
		}
	}
	for _, q := range slices.Backward(all) { // what was done and taken back leaves nothing to tell
		if untold[q.Operation] && len(q.Undid) > 0 && !slices.ContainsFunc(q.Undid, func(op uint64) bool { return !untold[op] }) {
			delete(untold, q.Operation)
			for _, op := range q.Undid {
				delete(untold, op)
			}
		}
	}
	return untold
}

// follow brings the queues to where the conversation is. A notice that came with a prompt which it does not hold any more waits
// again, and a fork gets the notices that its origin had yet to get. What waits in place and is out of date is so until the
// operation is taken back.
func (m *Move) follow(ctx context.Context, p *project.Project, operation uint64) error {
	store, file := p.ID.String(), account.NoticeFile(p.Env, m.From.Agent, m.From.ID)
	if file == "" || !account.Exists(file) {
		return nil
	}
	if m.From == m.To {
		return update(ctx, p.Env, file, queueWait, func(all []queued) []queued {
			untold := m.untold(all, store)
			for i := range all {
				switch q := &all[i]; {
				case q.Store != store || q.Void != 0:
				case q.waits() && !untold[q.Operation]:
					q.Void = operation
				case !q.waits() && untold[q.Operation]:
					q.Again = operation
				}
			}
			return all
		})
	}
	all, err := read(file)
	if err != nil {
		return err
	}
	untold := m.untold(all, store)
	return inherit(ctx, p.Env, queueWait, m.From, m.To, func(q *queued) bool {
		told := q.Store == store && !q.waits() && q.Void == 0 && !q.Given.After(m.Until)
		if untold[q.Operation] {
			q.Given, q.Again = time.Time{}, 0
		}
		return told || q.Store == store && untold[q.Operation]
	})
}
