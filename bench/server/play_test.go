package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWhatWasPushedIsThere: machines push to a real server through a proxy that loses, tears, delays and refuses requests. Whatever a push has
// reported, a clone on a machine with nothing but the key has, byte for byte.
func TestWhatWasPushedIsThere(t *testing.T) {
	program := build(t, "../..", "rewind", "./cli/rewind")
	for name, start := range map[string]func(*testing.T) string{"versitygw": versitygw, "gofakes3": gofakes} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			plays, rounds := 2, 14
			if n, err := strconv.Atoi(os.Getenv("REWIND_SOAK")); err == nil {
				plays, rounds = 4, n
			}
			t.Run("plays", func(t *testing.T) {
				for seed := range plays {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						playPushes(t, program, newFaultProxy(t, server, uint64(seed)), rounds, uint64(seed))
					})
				}
			})
		})
	}
}

// world is a remote and the machines that push to it.
type world struct {
	*testing.T
	program  string
	proxy    *faultProxy
	url      string
	key      string
	account  string // of the server; "": the server's own
	secret   string
	random   *rand.Rand
	machines []*machine
	states   map[string]string // what all files have in a checkpoint that was pushed, by its id
	unheard  int               // pushes that the server did not answer
	made     int               // machines
}

// machine is a home and a project.
type machine struct {
	*world
	name       string
	home, root string
	saved      map[string]string // what was not pushed yet
}

func playPushes(t *testing.T, program string, proxy *faultProxy, rounds int, seed uint64) {
	w := &world{T: t, program: program, proxy: proxy, random: rand.New(rand.NewPCG(seed, 27)), states: map[string]string{},
		url: "s3://" + bucket + "/play-" + fmt.Sprint(seed) + "?endpoint=" + proxy.url}
	first := w.machine()
	w.machines = []*machine{first}
	if err := os.Mkdir(first.root, 0o755); err != nil {
		t.Fatal(err)
	}
	first.must("init")
	var added struct{ Key string }
	first.document(&added, "remote", "add", "origin", w.url, "--manual", "--json")
	w.key = added.Key
	first.write("large", 9<<20) // goes as a pack
	first.save()
	proxy.fail(30)
	for n := range rounds {
		m := w.machines[w.random.IntN(len(w.machines))]
		if n == rounds/2 {
			proxy.fail(60) // some pushes are not answered any more
		}
		switch {
		case n == 2 || n == 5:
			w.machines = append(w.machines, w.clone())
		case n%5 == 4:
			m.until("pull", "--json")
		case n%7 == 6:
			m.until("remote", "gc", "--json")
		default:
			for range 1 + w.random.IntN(3) {
				m.write(fmt.Sprintf("d%d/f", w.random.IntN(6)), w.random.IntN(100_000))
			}
			m.save()
			m.push()
		}
	}
	proxy.fail(30)
	for _, m := range w.machines {
		m.write("last", 10)
		m.save()
		m.until("push", "--json")
		m.pushed()
	}
	w.clone()
	proxy.fail(0)
	w.clone()
	var checked struct {
		Damaged, Torn []string
		Objects       int
	}
	first.document(&checked, "remote", "check", "--json")
	if len(checked.Damaged) > 0 {
		t.Errorf("damaged: %v", checked.Damaged)
	}
	for _, m := range w.machines {
		m.must("verify", "--read-data")
	}
	t.Logf("%d checkpoints pushed, %d pushes not answered, %d machines, %d objects, %d of them torn; %s", len(w.states), w.unheard, w.made, checked.Objects, len(checked.Torn), proxy.report())
}

// machine makes one with nothing but the remote's key.
func (w *world) machine() *machine {
	base := w.TempDir()
	m := &machine{world: w, name: fmt.Sprint(w.made), home: filepath.Join(base, "home"), root: filepath.Join(base, "project"), saved: map[string]string{}}
	w.made++
	if err := os.Mkdir(m.home, 0o755); err != nil {
		w.Fatal(err)
	}
	return m
}

// run runs the program, and returns its answer and its exit code.
func (m *machine) run(args ...string) (out []byte, code int, errs string) {
	cmd := exec.Command(m.program, args...)
	cmd.Dir = m.root
	if args[0] == "clone" { // which makes it
		cmd.Dir = m.home
	}
	account, secret := m.account, m.secret
	if account == "" {
		account, secret = accessKey, secretKey
	}
	cmd.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "REWIND_REMOTE_KEY=" + m.key,
		"AWS_ACCESS_KEY_ID=" + account, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=us-east-1"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		m.Fatal(err)
	}
	return stdout.Bytes(), cmd.ProcessState.ExitCode(), stdout.String() + stderr.String()
}

