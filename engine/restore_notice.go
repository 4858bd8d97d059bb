package engine

import (
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// leaveNotice leaves word for the agents whose conversations do not know what was done to the files. It
// begins from r.notice, where a verb has put what only it knows, and fails nothing: what cannot be left is
// not told, and stays for status.
func (r *restoring) leaveNotice(done *Restored) {
	if !r.o.DryRun && done.Operation == 0 || done.Conversation == nil && len(done.Create)+len(done.Replace)+len(done.Delete)+len(done.Mode) == 0 {
		return
	}
	n := r.notice
	n.Operation, n.Kind, n.Time = r.op.Seq, r.op.Kind, r.op.Time
	takesBack := len(r.takesBack) > 0
	if !takesBack && n.State.IsZero() && r.op.Kind != manifest.OpRevert {
		n.State = r.target.Time
	}
	if n.Prompts == nil && !takesBack {
		n.Prompts = slices.Clone(done.Prompts)
		slices.Reverse(n.Prompts)
	}
	if n.Session == "" && !takesBack {
		switch s := r.o.Session; {
		case s != nil:
			n.Agent, n.Session = s.Agent, s.ID
		case r.before != nil && r.before.Session != nil:
			n.Agent, n.Session = r.before.Session.Agent, r.before.Session.ID
		}
	}
	for _, group := range []struct {
		action notice.Action
		paths  []string
	}{{notice.Changed, done.Replace}, {notice.Changed, done.Mode}, {notice.Created, done.Create}, {notice.Deleted, done.Delete}} {
		n.Count += len(group.paths)
		for _, p := range group.paths[:min(len(group.paths), notice.MaxPaths)] {
			n.Paths = append(n.Paths, notice.Path{Path: p, Action: group.action})
		}
	}
	if m := done.Conversation; m != nil && m.Session != "" && (m.InPlace || r.op.Kind != manifest.OpUndoRestore) {
		n.Moved = append(n.Moved, m.Session)
	}
	if r.o.Along != "" {
		n.Moved = append(n.Moved, r.o.Along)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), noticeTime)
	defer cancel()
	if r.op.Kind == manifest.OpRevert {
		relate(ctx, r.Project, &n)
	}
	o := notice.Options{TakesBack: r.takesBack}
	if m := done.Conversation; m != nil && m.InPlace && !takesBack && r.o.Half == conversation.Both && r.sel == nil && len(done.Skip) == 0 {
		o.Together = notice.Session{Agent: m.Agent, ID: m.Session}
	}
	var err error
	if r.o.DryRun {
		done.Told, err = notice.Sessions(ctx, r.Project, n)
	} else if done.Told, err = notice.Queue(ctx, r.Project, n, o); err != nil {
		r.NoteHookError(err)
	}
	if err == nil && len(done.Told) > 0 {
		done.Notice = notice.Text([]notice.Notice{n}, n.Session)
	}
}

// relate notes the sessions that have a conversation in common with the one whose work was taken back: to them it is not
// the work of another session. What cannot be found out is left out.
func relate(ctx context.Context, p *project.Project, n *notice.Notice) {
	if n.Session == "" {
		return
	}
	list, err := conversation.Sessions(ctx, p)
	if err != nil {
		return
	}
	for _, s := range list {
		switch {
		case s.Agent != n.Agent:
		case s.ID == n.Session:
			n.Origins = s.Ancestors
		case slices.Contains(s.Ancestors, n.Session):
			n.Forks = append(n.Forks, s.ID)
		}
	}
}

// notice is what agents are told of a revert, beside its files.
func (r *Reverted) notice() (n notice.Notice) {
	for _, t := range r.Turns {
		n.Agent, n.Session = t.Agent, t.Session
		if label := transcript.Label(t.Prompt); label != "" {
			n.Prompts = append(n.Prompts, label)
		}
	}
	for _, k := range r.Kept {
		n.Kept = append(n.Kept, notice.Kept{Path: k.Path, From: k.From, To: k.To})
	}
	return n
}

// noticeAgain is what agents are told of a revert that is done again, beside its files: whose turns it took back.
func noticeAgain(ctx context.Context, p *project.Project, op manifest.Operation) (n notice.Notice, err error) {
	d := parseDone(op)
	if n.Agent, n.Session = d.work.agent, d.work.session; n.Session == "" {
		return n, nil
	}
	turns, err := turnsOf(ctx, p, n.Agent, n.Session)
	for _, t := range turns {
		of := d.work.all || slices.ContainsFunc(d.work.turns, func(o turn) bool { return o.promptID == t.promptID && o.from.Equal(t.from) })
		if label := transcript.Label(t.prompt); of && label != "" && !t.from.After(op.Time) {
			n.Prompts = append(n.Prompts, label)
		}
	}
	return n, err
}

// noticeTime is how long a command goes on after its work for that.
const noticeTime = 5 * time.Second
