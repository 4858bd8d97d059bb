package hook

import (
	"context"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// What a forget could not remove yet is removed after a hook's checkpoint, as after each other write: by the detached process.
func TestHookFinishesAForget(t *testing.T) {
	l := newLab(t)
	l.init()
	prompt := func() int {
		l.detached = 0
		must(t, l.event(Event{Kind: manifest.Prompt, Moment: "prompt"}))
		return l.detached
	}
	if n := prompt(); n != 0 {
		t.Errorf("%d detached processes without a forget", n)
	}
	note := func(p *project.Project) { must(t, p.NoteForgetting(project.ForgettingNote{Sweeping: true})) }
	p := l.open()
	note(p)
	must(t, p.Close())
	if n := prompt(); n != 1 {
		t.Errorf("%d detached processes while a forget is not finished", n)
	}
	p = l.open()
	defer p.Close()
	must(t, Work(context.Background(), p, WorkOptions{Sweep: true}))
	if p.IsForgetting() {
		t.Error("the detached process leaves it")
	}
}
