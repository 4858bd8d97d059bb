package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/hookio/register"
)

// registrationsView answers --register-hooks and --unregister-hooks;
// docs/schema/register-hooks.schema.json describes it.
type registrationsView struct {
	Command string             `json:"command"`
	Files   []registrationView `json:"files"`
}

type registrationView struct {
	Agent   string `json:"agent"`
	File    string `json:"file"`
	Backup  string `json:"backup"`
	Changed bool   `json:"changed"`
}

// registering is one call of config --register-hooks or --unregister-hooks.
type registering struct {
	*app.Call
	agents  []registration.AgentFiles
	program *register.Program // nil: take the hooks out
	view    registrationsView
	made    []string // directories of the agent in hand that were missing
}

// registerHooks puts our hooks into the agents' settings, or takes them out.
func registerHooks(c *app.Call, agent string, remove bool) error {
	r := &registering{Call: c, view: registrationsView{Files: []registrationView{}}}
	if !remove {
		exe, err := installedProgram(c.Env.Home)
		if err != nil {
			return err
		}
		r.program = &register.Program{Path: exe, Version: app.VersionText()}
	}
	if err := r.choose(agent, remove); err != nil {
		return err
	}
	var failed error
	for i := range r.agents {
		if err := r.agent(&r.agents[i]); err != nil && failed == nil {
			failed = err
		} else if err != nil {
			c.Out.Warn("%s", err)
		}
	}
	if r.program == nil && len(r.agents) > 1 && failed == nil && len(r.view.Files) == 0 {
		c.Out.Summary("No hooks were registered.")
	}
	if failed != nil && !slices.ContainsFunc(r.view.Files, func(f registrationView) bool { return f.Changed }) {
		return failed
	}
	if err := c.Document(r.view); err != nil {
		return err
	}
	if failed != nil {
		return &app.PartlyError{Err: failed}
	}
	return nil
}

// choose finds the agents that are meant: the one that is named, else all that
// are used here.
func (r *registering) choose(agent string, remove bool) error {
	all := registration.AgentsOf(r.Env, "")
	var names []string
	for _, a := range all {
		names = append(names, string(a.Agent))
		if agent == string(a.Agent) || agent == "" && (remove || a.Used() || slices.ContainsFunc(a.Programs, inPath)) {
			r.agents = append(r.agents, a)
		}
	}
	switch {
	case len(all) == 0:
		return errors.New("the home directory, where the agents' settings are, is not known")
	case len(r.agents) == 0 && agent != "":
		return &app.UsageError{Msg: "hooks cannot be registered for " + app.Quote(agent), Hint: "one of " + strings.Join(names, ", ")}
	case len(r.agents) == 0:
		return app.Hinted(errors.New("no agent was found on this account"), "rewind config --register-hooks --agent "+names[0])
	}
	return nil
}

func inPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// agent edits the files of one agent.
func (r *registering) agent(a *registration.AgentFiles) error {
	line := ""
	if r.program != nil {
		line = a.CommandLine(r.program.Path)
		r.view.Command = line
		if err := r.refusePlugin(a); err != nil {
			return err
		}
		r.announce(a)
	}
	changed := false
	for i := range a.Files {
		if !a.Files[i].Ours {
			continue
		}
		edited, err := r.file(a, i)
		if err != nil {
			return err
		}
		changed = changed || edited
	}
	r.report(a, line, changed)
	if r.program != nil {
		r.warn(a)
	}
	r.registeredNow(a)
	return nil
}

// announce says where the hooks go, before anything is written.
func (r *registering) announce(a *registration.AgentFiles) {
	var into []string
	for _, f := range a.Files {
		if f.Ours {
			into = append(into, app.Escape(f.Path))
		}
	}
	r.Out.Summary("Registering the %s hooks in %s.", a.Title, strings.Join(into, " and "))
}

// file edits one file of an agent. What goes into it can depend on the others.
func (r *registering) file(a *registration.AgentFiles, i int) (changed bool, err error) {
	files, err := a.Read()
	if err != nil {
		return false, err
	}
	missing := missingDirs(filepath.Dir(a.Files[i].Path))
	w, err := register.Updater{Now: r.Env.Now, Made: a.OnlyOurs, Below: a.Dir(a.Where)}.Update(a.Files[i].Path, func(old []byte) ([]byte, error) {
		files[i].Content = old
		return a.Edit(files, i, r.program)
	})
	if errors.As(err, new(*vfs.NotDurableError)) {
		r.Out.Warn("%s", err)
	} else if err != nil {
		return false, explainEdit(a.Files[i].Path, err)
	}
	if w.Changed && !w.Removed {
		r.made = append(r.made, missing...)
	}
	if w.Changed {
		r.view.Files = append(r.view.Files, registrationView{string(a.Agent), w.Path, w.Backup, w.Changed})
	}
	if w.Backup != "" {
		r.Out.Summary("Backed up %s to %s.", app.Escape(w.Path), app.Escape(w.Backup))
	}
	return w.Changed, nil
}

// missingDirs are the directories of a path that are not there, outermost first.
func missingDirs(dir string) (missing []string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing
}

// refusePlugin: with a plugin of ours each event would be handled twice.
func (r *registering) refusePlugin(a *registration.AgentFiles) error {
	files, err := a.Read()
	if err != nil || a.PluginCure == "" {
		return err
	}
	var registered []register.SettingsFile
	for i, f := range files {
		if !f.Ours {
			continue
		}
		if f.Content, err = a.Edit(files, i, r.program); err != nil {
			return nil // the edit itself says what is wrong
		}
		registered = append(registered, f)
	}
	_, findings := a.Inspect(registered)
	for _, f := range findings {
		if f.Code == register.RegisteredTwice && f.Event == "" {
			return app.Hinted(fmt.Errorf("the %s plugin already registers the hooks", a.Title), a.PluginCure)
		}
	}
	return nil
}

