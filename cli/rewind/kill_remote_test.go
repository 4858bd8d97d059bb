//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

// TestKilledRemote: commands that talk to a remote are killed at any moment. The same command ends well then, what was pushed before can be
// cloned, byte for byte, and neither the remote nor a store is damaged.
func TestKilledRemote(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	for place, rounds := range map[string]int{"": 12, "s3:": 9} {
		t.Run("place"+place, func(t *testing.T) {
			t.Parallel()
			playKilledRemote(t, place, rounds, 1)
		})
	}
}

// TestSoakKilledRemote is the long form, also with a git repository; REWIND_SOAK can be the number of rounds.
func TestSoakKilledRemote(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	rounds, err := strconv.Atoi(os.Getenv("REWIND_SOAK"))
	if err != nil || rounds < 100 {
		rounds = 150
	}
	for _, place := range []string{"", "s3:", "git:"} {
		t.Run("place"+place, func(t *testing.T) { playKilledRemote(t, place, rounds, uint64(time.Now().UnixNano())) })
	}
}

// killers are two machines with one remote, of which the first one pushes.
type killers struct {
	*arena
	other  *arena
	place  string           // a directory
	server *s3server.Server // in its place; nil: none
	url    string
	random *rand.Rand
	took   map[string]time.Duration // the longest run of each command that was not killed
	states map[string]string        // what all files have in a checkpoint that was pushed, by its id
	saved  map[string]string        // and in one that was not pushed yet
	clones int
}

