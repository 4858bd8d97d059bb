package maintain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// joinBranch commits again what only the mirror has, where an older state was put in the store's place and went on in
// another way than the one that the mirror has. Both stay: nothing of the store is replaced.
func joinBranch(ctx context.Context, p *project.Project) error {
	if p.ReadOnly != nil || p.Purging() || !p.Store.Diverged() {
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	branch, err := p.Store.Branch()
	if err != nil {
		return err
	}
	defer branch.Close()
	b := &branchOf{p: p, from: branch}
	joined, err := b.join(ctx, p.Store.Diverged, func() error {
		// Where there was nothing to commit again, the log ends with a lower number than that of the mirror did.
		return errors.Join(p.Store.Joined(), p.ReachedLess())
	})
	if joined && err == nil {
		p.Notify(fmt.Sprintf("the store of %s was replaced by an older state of it, and that has been saved to since: both states are kept; checkpoints added from the mirror: %s", p.Root(), b.text()))
		if b.forgot {
			p.Notify("the state in the mirror knew of a forget that the store does not: what was forgotten may be in checkpoints again; run rewind forget again")
		}
	}
	return err
}

// olderName is the file that says which log packs joinOlder has looked at.
const olderName = "older"

// joinOlder commits again what only replaced log packs hold: an older state of the store was put in its place and
// saved to, and then the log came back that gc had rewritten. text is the message for the person, "" for none.
func joinOlder(ctx context.Context, p *project.Project) (text string, err error) {
	if p.ReadOnly != nil {
		return "", nil
	}
	state, err := p.Store.OlderState()
	if state == "" || err != nil {
		return "", err
	}
	file := filepath.Join(p.StoreDir(), olderName)
	if known, err := vfs.ReadSmall(file, 1<<20, vfs.NoFollow); err == nil && string(known) == state {
		return "", nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if err := p.Store.TellOlder(); err != nil {
		return "", err
	}
	branches, err := p.Store.Older()
	all := &branchOf{}
	for _, branch := range branches {
		if err == nil {
			b := &branchOf{p: p, from: branch, older: true}
			_, err = b.join(ctx, func() bool { return true }, func() error { return nil })
			all.there, all.short, all.lost = all.there+b.there, all.short+b.short, all.lost+b.lost
		}
		err = errors.Join(err, branch.Close())
	}
	if err != nil {
		return "", err
	}
	if all.there+all.lost > 0 {
		text = fmt.Sprintf("checkpoints saved on the older state of the store of %s are kept: %s", p.Root(), all.text())
	}
	return text, account.WriteFile(file, []byte(state), p.Owner)
}

// join commits what only the branch has, if it is still one then. done is called under the same lock.
func (b *branchOf) join(ctx context.Context, still func() bool, done func() error) (joined bool, err error) {
	theirs, err := manifest.Replay(ctx, project.LogOf(b.from.Store), 1, manifest.Skip)
	if err != nil {
		return false, err
	}
	known := map[time.Time]bool{}
	for r, err := range b.p.Log().Records(1) {
		if o := r.Record.Operation; err == nil && o != nil && o.Kind == manifest.OpForget {
			known[o.Time] = true
		}
	}
	b.forgot = slices.ContainsFunc(theirs.Operations(), func(o manifest.Operation) bool { return o.Kind == manifest.OpForget && !known[o.Time] })
	b.to = commit.Begin(b.p)
	if err := errors.Join(b.put(ctx, theirs), b.to.Flush()); err != nil {
		return false, errors.Join(err, b.to.Discard())
	}
	err = commit.Appending(ctx, b.p, func(a *cas.Appender) error {
		if !still() {
			return nil // another process was faster
		}
		ours, err := manifest.Replay(ctx, b.p.Log(), 1, manifest.Skip)
		if err != nil {
			return err
		}
		if records := b.records(ours, theirs); len(records) > 0 {
			if _, err := b.to.CommitIn(a, records); err != nil {
				return err
			}
		}
		joined = true
		return done()
	})
	return joined, errors.Join(err, b.to.Discard())
}

// branchOf takes what only a branch of the log has into the log.
type branchOf struct {
	p      *project.Project
	from   *cas.Branch
	older  bool // its packs are among those of the store
	purged bool // something was forgotten: what only packs have that a purge dropped must not come back
	to     *commit.Tx

	own    map[manifest.CheckpointID]manifest.Checkpoint // as they come into the store
	broken map[manifest.CheckpointID]bool
	less   map[manifest.CheckpointID]bool // of those that come, the ones without all that they had

	writer *cas.Writer
	keys   map[string]bool // of the paths that were forgotten in the store
	dirs   map[forgetKey]*forgotten
	has    map[oid.ID]bool

	there, lost, short int      // checkpoints
	unnamed            []string // what there is to say of those whose name another one has
	forgot             bool     // the branch knows of a forget that the log does not
}

// records are those that the log lacks: checkpoints with their names and pins, marks of checkpoints that both have,
// and sessions. A name that the store has given elsewhere becomes a pin.
func (b *branchOf) records(ours, theirs *manifest.Replayed) (records []manifest.Record) {
	b.there, b.lost, b.short, b.unnamed = 0, 0, 0, nil
	named, sessions := map[string]manifest.CheckpointID{}, map[string]bool{}
	for _, c := range ours.Checkpoints() {
		if c.Name != "" {
			named[c.Name] = c.ID
		}
	}
	for _, s := range ours.Sessions() {
		sessions[s.ID] = true
	}
	for _, s := range theirs.Sessions() {
		if !sessions[s.ID] {
			records = append(records, manifest.Record{Session: &s})
		}
	}
	list := theirs.Checkpoints()
	slices.Reverse(list)
	for _, c := range list {
		now, known := ours.ByID(c.ID)
		pin, name, unnamed := c.Pinned && !now.Pinned, c.Name, ""
		if has, given := named[name]; given && has != c.ID {
			unnamed = fmt.Sprintf("the name %s stays with %s, and %s, which had it in the mirror, is pinned", name, has, c.ID)
		} else if name != "" && known && now.Name != "" && now.Name != name {
			unnamed = fmt.Sprintf("%s stays %s, and is pinned: it was %s in the mirror", c.ID, now.Name, name)
		}
		if name != "" && (known && now.Name != "" || unnamed != "") {
			pin, name = pin || now.Name != name && !now.Pinned, ""
		}
		if known {
			b.tell(unnamed)
		}
		switch {
		case !known && b.broken[c.ID]:
			b.lost++
		case !known:
			own, comes := b.own[c.ID]
			if !comes {
				continue // the store has dropped it
			}
			b.tell(unnamed)
			b.there++
			if b.less[c.ID] {
				b.short++
			}
			c = own
			c.Name, c.Pinned = name, c.Pinned || pin
			records = append(records, manifest.Record{Checkpoint: &c})
		case pin || name != "":
			mark := manifest.Mark{Checkpoint: c.ID, Time: b.p.Env.Time().UTC()}
			if pin {
				mark.Pinned = &pin
			}
			if name != "" {
				mark.Name = &name
			}
			records = append(records, manifest.Record{Mark: &mark})
		}
	}
	for _, bound := range theirs.Bindings() {
		if !sessions[bound.Session] {
			records = append(records, manifest.Record{Binding: &bound})
		}
	}
	return records
}

// tell keeps what there is to say of a name, for text.
func (b *branchOf) tell(unnamed string) {
	if unnamed != "" {
		b.unnamed = append(b.unnamed, unnamed)
	}
}

func (b *branchOf) text() string {
	text := fmt.Sprint(b.there)
	if b.short > 0 {
		text += fmt.Sprintf(", %d of them without what gc or forget has removed", b.short)
	}
	if b.lost > 0 {
		text += fmt.Sprintf("; %d could not be added, because gc or forget has removed their contents", b.lost)
	}
	for i, unnamed := range b.unnamed {
		if i == mostUnnamed {
			return text + fmt.Sprintf("; and %d more of which another checkpoint has the name", len(b.unnamed)-i)
		}
		text += "; " + unnamed
	}
	return text
}

// mostUnnamed is how many checkpoints a notice says more of.
const mostUnnamed = 5
