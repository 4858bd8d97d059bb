package cli_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/hookio/register"
)

// installed is a home directory with the program installed.
type installed struct {
	t             *testing.T
	home, project string
}

func newInstalled(t *testing.T) *installed {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &installed{t: t, home: filepath.Join(base, "home"), project: filepath.Join(base, "proj")}
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	a.write(a.program(), string(data), 0o755)
	a.write(filepath.Join(a.project, "a.txt"), "one", 0o644)
	return a
}

func (a *installed) program() string { return filepath.Join(a.home, ".local", "bin", "rewind") }

func (a *installed) write(file, content string, mode os.FileMode) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		a.t.Fatal(err)
	}
}

func (a *installed) rewind(args ...string) string {
	a.t.Helper()
	cmd := exec.Command(a.program(), args...)
	cmd.Dir = a.project
	cmd.Env = []string{cli.RaceExit, "HOME=" + a.home, "PATH=" + filepath.Dir(a.program())}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		a.t.Fatalf("rewind %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// files are those of the account but for rewind's own and its backups.
func (a *installed) files() map[string]string {
	a.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(a.home, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".rewind" || e.Name() == ".local"):
			return filepath.SkipDir
		case e.IsDir() || strings.Contains(e.Name(), ".rewind-backup-"):
			return nil
		}
		content, err := os.ReadFile(name)
		out[name] = string(content)
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// Every agent is found by its directory, registered, called so by status, and
// taken out again to the byte; and others that are there are left alone.
func TestEveryAgentIsRegistered(t *testing.T) {
	a := newInstalled(t)
	a.rewind("init", "--no-save")
	where := register.Where{Home: a.home, Getenv: func(string) string { return "" }}
	states := func() map[string]string {
		var v struct {
			States []struct{ Agent, Title, State string } `json:"agent_states"`
		}
		if err := json.Unmarshal([]byte(a.rewind("status", "--json")), &v); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, s := range v.States {
			out[s.Agent] = s.State
		}
		return out
	}
	for agent, state := range states() {
		if state != "not-found" {
			t.Errorf("%s: %s, of an empty account", agent, state)
		}
	}
	for _, c := range register.Clients() {
		t.Run(string(c.Agent), func(t *testing.T) {
			a.t = t
			// As it is after the first run, and with settings that are the person's.
			if err := os.MkdirAll(c.Dir(where), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, own := range []string{"", "{\n  \"mine\": [], // keep\n}\n"} {
				for _, f := range c.Files(where) {
					if own != "" && f.Ours && filepath.Ext(f.Path) == ".json" {
						a.write(f.Path, own, 0o600)
					}
				}
				before := a.files()
				if got := states()[string(c.Agent)]; got != "not-registered" {
					t.Errorf("before: %s", got)
				}
				if said := a.rewind("config", "--register-hooks"); !strings.Contains(said, "Registering the "+c.Agent.Title()+" hooks in ") {
					t.Errorf("it was not said where the hooks go:\n%s", said)
				}
				with := a.files()
				if maps.Equal(with, before) {
					t.Errorf("nothing was registered")
				}
				for agent, state := range states() {
					// What needs the person's consent is complete with that only.
					if here := agent == string(c.Agent); here && state != "registered" && state != "incomplete" || !here && state != "not-found" {
						t.Errorf("%s is %s with the hooks of %s", agent, state, c.Agent)
					}
				}
				if a.rewind("config", "--register-hooks", "--agent", string(c.Agent)); !maps.Equal(a.files(), with) {
					t.Error("a second time changes something")
				}
				a.rewind("config", "--unregister-hooks")
				if after := a.files(); !maps.Equal(after, before) {
					t.Errorf("not as before:\n%v\n%v", before, after)
				}
			}
			if err := os.RemoveAll(c.Dir(where)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