func (r *registering) report(a *registration.AgentFiles, line string, changed bool) {
	switch {
	case line == "" && changed:
		r.Out.Summary("Removed the %s hooks from %s.", a.Title, app.Escape(a.Dir(a.Where)))
	case line == "":
		if len(r.agents) == 1 { // of all agents, only those that had hooks are named
			r.Out.Summary("No %s hooks were registered.", a.Title)
		}
	case changed:
		r.Out.Summary("Registered the %s hooks: %s.", a.Title, app.Escape(line))
	default:
		r.Out.Summary("The %s hooks were already registered.", a.Title)
	}
	hint := a.Hint
	if line == "" {
		hint = a.HintRemoved
	}
	if changed && hint != "" {
		r.Out.Hint("%s", hint)
	}
}

// warn says what keeps the agent from running the hooks that its files have now.
func (r *registering) warn(a *registration.AgentFiles) {
	_, findings, err := a.Found()
	if err != nil {
		return // status says it
	}
	for _, f := range findings {
		severity, message, cure := registration.DescribeFinding(a, f)
		if severity == registration.Severe || f.Code == register.OlderIgnores {
			r.Out.Warn("%s", message)
			r.Out.Hint("%s", cure)
		}
	}
}

// explainEdit puts the file's name in front of what was wrong with it.
func explainEdit(file string, err error) error {
	var bad *register.NotJSONError
	var shape *register.ShapeError
	var foreign *register.NotOursError
	switch {
	case errors.As(err, &bad) || errors.As(err, &shape):
		return app.Hinted(err, "fix "+file+"; it was left unchanged")
	case errors.As(err, &foreign):
		return app.Hinted(err, "move "+file+" away; it was left unchanged")
	}
	return err
}

// installedProgram is this program's path, if it is one that will stay.
func installedProgram(home string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's own file: %w", err)
	}
	if reason := passing(exe, home); reason != "" {
		return "", app.Hinted(fmt.Errorf("%s is %s: hooks that run it would stop working when it goes", exe, reason),
			"./install.sh or make install copies it to ~/.local/bin; then run ~/.local/bin/rewind config --register-hooks")
	}
	return exe, nil
}

// passing says why a file is not likely to stay where it is, "" if it is.
func passing(exe, home string) string {
	within := func(dir string) bool { return dir != "" && vfs.Within(dir, exe) }
	atHome := home != "" && within(home)
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		// A home in a temporary directory is a container's or a test's.
		if homeThere, _ := filepath.Rel(dir, home); within(dir) && !(atHome && homeThere != "" && !strings.HasPrefix(homeThere, "..")) {
			return "in a temporary directory"
		}
	}
	if strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "in a build directory"
	}
	for dir := filepath.Dir(exe); dir != filepath.Dir(dir) && dir != home; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "inside a checkout"
		}
		if _, err := os.Lstat(filepath.Join(dir, "go.mod")); err == nil {
			return "inside a checkout"
		}
	}
	return ""
}

// writePlugin writes a plugin of Claude Code to a new or empty directory, or
// over an older one of its own.
func writePlugin(c *app.Call, dir string) error {
	exe, err := installedProgram(c.Env.Home)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Env.Dir, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(entries) > 0 {
		old, err := vfs.ReadRegular(filepath.Join(dir, ".claude-plugin", "plugin.json"), 0)
		if err != nil || !bytes.Contains(old, []byte(`"name": "rewind"`)) {
			return fmt.Errorf("%s is not empty and is not a rewind plugin", dir)
		}
	}
	for _, f := range register.Plugin(app.VersionText(), exe) {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		if err := os.WriteFile(file, []byte(f.Content), mode); err != nil {
			return err
		}
		if err := os.Chmod(file, mode); err != nil { // it may have been there
			return err
		}
	}
	if c.JSON {
		return c.Out.Document(map[string]string{"plugin": dir})
	}
	c.Out.Summary("Wrote the plugin to %s.", app.Escape(dir))
	warnRegistered(c)
	c.Out.Hint("claude plugin marketplace add %s && claude plugin install rewind@rewind", app.ShellQuote(dir))
	return nil
}

// warnRegistered says which settings call us already: beside a plugin that is once too often.
func warnRegistered(c *app.Call) {
	agents := registration.AgentsOf(c.Env, "")
	for i := range agents {
		a := &agents[i]
		if a.PluginCure == "" {
			continue
		}
		if found, _, err := a.Found(); err == nil && len(found) > 0 { // what cannot be read, status says
			c.Out.Warn("%s calls rewind already, by %s: use either the plugin or the registered hooks", a.Title, app.Escape(found[0].File))
			c.Out.Hint("before you install the plugin: rewind config --unregister-hooks --agent %s", a.Agent)
		}
	}
}

// registeredNow remembers that a person has registered what there is, or has taken it out.
func (r *registering) registeredNow(a *registration.AgentFiles) {
	ctx, cancel := context.WithTimeout(context.Background(), registration.CompleteTime)
	defer cancel()
	// Where that fails the next session looks, and finds nothing to do.
	_ = account.UpdateRegistration(ctx, r.Env, string(a.Agent), a.Dir(a.Where), func(known *account.Registration) bool {
		now := account.Registration{Agent: known.Agent, Dir: known.Dir, Time: r.Env.Time().UTC()}
		if r.program != nil {
			now.Generation = register.Generation
			now.MadeDirs = append(known.MadeDirs, r.made...)
		} else {
			for _, dir := range slices.Backward(known.MadeDirs) {
				_ = os.Remove(dir) // one that is not empty stays
			}
		}
		r.made = nil
		*known = now
		return true
	})
}
