package hook

import (
	"context"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// A session alone keeps to the debounce; beside another one each shell command has its checkpoints, but in
// the tier that has none.
func TestShellsBesideAnotherSession(t *testing.T) {
	l := newLab(t)
	l.init()
	now := time.Now()
	call := func(p *project.Project, session, moment string, after time.Duration) *Call {
		kinds := map[string]manifest.CheckpointKind{settings.PreShell: manifest.PreTool, settings.PostShell: manifest.PostTool, settings.SessionEnd: manifest.SessionEnd}
		return &Call{
			Event:   Event{Time: now.Add(after), Moment: moment, Kind: kinds[moment], By: conversation.Trigger{Agent: "claude", Session: session}},
			Project: p, Env: l.env, session: account.SessionState{Last: now.Add(after - time.Second)},
		}
	}
	l.do(func(_ context.Context, p *project.Project) error {
		set := p.Settings()
		held := func(what, session string, after time.Duration, pre, post bool) {
			t.Helper()
			if got := call(p, session, settings.PreShell, after).heldBack(set); got != pre {
				t.Errorf("%s: before a shell command held back %v", what, got)
			}
			if due, err := call(p, session, settings.PostShell, after).due(); due != post || err != nil {
				t.Errorf("%s: after a shell command due %v, %v", what, due, err)
			}
		}
		held("nobody was ever here", "a", 0, true, false)
		call(p, "a", settings.PreShell, 0).noteActive()
		held("alone", "a", 0, true, false)
		held("beside it", "b", 0, false, true)
		held("within ten minutes", "b", 9*time.Minute, false, true)
		held("the clock set back", "b", -9*time.Minute, false, true)
		held("ten minutes later", "b", 11*time.Minute, true, false)
		held("its trace is gone then", "b", 0, true, false)
		call(p, "a", settings.PreShell, 0).noteActive()
		call(p, "a", settings.SessionEnd, 0).noteActive()
		held("it has ended", "b", 0, true, false)

		call(p, "a", settings.PreShell, 0).noteActive()
		minimal := *set
		minimal.Moments = []string{settings.SessionStart}
		if minimal.FiresAt(settings.PreShell) {
			t.Fatal("the tier has shell commands")
		}
		return nil
	})
}
