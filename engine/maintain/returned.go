package maintain

import (
	"context"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// CatchUp brings a store forward from its mirror, as Project.CatchUp does, and keeps what was saved on the older state that
// was in its place.
func CatchUp(ctx context.Context, p *project.Project) {
	p.CatchUp()
	if err := joinBranch(ctx, p); err != nil {
		p.Notify(fmt.Sprintf("the store of %s does not have what was saved in the state that this account's mirror has: %s", p.Root(), problem.Text(p.Classify(err))))
	}
	kept, err := joinOlder(ctx, p)
	if err != nil { // whoever collects tries again, before anything goes
		kept = fmt.Sprintf("the store of %s does not have what was saved in an older state of it: %s", p.Root(), problem.Text(p.Classify(err)))
	}
	p.TellReturned()
	if kept != "" {
		p.Notify(kept)
	}
	ObeyForgotten(ctx, p)
	_ = p.SignUp(account.MirrorLooked) // until then another account's forget says that this one may have it
	_ = ForgetNotices(ctx, p)          // so does the next command, and a hook before it tells
}

// ForgetNotices removes from this account's notices the names that another account forgot in the project. The coverage of
// the safety checkpoint of a notice's operation says which they are; if that checkpoint is gone, every name is removed.
func ForgetNotices(ctx context.Context, p *project.Project) error {
	if !notice.Any(p.Env) {
		return nil
	}
	var forgotten uint64
	safety := map[uint64]manifest.Checkpoint{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Kind == manifest.OpForget {
				forgotten = max(forgotten, op.Seq)
			}
			if c, ok, err := db.ByID(op.Safety); err == nil && ok {
				safety[op.Seq] = c
			}
		}
		return nil
	})
	if err != nil || forgotten == 0 {
		return err
	}
	keys := map[uint64]map[string]bool{}
	return notice.Forget(ctx, p, forgotten, func(op uint64, path string) bool {
		c, ok := safety[op]
		if ok && keys[op] == nil && c.Coverage != (oid.ID{}) {
			data, err := p.ReadObject(c.Coverage)
			if ok = err == nil; ok {
				keys[op] = rules.ForgottenIn(data)
			}
		}
		return !ok || keys[op][rules.ForgottenKey(p, path)]
	})
}
