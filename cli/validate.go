package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
)

func newValidate() *command {
	return &command{
		name:  "validate",
		usage: "",
		short: "check settings, hooks and store, with a fix for each problem",
		long: "Lists everything that would silently turn rewind off or make it do less than it seems,\n" +
			"each with the command that fixes it.",
		examples: []example{
			{"rewind status --check", "for a person"},
			{"rewind status --check --json", "for scripts; the schema is in docs/schema/validate.schema.json"},
		},
		exits: []int{exitDamaged},
		run:   runValidate,
	}
}

// finding is one fault with its cure.
type finding struct {
	Severity string `json:"severity"` // error, warning
	Area     string `json:"area"`     // settings, project, store, hooks
	Message  string `json:"message"`
	Cure     string `json:"cure"`
	Hint     string `json:"hint"` // the same, as errors call it

	id    findingID
	agent string // the title of one that does not call rewind
}

type findingID string

const (
	crashedFinding findingID = "crashed"
	notRegistered  findingID = "not-registered"
)

const (
	severe = "error"
	mild   = "warning"
)

// validateView is described by docs/schema/validate.schema.json.
type validateView struct {
	OK       bool              `json:"ok"`
	Root     *string           `json:"root"`
	Store    *string           `json:"store"`
	Findings []finding         `json:"findings"`
	Sessions []sessionFileView `json:"sessions"`
	// Completed are the registrations of hooks that were brought up to date by themselves.
	Completed []completedView `json:"completed"`
}

// sessionFileView is how a session's transcript differs from what is held of it.
type sessionFileView struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Path      string `json:"path"`
	State     string `json:"state"`
}

func runValidate(ctx context.Context, c *call) error {
	v := validateView{Findings: []finding{}, Sessions: []sessionFileView{}}
	code := exitFailed
	store := ""
	p, err := project.Open(ctx, c.openOptions())
	if err == nil {
		c.project = p
		root := p.Root()
		store = p.StoreDir()
		v.Root, v.Store = &root, &store
	} else {
		if ctx.Err() != nil {
			return err
		}
		f := explain(err)
		code = f.code
		v.Findings = append(v.Findings, finding{Severity: severe, Area: "project", Message: f.message, Cure: f.hint})
		v.Findings = append(v.Findings, hookErrorFindings(project.LastHookError(c.env, nil))...)
	}
	set, warnings := project.LoadSettings(c.env, store)
	v.Findings = append(v.Findings, settingsFindings(set, warnings)...)
	v.Findings = append(v.Findings, openFindings(c.env.AccountDir(), store)...)
	v.Findings = append(v.Findings, olderFindings(c.env.Home)...)
	if p != nil {
		st, err := inspect.StatusOf(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			f := explain(err)
			code = f.code
			v.Findings = append(v.Findings, finding{Severity: severe, Area: "store", Message: f.message, Cure: f.hint})
		} else {
			v.Findings = append(v.Findings, storeFindings(st)...)
			v.Findings = append(v.Findings, logFindings(ctx, p)...)
		}
	}
	root := ""
	if p != nil {
		root = p.Root()
		problems, err := rules.CheckRules(p)
		if err != nil {
			f := explain(err)
			v.Findings = append(v.Findings, finding{Severity: severe, Area: "project", Message: f.message, Cure: f.hint})
		}
		for _, problem := range problems {
			v.Findings = append(v.Findings, finding{Severity: mild, Area: "project", Message: problem.Path + ": " + problem.Reason, Cure: rulesCure(problem.Path)})
		}
		files, err := conversation.SessionFiles(ctx, p)
		if err != nil {
			f := explain(err)
			v.Findings = append(v.Findings, finding{Severity: severe, Area: "store", Message: f.message, Cure: f.hint})
		}
		for _, f := range files {
			v.Sessions = append(v.Sessions, sessionFileView{SessionID: f.Session, Agent: f.Agent, Path: f.Path, State: string(f.State)})
		}
	}
	v.Findings = append(v.Findings, hookFindings(ctx, c.env, root, true)...)
	v.Completed = completedViews(c.env)
	v.OK = true
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Hint = f.Cure
		v.OK = v.OK && f.Severity != severe
	}
	if c.json {
		err = c.out.document(v)
	} else {
		err = nil
		printFindings(c.out, v)
	}
	if err == nil && !v.OK {
		err = &invalidError{code: code}
	}
	return err
}

// rulesCure is what to do about rules that cannot be read.
func rulesCure(path string) string {
	switch {
	case path == ".git/index":
		return "git update-index --no-split-index --force-write-index, or git reset, rewrites it"
	case strings.HasPrefix(path, ".git"):
		return "git check-ignore -v . shows how git itself reads it"
	}
	return "fix " + path
}

func printFindings(o *output, v validateView) {
	for _, f := range v.Findings {
		st := screen.Yellow
		if f.Severity == severe {
			st = screen.Red
		}
		o.line("%s %s: %s", o.color.Paint(st, f.Severity+":"), f.Area, escape(f.Message))
		if f.Cure != "" {
			o.line("  %s %s", o.color.Paint(screen.Cyan, "fix:"), escape(f.Cure))
		}
	}
	for _, s := range v.Sessions {
		o.line("session %s %s: its transcript %s", escape(s.Agent), escape(s.SessionID), fileStateText(s.State))
	}
	for _, c := range v.Completed {
		o.line("hooks of %s: %s was added to %s by itself", hookio.Agent(c.Agent).Title(), strings.Join(c.Added, ", "), escape(c.File))
		if c.Backup != "" {
			o.line("  before: %s", escape(c.Backup))
		}
	}
	switch {
	case v.OK && len(v.Findings) > 0:
		o.summary("No errors; %s.", plural(len(v.Findings), "warning", "warnings"))
	case v.OK:
		o.summary("Settings and store are in order.")
	}
}

