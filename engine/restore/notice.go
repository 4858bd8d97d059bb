package restore

import (
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// leaveNotice queues a notice for the agents whose conversations do not know what was done to the files. It
// begins with way.Notice, where a verb has put what only it knows. An error does not fail the verb: there is no
// notice then.
func (r *Run) leaveNotice(way *Way, done *Restored) {
	stays := done.Conversation == nil || done.Conversation.There
	if !r.Options.DryRun && done.Operation == 0 || stays && len(done.Create)+len(done.Replace)+len(done.Delete)+len(done.Mode) == 0 {
		return
	}
	n := way.Notice
	n.Operation, n.Kind, n.Time = r.Op.Seq, r.Op.Kind, r.Op.Time
	takesBack := len(way.takesBack) > 0
	if !takesBack && n.State.IsZero() && r.Op.Kind != manifest.OpRevert {
		n.State = way.Target.Time
	}
	if n.Prompts == nil && !takesBack {
		n.Prompts = slices.Clone(done.Prompts)
		slices.Reverse(n.Prompts)
	}
	if n.Session == "" && !takesBack {
		switch s := r.Options.Session; {
		case s != nil:
			n.Agent, n.Session = s.Agent, s.ID
		case way.before != nil && way.before.Session != nil:
			n.Agent, n.Session = way.before.Session.Agent, way.before.Session.ID
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
	forked := func(m *conversation.Moved) bool {
		return r.Op.Kind != manifest.OpUndoRestore && (m.From != "" || r.Op.Kind != manifest.OpRedoRestore)
	}
	if m := done.Conversation; m != nil && m.Session != "" && (m.InPlace || forked(m)) {
		n.Moved = append(n.Moved, m.Session)
	}
	if r.Options.Along != "" && len(problem.FailedOf(done.Skip)) == 0 { // else its agent keeps it where it is
		n.Moved = append(n.Moved, r.Options.Along)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), noticeTime)
	defer cancel()
	if r.Op.Kind == manifest.OpRevert {
		relate(ctx, r.Project, &n)
	}
	o := notice.Options{TakesBack: way.takesBack}
	if m := done.Conversation; m != nil && m.Session != "" && !m.There && !m.Until.IsZero() {
		o.Move = &notice.Move{From: notice.Session{Agent: m.Agent, ID: m.From}, To: notice.Session{Agent: m.Agent, ID: m.Session}, Until: m.Until}
		if m.InPlace {
			o.Move.From = o.Move.To
		}
		if r.Options.Half == conversation.Both && r.Sel == nil && len(done.Skip) == 0 {
			o.Move.Files = way.Target.Time
		}
	}
	var err error
	if r.Options.DryRun {
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
	list, err := session.List(ctx, p)
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

// noticeAgain is the notice of a revert that is done again, without its files: whose turns it took back.
func noticeAgain(ctx context.Context, p *project.Project, op manifest.Operation) (n notice.Notice, err error) {
	d := work.ParseDone(op)
	if n.Agent, n.Session = d.Work.Agent, d.Work.Session; n.Session == "" {
		return n, nil
	}
	turns, err := work.TurnsOf(ctx, p, n.Agent, n.Session)
	for _, t := range turns {
		of := d.Work.All || slices.ContainsFunc(d.Work.Turns, func(o work.Turn) bool { return o.PromptID == t.PromptID && o.From.Equal(t.From) })
		if label := transcript.Label(t.Prompt); of && label != "" && !t.From.After(op.Time) {
			n.Prompts = append(n.Prompts, label)
		}
	}
	return n, err
}

// noticeTime bounds how long a command takes for notices after its work.
const noticeTime = 5 * time.Second
