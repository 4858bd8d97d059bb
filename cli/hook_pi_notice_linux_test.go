package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

// What a fork that pi makes itself gets of the notices of the session that it was made of: those that are true of the files for
// the conversation that it holds.
func TestPiForkNotices(t *testing.T) {
	const keep, all, code = hookio.PiKeepConversation, hookio.PiRestoreAll, hookio.PiCodeOnly
	for _, c := range []struct {
		name string
		play func(p *notices)
		want string // part of the notice that the fork gets with its first prompt; "" for none
	}{
		{"the conversation and the files went back before what was taken back", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.prompt("P4", "restored files")
			p.rewind("undo")
			p.fork(2, all)
		}, ""},
		{"and before a revert", func(p *notices) {
			p.rewind("revert", "prompt~2", "--include-shared")
			p.prompt("P4", "took back")
			p.rewind("undo")
			p.fork(2, all)
		}, ""},
		{"and where nothing was told", func(p *notices) {
			p.rewind("restore", "prompt~1", "--code-only")
			p.rewind("restore", "prompt~2", "--code-only")
			p.rewind("undo")
			p.fork(2, all)
		}, ""},
		{"and before restores that the menu made", func(p *notices) {
			p.choose("fork", p.users[2], code)
			p.prompt("P4", "restored files")
			p.choose("fork", p.users[2], hookio.PiUndo)
			p.fork(2, all)
		}, ""},
		{"the first prompt, with nothing before it", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.fork(1, keep)
		}, ""},
		{"the files are of before all that it holds", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.fork(2, keep)
		}, ""},
		{"behind the prompt that got the notice", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.prompt("P4", "restored files")
			p.fork(3, keep)
		}, `deleted "f2"`},
		{"the files went elsewhere alone", func(p *notices) {
			p.choose("fork", p.users[2], code)
			p.fork(3, keep)
		}, `deleted "f2"`},
		{"what waits", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.fork(3, keep)
		}, `deleted "f2"`},
		{"it holds the notice", func(p *notices) {
			p.rewind("restore", "prompt~2", "--code-only")
			p.prompt("P4", "restored files")
			p.prompt("P5", "")
			p.fork(5, keep)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &notices{piLab: newPiLab(t), users: map[int]string{}}
			p.ask(hookio.PiSessionStart, map[string]any{"reason": "startup"})
			p.prompt("P1", "", "f1")
			p.prompt("P2", "", "f2")
			p.prompt("P3", "")
			c.play(p)
			p.prompt("of the fork", c.want)
			p.prompt("and one more", "")
		})
	}
}

// notices is a session of pi whose prompts say what their agent is told.
type notices struct {
	*piLab
	users map[int]string // entries of the prompts, from 1
}

// prompt is a turn that makes files; want is part of the notice that comes with it, "" for none.
func (p *notices) prompt(text, want string, files ...string) {
	p.t.Helper()
	got := p.ask(hookio.PiPrompt, map[string]any{"prompt": text}).Inform
	if want == "" && got != "" || !strings.Contains(got, want) || strings.Count(got, "\n- ") > 1 {
		p.t.Errorf("with %s the agent is told %q, want %q", text, got, want)
	}
	p.users[len(p.users)+1] = p.add("message", "user")
	p.add("message", "assistant")
	for _, f := range files {
		p.write(f, "1")
	}
	p.ask(hookio.PiTurnEnd, p.since())
	p.ask(hookio.PiAgentEnd, p.since())
}

// fork forks at the prompt with that number, after a choice in pi's menu.
func (p *notices) fork(n int, choice string) {
	p.t.Helper()
	p.choose("fork", p.users[n], choice)
	p.forked(n)
}

func (p *notices) forked(n int) {
	p.t.Helper()
	p.ask(hookio.PiShutdown, map[string]any{"reason": "fork"})
	p.piLab.fork("01a20118-0000-734a-9cf8-4c03b5521b8a", 2*(n-1))
}

// A fork that is cancelled since a path could not be restored leaves the conversation where it is: its agent gets the notice.
func TestPiCancelledForkIsToldOf(t *testing.T) {
	p := &notices{piLab: newPiLab(t), users: map[int]string{}}
	p.prompt("P1", "", "f1", "f2")
	immutable := func(flag string) error { return exec.Command("chattr", flag+"i", filepath.Join(p.root, "f1")).Run() }
	if err := immutable("+"); err != nil {
		t.Skipf("NOT TESTED HERE: chattr: %v", err)
	}
	t.Cleanup(func() { _ = immutable("-") })
	if a := p.choose("fork", p.users[1], hookio.PiRestoreAll); !a.Cancel {
		t.Fatalf("%+v", a)
	}
	p.prompt("P2", `deleted "f2"`)
}
