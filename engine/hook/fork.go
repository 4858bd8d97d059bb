package hook

import (
	"context"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// inherit gives a session that its agent itself forked from another the notices that belong to the part of the conversation
// which it has.
func (c *Call) inherit(ctx context.Context, agent, from, to string) error {
	m := notice.Move{From: notice.Session{Agent: agent, ID: from}, To: notice.Session{Agent: agent, ID: to}}
	if file := account.NoticeFile(c.Env, agent, from); file == "" || !account.Exists(file) {
		return nil
	}
	if c.Event.Has != nil {
		known, err := c.forkedAt(ctx, from, &m)
		if err != nil {
			return err
		}
		if known && m.Until.IsZero() {
			return nil // a conversation that has nothing yet believes nothing
		}
	}
	return notice.Inherit(ctx, c.Project, m)
}

// forkedAt says where the fork begins: behind the newest of its entries that were bound to a checkpoint. The newest operation
// may have brought the files along. known is false where no entry of the origin was bound: then nothing can be said.
func (c *Call) forkedAt(ctx context.Context, from string, m *notice.Move) (known bool, err error) {
	has := map[string]bool{}
	for _, entry := range c.Event.Has {
		has[entry] = true
	}
	err = c.Project.Query(ctx, func(db *manifest.DB) error {
		family, err := session.LineageIn(db, from)
		if err != nil {
			return err
		}
		for _, id := range family {
			for b, err := range db.Bindings(id) {
				if err != nil {
					return err
				}
				if known = true; has[b.Entries[0]] && b.Time.After(m.Until) {
					m.Until = b.Time
				}
			}
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Kind != manifest.OpRestore || op.Session != from {
				return nil
			}
			to, ok, err := db.ByID(op.Checkpoint)
			if ok && (op.After == to.Root || op.ChangesNothing() && !op.OfSome()) { // the files are all as they were then
				m.Files, m.By = to.Time, op.Seq
			}
			return err
		}
		return nil
	})
	return known, err
}
