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
	// Files is of when the files are that the operation By brought to that place; zero where not all of them went there.
	Files time.Time
	By    uint64
}

// concerns reports whether files are otherwise than the moved conversation says, because of an operation that it does not
// know of.
func (m *Move) concerns(q *queued) bool {
	if !m.Files.IsZero() && q.Operation < m.By && !q.Time.Before(m.Files) {
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
	return untold
}

// follow brings the queues to where the conversation is. A notice that came with a prompt which it does not hold any more waits
// again, and a fork gets the notices that its origin had yet to get. What waits in place and is out of date is so until the
// operation is taken back.
func (m *Move) follow(ctx context.Context, p *project.Project) error {
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
					q.Void = m.By
				case !q.waits() && untold[q.Operation]:
					q.Again = m.By
				}
			}
			return all
		})
	}
	return m.inherit(ctx, p.Env, queueWait, store, func(*queued) bool { return false })
}

// Inherit gives a session that an agent itself forked from another the notices that belong to the part of the conversation that
// it has: all that the other one got or has yet to get where m.Until is zero.
func Inherit(ctx context.Context, p *project.Project, m Move) error {
	store := p.ID.String()
	if m.Until.IsZero() {
		store = "" // of no project is it known where the conversation ends
	}
	return m.inherit(ctx, p.Env, takeWait, store, func(q *queued) bool {
		if q.Again != 0 {
			q.Given, q.Again = time.Time{}, 0
		}
		return q.Void == 0
	})
}

// inherit gives the fork what its origin has in its queue: of the store as far as that belongs to the part of the conversation
// that it holds, of others what other says, which may change it.
func (m *Move) inherit(ctx context.Context, env account.Env, wait time.Duration, store string, other func(*queued) bool) error {
	file, into := account.NoticeFile(env, m.From.Agent, m.From.ID), account.NoticeFile(env, m.To.Agent, m.To.ID)
	if file == "" || file == into || !account.Exists(file) {
		return nil
	}
	all, err := read(file)
	if err != nil || len(all) == 0 {
		return err
	}
	untold := m.untold(all, store)
	has := func(q *queued) bool {
		if q.Store != store {
			return other(q)
		}
		told := !q.waits() && q.Void == 0 && !q.Given.After(m.Until)
		if untold[q.Operation] {
			q.Given, q.Again = time.Time{}, 0
		}
		return told || untold[q.Operation]
	}
	return update(ctx, env, into, wait, func(now []queued) []queued {
		for _, q := range all {
			if !slices.Contains(q.Moved, m.To.ID) && !slices.ContainsFunc(now, func(n queued) bool { return n.Store == q.Store && n.Operation == q.Operation }) && has(&q) {
				now = append(now, q)
			}
		}
		return now
	})
}
