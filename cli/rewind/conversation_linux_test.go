//go:build amd64 || arm64

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// A conversation is moved and the operation recorded, or neither: also where it fails, or the
// process is killed, between the two.
func TestConversationWithItsRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := build(t)
	for _, c := range []struct {
		name, mode string
		inPlace    bool
	}{
		{"fork and files", "both", false}, {"fork", "context", false},
		{"in place and files", "both", true}, {"in place", "context", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scenario{name: c.name, args: []string{"restore", "prompt~1", "--mode", c.mode, "--session", session, "--json"}, prepare: prompted, forks: 1}
			if c.inPlace {
				s.args, s.forks = append(s.args, "--in-place"), 0
			}
			w := newWorld(t, program, s)
			io := tracee.Fate{Errno: syscall.EIO}
			for when, fate := range map[string]tracee.Fate{"putting it in place fails": io, "the record fails": io, "killed before the record": {Kill: true}} {
				w.store(w.start)
				r := w.trace(w.around(when == "putting it in place fails", fate))
				told := &verdict{world: w, when: when}
				if !fate.Kill {
					told.report(r)
					if r.Code != 1 {
						told.wrong("exit code %d", r.Code)
					}
					told.neither()
					told.next(w.args...)
					told.both()
					told.tell(r)
					continue
				}
				if c.mode != "both" {
					continue // the conversation alone has no journal: what is there is a fork like others, or has its backup
				}
				dead := w.load()
				if len(w.forks(dead)) == 0 && same(w.mine(dead), w.user[0]) {
					told.wrong("it was killed too early for this test")
				}
				told.next("undo-restore", "--json")
				told.neither()
				w.store(dead)
				told.next(w.args...)
				told.both()
				told.tell(r)
			}
		})
	}
}

// around gives the fate to the call that puts the transcript in place, or to all after it that
// write to the log.
func (w *world) around(at bool, fate tracee.Fate) func(*tracee.Call) tracee.Fate {
	transcripts, log := filepath.Dir(w.transcript()), filepath.Join(w.project, ".agent/rewind/objects", "log-")
	puts := []string{"link", "linkat", "rename", "renameat", "renameat2"}
	placed := false
	return func(c *tracee.Call) tracee.Fate {
		if !placed && slices.Contains(puts, c.Name) && filepath.Dir(c.To) == transcripts && strings.HasSuffix(c.To, ".jsonl") {
			placed = true
			if at {
				return fate
			}
		}
		if placed && !at && c.Changes && (strings.HasPrefix(c.Path, log) || strings.HasPrefix(c.To, log)) {
			return fate
		}
		return tracee.Fate{}
	}
}

// neither says what is wrong where nothing may have happened.
func (v *verdict) neither() {
	if now := v.mine(v.load()); !same(now, v.user[0]) || len(v.forks(v.load())) != 0 {
		v.wrong("not as before: %s; forks %v", difference(now, v.user[0]), v.forks(v.load()))
	}
	if out, _, _ := v.command("log", "--json"); strings.Contains(out, `"restore"`) {
		v.wrong("an operation was recorded: %s", out)
	}
}

// both says it where all must have.
func (v *verdict) both() {
	if now := v.mine(v.load()); !same(now, v.user[1]) || len(v.forks(v.load())) != v.scenario.forks {
		v.wrong("not as wanted: %s; forks %v", difference(now, v.user[1]), v.forks(v.load()))
	}
	v.next("verify", "--read-data")
}