// fileStateText says how a transcript differs from what was captured of it.
func fileStateText(state string) string {
	switch conversation.SessionFileState(state) {
	case conversation.AsCaptured:
		return "is up to date"
	case conversation.GrownSince:
		return "has grown since it was captured"
	case conversation.Rewritten:
		return "was rewritten since it was captured"
	case conversation.Gone:
		return "is gone"
	case conversation.Unreadable:
		return "cannot be read"
	case conversation.NotWritten:
		return "has not been written yet"
	}
	return "is " + state
}

func settingsFindings(set *settings.Settings, warnings []settings.Warning) []finding {
	var out []finding
	for _, w := range warnings {
		cure := "fix it in " + w.Source
		if w.Key == "" && (w.Source == "REWIND_TIER" || w.Source == "CHECKPOINT_TIER") {
			cure = "unset " + w.Source
		}
		out = append(out, finding{Severity: severe, Area: "settings", Message: w.Error(), Cure: cure})
	}
	if v, ok := set.Value("tier"); ok && v.Origin.Source == settings.FromEnvironment {
		out = append(out, finding{Severity: mild, Area: "settings", Cure: "unset " + v.Origin.Name,
			Message: fmt.Sprintf("%s overrides the tier in the settings with %s", v.Origin.Name, set.Tier)})
	}
	for _, v := range set.ShadowsTier() {
		out = append(out, finding{Severity: mild, Area: "settings",
			Message: fmt.Sprintf("%s is set in %s and takes precedence over the tier %s", v.Key, v.Origin.Name, set.Tier),
			Cure:    unsetCommand(v)})
	}
	return out
}

// hookErrorFindings tell of the last hook, if it failed.
func hookErrorFindings(e *project.HookError) []finding {
	if e == nil {
		return nil
	}
	return []finding{{Severity: severe, Area: "store", Message: "the last hook failed: " + hookErrorText(e),
		Cure: "rewind save shows whether it still fails; the next successful hook clears this"}}
}

// outsiderFindings name the sessions whose work here is in no checkpoint of this project.
func outsiderFindings(st *inspect.Status) []finding {
	var out []finding
	for _, o := range st.Outsiders {
		where := "go to " + o.Root
		if o.Root == "" {
			where = "go nowhere: it was started outside every initialised project"
		}
		out = append(out, finding{Severity: mild, Area: "hooks",
			Message: fmt.Sprintf("session %s of %s works in %s, but its checkpoints %s", o.Session, hookio.Agent(o.Agent).Title(), o.Dir, where),
			Cure:    "rewind save keeps what it has changed here; resume the session in " + st.Root + " to have it captured here"})
	}
	return out
}

// openFindings are the directories and settings that every account can write, so that its settings would be obeyed.
func openFindings(dirs ...string) (out []finding) {
	for _, dir := range dirs {
		if dir == "" || runtime.GOOS == "windows" {
			continue
		}
		for _, path := range []string{dir, filepath.Join(dir, account.ConfigName)} {
			if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o002 != 0 {
				out = append(out, finding{Severity: mild, Area: "settings", Message: path + " can be written by every account, and its settings are obeyed", Cure: "chmod go-w " + shellQuote(path)})
			}
		}
	}
	return out
}

// logFindings is damage of the log: what it had is in no list.
func logFindings(ctx context.Context, p *project.Project) []finding {
	what, err := maintain.DamagedLog(ctx, p)
	if err != nil {
		what = explain(err).message
	}
	if what == "" {
		return nil
	}
	return []finding{{Severity: severe, Area: "store", Message: what, Cure: "rewind verify"}}
}

// storeFindings are the states of a store that need attention.
func storeFindings(st *inspect.Status) []finding {
	var out []finding
	add := func(severity, cure, format string, args ...any) {
		out = append(out, finding{Severity: severity, Area: "store", Message: fmt.Sprintf(format, args...), Cure: cure})
	}
	if cr := st.Crashed; cr != nil {
		add(severe, crashedCure(cr), "%s did not finish", crashedWhat("a", cr))
		out[len(out)-1].id = crashedFinding
	}
	if st.Forgetting != nil {
		add(severe, "rewind gc, when no other process reads the store", "the forget of %s is not finished: some of its bytes are still in the store", st.Forgetting.Local().Format("2006-01-02 15:04"))
	}
	if st.ReadOnly {
		add(severe, "make the store writable", "the store cannot be written")
	}
	if st.MinFreeDisk > 0 && st.FreeDisk < st.MinFreeDisk {
		add(severe, "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk", "only %s free on the disk: nothing is saved below %s",
			formatSize(st.FreeDisk), formatSize(st.MinFreeDisk))
	}
	if st.MaxSize > 0 && st.Bytes > st.MaxSize/5*4 {
		add(mild, "rewind gc, or rewind config retention.maxSize", "the store uses %s of at most %s", formatSize(st.Bytes), formatSize(st.MaxSize))
	}
	if !st.Mirrored && !st.MirrorsNext {
		cure := "rewind verify --repair; if home is on another file system, rewind stores rm ., then rewind init --mode global"
		if st.Copied {
			cure = "rewind save"
		}
		add(mild, cure, "the store would not survive git clean -fdx: %s", st.MirrorReason)
	}
	out = append(out, hookErrorFindings(st.LastHookError)...)
	return append(out, outsiderFindings(st)...)
}
