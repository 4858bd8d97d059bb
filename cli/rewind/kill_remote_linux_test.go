//go:build amd64 || arm64

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// TestRemoteKilledAtEachCall: a command that talks to a remote in a directory is killed at a call that changes something. The same command
// ends well then, and so does a push after it; a clone has all that was pushed, before and after. make soak kills at each call, else at some.
func TestRemoteKilledAtEachCall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program, most := build(t), 3
	if os.Getenv("REWIND_SOAK") != "" {
		most = 1 << 20
	}
	for name, args := range remoteCommands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &remoteWorld{world: setUp(t, program, scenario{name: name, prepare: func(*world) {}})}
			r.begin(args)
			if r.run = r.trace(nil); r.run.Code != 0 {
				r.Fatalf("without a fault: exit code %d: %s", r.run.Code, r.run.Err)
			}
			points := r.points(killed)
			step := max(1, points/most)
			for n := 1 + points%step; n <= points && !t.Failed(); n += step {
				r.suffer(n)
			}
			t.Logf("%d of %d calls", (points+step-1)/step, points)
		})
	}
}

// remoteCommands are those that talk to a remote.
func remoteCommands() map[string][]string {
	return map[string][]string{
		"push":    {"push", "--json"},
		"pull":    {"pull", "--root", "OTHER", "--json"},
		"clone":   {"clone", "PLACE", "FRESH", "--json"},
		"share":   {"share", "last", "--json"},
		"unshare": {"share", "--remove", "SHARE"},
		"gc":      {"remote", "gc", "--json"},
		"rotate":  {"remote", "key", "rotate", "--json"},
		"rewrite": {"remote", "key", "rotate", "--rewrite", "--json"},
	}
}

// remoteWorld is a world with a remote, and another project that pushes there, too.
type remoteWorld struct {
	*world
	place, other, fresh string // place: a directory, or the URL of a bucket of server
	server              *s3server.Server
	pushed              []string
}

func (r *remoteWorld) begin(args []string) {
	r.place, r.other, r.fresh = filepath.Join(r.base, "place"), filepath.Join(r.base, "other"), filepath.Join(r.base, "fresh")
	if r.server != nil {
		r.place, r.more = r.server.Address("killed"), r.server.Environ()
	}
	r.rewind("init")
	r.rewind("remote", "add", "origin", r.place, "--manual")
	r.rewind("save")
	r.rewind("push")
	r.pushed = idsIn(r.T, r.rewind("list", "--all", "--json"))
	r.rewind("clone", r.place, r.other)
	var shared struct{ Share string }
	must(r.T, json.Unmarshal([]byte(r.rewind("share", "last", "--json")), &shared))
	r.write("new/f.txt", "five\n")
	r.rewind("save")
	if args[0] != "push" {
		r.rewind("push")
		r.pushed = idsIn(r.T, r.rewind("list", "--all", "--json"))
	}
	for i, arg := range args {
		if with, ok := map[string]string{"OTHER": r.other, "PLACE": r.place, "FRESH": r.fresh, "SHARE": shared.Share}[arg]; ok {
			args[i] = with
		}
	}
	r.args = args
	r.start = r.disk()
}

func (r *remoteWorld) all() []string {
	if r.server != nil {
		return append(r.dirs(), r.other)
	}
	return append(r.dirs(), r.place, r.other)
}

func (r *remoteWorld) disk() *crashfs.FS {
	disk := crashfs.New()
	for _, dir := range r.all() {
		must(r.T, disk.Load(dir))
	}
	return disk
}

func idsIn(t *testing.T, out string) (ids []string) {
	var list struct{ Checkpoints []struct{ ID string } }
	must(t, json.Unmarshal([]byte(out), &list))
	for _, c := range list.Checkpoints {
		ids = append(ids, c.ID)
	}
	return ids
}

// suffer kills the command at one call, and judges what is left.
func (r *remoteWorld) suffer(n int) {
	r.reset()
	var hit *tracee.Call
	done := r.trace(killed.plan(n, &hit))
	if hit == nil {
		return // a run that needed fewer calls
	}
	v := &verdict{world: r.world, when: fmt.Sprintf("killed at call %d, %s %s %s", hit.N, hit.Name, strings.TrimPrefix(hit.Path, r.base), strings.TrimPrefix(hit.To, r.base))}
	if done.Signal != syscall.SIGKILL {
		v.wrong("it was not killed: exit code %d", done.Code)
	}
	r.judge(v)
	v.tell(done)
}

// reset puts the directories back to where the command begins.
func (r *remoteWorld) reset() {
	must(r.T, os.RemoveAll(r.fresh))
	for _, dir := range r.all() {
		must(r.T, r.start.Store(dir))
	}
}

// judge looks at what a command that was killed has left.
func (r *remoteWorld) judge(v *verdict) {
	r.cloned(v, "before it runs again", r.pushed)
	out, errOut, code := r.command(r.args...)
	full := code == 8 && strings.Contains(out, "it has the project of this remote already") // it was done when it was killed
	gone := code == 5 && r.name == "unshare"
	if code != 0 && !full && !gone {
		v.wrong("again: exit code %d: %s%s", code, out, errOut)
	}
	v.next("push")
	v.next("push", "--check")
	v.next("remote", "check")
	v.next("verify", "--read-data")
	v.next("verify", "--read-data", "--root", r.other)
	own, _, _ := r.command("list", "--all", "--json")
	r.cloned(v, "in the end", idsIn(r.T, own))
}

// cloned clones what the remote has, and looks for checkpoints and the files of the newest.
func (r *remoteWorld) cloned(v *verdict, when string, ids []string) {
	dir := filepath.Join(r.base, "look")
	defer os.RemoveAll(dir)
	if out, errOut, code := r.command("clone", r.place, dir); code != 0 {
		v.wrong("%s: clone: exit code %d: %s%s", when, code, out, errOut)
		return
	}
	byHand(r.T, dir)
	out, errOut, code := r.command("list", "--all", "--json", "--root", dir)
	if code != 0 {
		v.wrong("%s: list: exit code %d: %s", when, code, errOut)
		return
	}
	there := idsIn(r.T, out)
	for _, id := range ids {
		if !slices.Contains(there, id) {
			v.wrong("%s: a clone does not have checkpoint %s", when, id)
		}
	}
	v.next("verify", "--read-data", "--root", dir)
	v.next("restore", ids[0], "--quiet", "--root", dir)
	for _, file := range []string{"a.txt", "d/b.txt"} {
		is, _ := os.ReadFile(filepath.Join(dir, file))
		want, err := os.ReadFile(filepath.Join(r.project, file))
		must(r.T, err)
		if string(is) != string(want) {
			v.wrong("%s: a clone has other bytes in %s", when, file)
		}
	}
	_, _, _ = r.command("deinit", "--yes", "--root", dir)
}