// must runs a command that must end well.
func (m *machine) must(args ...string) []byte {
	m.Helper()
	out, code, errs := m.run(args...)
	if code != 0 {
		m.Fatalf("machine %s: rewind %v: exit code %d: %s", m.name, args, code, errs)
	}
	return out
}

func (m *machine) document(to any, args ...string) {
	m.Helper()
	out := m.must(args...)
	if err := json.Unmarshal(out, to); err != nil {
		m.Fatalf("rewind %v: %v: %s", args, err, out)
	}
}

// unreachable is the exit code of a command that a remote did not answer.
const unreachable = 9

// until runs a command again and again until the remote has answered. Nothing but a missing answer may be in its way.
func (m *machine) until(args ...string) {
	m.Helper()
	for range 60 {
		_, code, errs := m.run(args...)
		if code == 0 {
			return
		}
		if code != unreachable {
			m.Fatalf("machine %s: rewind %v: exit code %d: %s", m.name, args, code, errs)
		}
		m.unheard++
	}
	m.Fatalf("machine %s: rewind %v is never answered", m.name, args)
}

func (m *machine) write(name string, size int) {
	m.Helper()
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(m.random.IntN(256))
	}
	file := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) save() {
	m.Helper()
	var v struct{ ID string }
	m.document(&v, "save", "--json")
	m.saved[v.ID] = m.tree()
}

// push pushes, and notes what it has reported.
func (m *machine) push() {
	m.Helper()
	out, code, errs := m.run("push", "--json")
	switch code {
	case 0:
		var v struct{ Lost bool }
		if err := json.Unmarshal(out, &v); err != nil || v.Lost {
			m.Errorf("machine %s: something that was pushed is gone: %s, %v", m.name, out, err)
		}
		m.pushed()
	case unreachable:
		m.unheard++
	default:
		m.Fatalf("machine %s: push: exit code %d: %s", m.name, code, errs)
	}
}

func (m *machine) pushed() {
	for id, state := range m.saved {
		m.states[id] = state
	}
	clear(m.saved)
}

// tree is what the files of a project have.
func (m *machine) tree() string {
	m.Helper()
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(m.root, "d*", "f"))
	for _, file := range append(files, filepath.Join(m.root, "large")) {
		data, err := os.ReadFile(file)
		if err != nil {
			m.Fatal(err)
		}
		rel, _ := filepath.Rel(m.root, file)
		fmt.Fprintf(&b, "%s %x\n", rel, data)
	}
	return b.String()
}

// clone clones on a new machine, pulls what the others have pushed, and compares some of it.
func (w *world) clone() *machine {
	w.Helper()
	m := w.machine()
	m.until("clone", w.url, m.root, "--json")
	m.byHand()
	m.until("pull", "--json")
	var status struct{ Pulled []struct{ Name string } }
	m.document(&status, "status", "--json")
	names := map[string]string{} // of checkpoints, by their ids
	for _, of := range append([]struct{ Name string }{{""}}, status.Pulled...) {
		args, prefix := []string{"list", "--all", "--json"}, ""
		if of.Name != "" {
			prefix = of.Name + "/"
			args = append(args, prefix)
		}
		var list struct{ Checkpoints []struct{ ID string } }
		m.document(&list, args...)
		for _, c := range list.Checkpoints {
			names[c.ID] = prefix + c.ID
		}
	}
	var ids []string
	for id := range w.states {
		if names[id] == "" {
			w.Errorf("checkpoint %s was pushed, and machine %s does not get it", id, m.name)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for n := range 3 {
		if w.Failed() || n >= len(ids) {
			break
		}
		id := ids[w.random.IntN(len(ids))]
		m.must("restore", names[id], "--quiet")
		if m.tree() != w.states[id] {
			w.Errorf("checkpoint %s has other bytes on machine %s", id, m.name)
		}
	}
	if w.Failed() {
		w.FailNow()
	}
	m.must("verify", "--read-data")
	return m
}

// byHand has a clone push nothing by itself.
func (m *machine) byHand() {
	file := filepath.Join(m.root, ".agent", "rewind", "remotes.json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(data, []byte(`"manual": false`), []byte(`"manual": true`)), 0o600)
	}
	if err != nil {
		m.Fatal(err)
	}
}