// playKilledRemote plays rounds with a directory, with an S3 server, or with a git repository.
func playKilledRemote(t *testing.T, kind string, rounds int, seed uint64) {
	base := t.TempDir()
	first := &arena{t: t, program: filepath.Join(base, "rewind"), root: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	if out, err := exec.Command("go", "build", "-o", first.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k := &killers{arena: first, place: filepath.Join(base, "place"), random: rand.New(rand.NewPCG(seed, 9)), took: map[string]time.Duration{},
		states: map[string]string{}, saved: map[string]string{}}
	for _, dir := range []string{k.root, k.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k.url = kind + k.place
	switch kind {
	case "s3:":
		k.server = s3server.New(t)
		k.url = k.server.Address("killed")
		k.env = k.server.Environ()
	case "git:":
		if out, err := exec.Command("git", "init", "-q", "--bare", k.place).CombinedOutput(); err != nil {
			t.Skipf("%v: %s", err, out)
		}
	}
	k.must("init")
	k.must("remote", "add", "origin", k.url, "--manual")
	k.save()
	k.must("push")
	k.pushed()
	k.other = k.machine("other")
	k.other.must("clone", k.url, k.other.root)
	all := []string{"push", "push", "pull", "clone", "share", "gc", "rotate", "rewrite"}
	for n := range rounds {
		verb := all[k.random.IntN(len(all))]
		if n < len(all) {
			verb = all[n]
		}
		t.Logf("seed %d, round %d: %s", seed, n, verb)
		k.round(verb)
		if t.Failed() {
			return
		}
		if k.random.IntN(5) == 0 && kind != "git:" {
			k.age()
		}
		if n%4 == 3 || n == rounds-1 {
			k.must("remote", "check")
			k.must("remote", "gc")
			k.clone()
			k.must("verify")
			k.other.must("verify")
		}
	}
	t.Logf("%d kills in %d rounds, %d checkpoints, %d clones", k.arena.killed, rounds, len(k.states), k.clones)
}

// machine is one with nothing but the remote's key.
func (k *killers) machine(name string) *arena {
	base := filepath.Join(filepath.Dir(k.place), name)
	a := &arena{t: k.t, program: k.program, root: filepath.Join(base, "project"), home: filepath.Join(base, "home"), env: k.with(k.key())}
	if err := os.MkdirAll(a.home, 0o755); err != nil {
		k.t.Fatal(err)
	}
	return a
}

// with is the environment of a machine that has a key.
func (k *killers) with(key string) []string {
	env := []string{"REWIND_REMOTE_KEY=" + key}
	if k.server != nil {
		env = append(env, k.server.Environ()...)
	}
	return env
}

func (k *killers) key() string {
	var v struct{ Key string }
	k.document(k.must("remote", "key", "--json"), &v)
	return v.Key
}

func (k *killers) document(data []byte, v any) {
	k.t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		k.t.Fatalf("%s: %v", data, err)
	}
}

// save changes files, and saves.
func (k *killers) save() {
	for range 1 + k.random.IntN(3) {
		text := make([]byte, k.random.IntN(200_000))
		for i := range text {
			text[i] = byte(k.random.IntN(256))
		}
		k.write(fmt.Sprintf("d%d/f", k.random.IntN(6)), string(text))
	}
	var v struct{ ID string }
	k.document(k.must("save", "--json"), &v)
	k.saved[v.ID] = k.tree(k.root)
}

// tree is what the files of a project have.
func (k *killers) tree(root string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(root, "d*", "f"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			k.t.Fatal(err)
		}
		rel, _ := filepath.Rel(root, file)
		fmt.Fprintf(&b, "%s %x\n", rel, data)
	}
	return b.String()
}

// pushed notes that all that was saved is in the remote.
func (k *killers) pushed() {
	for id, state := range k.saved {
		k.states[id] = state
	}
	clear(k.saved)
}

// kill starts a command up to some times, and kills it; then it runs to its end, and must end well.
func (k *killers) kill(a *arena, args ...string) []byte {
	k.t.Helper()
	verb := args[0]
	if verb == "remote" {
		verb = strings.Join(args, " ")
	}
	for range 1 + k.random.IntN(3) {
		cmd := a.command(args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			k.t.Fatal(err)
		}
		most := max(k.took[verb], 40*time.Millisecond) * 5 / 4
		timer := time.AfterFunc(time.Duration(k.random.Int64N(int64(most))), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		switch code := cmd.ProcessState.ExitCode(); {
		case code < 0:
			k.arena.killed++
			if args[0] == "clone" && a.command("status").Run() == nil { // all of it was there
				return out.Bytes()
			}
		case code == 0 && args[0] == "clone":
			return out.Bytes()
		case code != 0:
			k.t.Errorf("%v after a kill: exit code %d: %s", args, code, out.String())
		}
	}
	began := time.Now()
	cmd := a.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		k.t.Errorf("%v after a kill: %v: %s", args, err, errs.String())
		if list, _ := exec.Command("find", a.root).Output(); args[0] == "clone" {
			k.t.Logf("%s", list)
		}
	}
	k.took[verb] = max(k.took[verb], time.Since(began))
	return out
}

func (k *killers) round(verb string) {
	switch verb {
	case "push":
		for range 1 + k.random.IntN(3) {
			k.save()
		}
		var v struct{ Moved, Lost bool }
		if k.document(k.kill(k.arena, "push", "--json"), &v); v.Moved || v.Lost {
			k.t.Errorf("the log begins anew: %+v", v)
		}
		k.pushed()
	case "pull":
		k.save()
		k.must("push")
		k.pushed()
		k.kill(k.other, "pull", "--json")
		var v struct{ Pulled []struct{ Name string } }
		k.document(k.other.must("status", "--json"), &v)
		lists := [][]byte{k.other.must("list", "--all", "--json")}
		for _, l := range v.Pulled {
			lists = append(lists, k.other.must("list", l.Name+"/", "--all", "--json"))
		}
		k.has("a pull", k.ids(lists...))
	case "clone":
		k.clone()
	case "share":
		var v struct{ URL, Key string }
		k.document(k.kill(k.arena, "share", "last", "--json"), &v)
		a := k.machine(fmt.Sprint("share", k.clones))
		k.clones++
		a.env = k.with(v.Key)
		k.kill(a, "clone", v.URL, a.root)
		a.must("restore", "last", "--quiet")
		if k.tree(a.root) != k.tree(k.root) {
			k.t.Error("the share has other bytes")
		}
		var list struct{ Shares []struct{ Share string } }
		k.document(k.must("share", "--list", "--json"), &list)
		for _, s := range list.Shares {
			k.kill2(k.arena, "share", "--remove", s.Share)
		}
	case "gc":
		k.kill(k.arena, "remote", "gc", "--json")
	case "rotate", "rewrite":
		args := []string{"remote", "key", "rotate", "--json"}
		if verb == "rewrite" {
			args = append(args, "--rewrite")
		}
		k.kill(k.arena, args...)
		k.save()
		k.must("push")
		k.pushed()
		k.other.env = k.with(k.key())
		k.other.must("pull")
	}
}

// kill2 kills a command that cannot be done twice: what is left of it must not be in the way.
func (k *killers) kill2(a *arena, args ...string) {
	cmd := a.command(args...)
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(k.random.Int64N(int64(60*time.Millisecond))), func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	timer.Stop()
}

// ids are those in lists of checkpoints.
func (k *killers) ids(lists ...[]byte) map[string]bool {
	all := map[string]bool{}
	for _, data := range lists {
		var list struct{ Checkpoints []struct{ ID string } }
		k.document(data, &list)
		for _, c := range list.Checkpoints {
			all[c.ID] = true
		}
	}
	return all
}

// has looks for all that was pushed.
func (k *killers) has(what string, ids map[string]bool) {
	k.t.Helper()
	for id := range k.states {
		if !ids[id] {
			k.t.Errorf("checkpoint %s was pushed, and %s does not have it", id, what)
		}
	}
}

// clone clones what was pushed, killed and again, and compares it.
func (k *killers) clone() {
	a := k.machine(fmt.Sprint("clone", k.clones))
	k.clones++
	k.kill(a, "clone", k.url, a.root, "--json")
	k.has("a clone", k.ids(a.must("list", "--all", "--json")))
	byHand(k.t, a.root)
	tried := 0
	for id, state := range k.states {
		if tried++; tried > 2 || k.t.Failed() {
			break
		}
		a.must("restore", id, "--quiet")
		if k.tree(a.root) != state {
			k.t.Errorf("checkpoint %s has other bytes", id)
		}
	}
	a.must("verify")
	if err := os.RemoveAll(filepath.Dir(a.root)); err != nil {
		k.t.Fatal(err)
	}
}

// byHand has a clone push nothing by itself: a process that is left would, while others look.
func byHand(t *testing.T, root string) {
	t.Helper()
	file := filepath.Join(root, ".agent", "rewind", "remotes.json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(data, []byte(`"manual": false`), []byte(`"manual": true`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// age makes all that is in the remote nine days older, so that gc removes what it condemned.
func (k *killers) age() {
	const by = 9 * 24 * time.Hour
	if k.server != nil {
		k.server.Older(by)
		return
	}
	err := filepath.WalkDir(k.place, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			then := info.ModTime().Add(-by)
			err = os.Chtimes(file, then, then)
		}
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
}
