package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/report"
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

func NewValidate() *app.Command {
	return &app.Command{
		Name:  "validate",
		Usage: "",
		Short: "check settings, hooks and store, with a fix for each problem",
		Long: "Lists everything that would silently turn rewind off or make it do less than it seems,\n" +
			"each with the command that fixes it.",
		Examples: []app.Example{
			{Line: "rewind status --check", Does: "for a person"},
			{Line: "rewind status --check --json", Does: "for scripts; the schema is in docs/schema/validate.schema.json"},
		},
		Exits: []int{app.ExitDamaged},
		Run:   runValidate,
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

// failed is an error that keeps something from being looked at.
func failed(area string, err error) finding {
	f := app.Explain(err)
	return finding{Severity: registration.Severe, Area: area, Message: f.Message, Cure: f.Hint}
}

type findingID string

const (
	crashedFinding findingID = "crashed"
	notRegistered  findingID = "not-registered"
)

// ValidateView is described by docs/schema/validate.schema.json.
type ValidateView struct {
	OK       bool              `json:"ok"`
	Root     *string           `json:"root"`
	Store    *string           `json:"store"`
	Findings []finding         `json:"findings"`
	Sessions []sessionFileView `json:"sessions"`
	// Completed are the registrations of hooks that were brought up to date by themselves.
	Completed []registration.CompletedView `json:"completed"`
}

// sessionFileView is how a session's transcript differs from what is held of it.
type sessionFileView struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Path      string `json:"path"`
	State     string `json:"state"`
}

func runValidate(ctx context.Context, c *app.Call) error {
	v := ValidateView{Findings: []finding{}, Sessions: []sessionFileView{}}
	code := app.ExitFailed
	store := ""
	p, err := project.Open(ctx, c.OpenOptions())
	if err == nil {
		c.Project = p
		root := p.Root()
		store = p.StoreDir()
		v.Root, v.Store = &root, &store
	} else {
		if ctx.Err() != nil {
			return err
		}
		code = app.Explain(err).Code
		v.Findings = append(v.Findings, failed("project", err))
		v.Findings = append(v.Findings, hookErrorFindings(project.LastHookError(c.Env, nil))...)
	}
	set, warnings := project.LoadSettings(c.Env, store)
	if p != nil {
		set, warnings = p.Settings(), p.Warnings()
	}
	v.Findings = append(v.Findings, settingsFindings(set, warnings)...)
	v.Findings = append(v.Findings, openFindings(c.Env.AccountDir(), store)...)
	v.Findings = append(v.Findings, olderFindings(c.Env.Home)...)
	if p != nil {
		v.Findings = append(v.Findings, saveFindings(p)...)
		st, err := inspect.StatusOf(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			code = app.Explain(err).Code
			v.Findings = append(v.Findings, failed("store", err))
		} else {
			v.Findings = append(v.Findings, storeFindings(st)...)
			v.Findings = append(v.Findings, logFindings(ctx, p)...)
			v.Findings = append(v.Findings, leftoverFindings(ctx, p)...)
		}
	}
	root := ""
	if p != nil {
		root = p.Root()
		problems, err := rules.CheckRules(p)
		if err != nil {
			v.Findings = append(v.Findings, failed("project", err))
		}
		for _, problem := range problems {
			v.Findings = append(v.Findings, finding{Severity: registration.Mild, Area: "project", Message: problem.Path + ": " + problem.Reason, Cure: rulesCure(problem.Path)})
		}
		files, err := conversation.SessionFiles(ctx, p)
		if err != nil {
			v.Findings = append(v.Findings, failed("store", err))
		}
		for _, f := range files {
			v.Sessions = append(v.Sessions, sessionFileView{SessionID: f.Session, Agent: f.Agent, Path: f.Path, State: string(f.State)})
		}
	}
	v.Findings = append(v.Findings, hookFindings(ctx, c.Env, root, true)...)
	v.Completed = registration.CompletedViews(c.Env)
	v.OK = true
	for i := range v.Findings {
		f := &v.Findings[i]
		f.Hint = f.Cure
		v.OK = v.OK && f.Severity != registration.Severe
	}
	if c.JSON {
		err = c.Out.Document(v)
	} else {
		err = nil
		printFindings(c.Out, v)
	}
	if err == nil && !v.OK {
		err = &app.FailedError{Failure: app.Failure{Code: code}}
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

func printFindings(o *app.Output, v ValidateView) {
	for _, f := range v.Findings {
		st := screen.Yellow
		if f.Severity == registration.Severe {
			st = screen.Red
		}
		o.Line("%s %s: %s", o.Color.Paint(st, f.Severity+":"), f.Area, app.Escape(f.Message))
		if f.Cure != "" {
			o.Line("  %s %s", o.Color.Paint(screen.Cyan, "fix:"), app.Escape(f.Cure))
		}
	}
	for _, s := range v.Sessions {
		o.Line("session %s %s: its transcript %s", app.Escape(s.Agent), app.Escape(s.SessionID), fileStateText(s.State))
	}
	for _, c := range v.Completed {
		o.Line("hooks of %s: %s was added to %s by itself", hookio.Agent(c.Agent).Title(), strings.Join(c.Added, ", "), app.Escape(c.File))
		if c.Backup != "" {
			o.Line("  before: %s", app.Escape(c.Backup))
		}
	}
	switch {
	case v.OK && len(v.Findings) > 0:
		o.Summary("No errors; %s.", app.Plural(len(v.Findings), "warning", "warnings"))
	case v.OK:
		o.Summary("Settings and store are in order.")
	}
}

// fileStateText says how a transcript differs from what was captured of it.
func fileStateText(state string) string {
	return cmp.Or(map[conversation.SessionFileState]string{
		conversation.AsCaptured: "is up to date",
		conversation.GrownSince: "has grown since it was captured",
		conversation.Rewritten:  "was rewritten since it was captured",
		conversation.Gone:       "is gone",
		conversation.Unreadable: "cannot be read",
		conversation.NotWritten: "has not been written yet",
	}[conversation.SessionFileState(state)], "is "+state)
}

func settingsFindings(set *settings.Settings, warnings []settings.Warning) []finding {
	var out []finding
	for _, w := range warnings {
		cure := "fix it in " + w.Source
		if w.Key == "" && (w.Source == "REWIND_TIER" || w.Source == "CHECKPOINT_TIER") {
			cure = "unset " + w.Source
		}
		out = append(out, finding{Severity: registration.Severe, Area: "settings", Message: w.Error(), Cure: cure})
	}
	if v, ok := set.Value("tier"); ok && v.Origin.Source == settings.FromEnvironment {
		out = append(out, finding{Severity: registration.Mild, Area: "settings", Cure: "unset " + v.Origin.Name,
			Message: fmt.Sprintf("%s overrides the tier in the settings with %s", v.Origin.Name, set.Tier)})
	}
	for _, v := range set.ShadowsTier() {
		out = append(out, finding{Severity: registration.Mild, Area: "settings",
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
	return []finding{{Severity: registration.Severe, Area: "store", Message: "the last hook failed: " + report.HookErrorText(e),
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
		out = append(out, finding{Severity: registration.Mild, Area: "hooks",
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
				out = append(out, finding{Severity: registration.Mild, Area: "settings", Message: path + " can be written by every account, and its settings are obeyed", Cure: "chmod go-w " + app.ShellQuote(path)})
			}
		}
	}
	return out
}

// logFindings is damage of the log: what it had is in no list.
func logFindings(ctx context.Context, p *project.Project) []finding {
	what, err := maintain.DamagedLog(ctx, p)
	if err != nil {
		what = app.Explain(err).Message
	}
	if what == "" {
		return nil
	}
	return []finding{{Severity: registration.Severe, Area: "store", Message: what, Cure: "rewind verify"}}
}

// leftoverFindings are temporary files of a restore that was killed and whose journal is lost.
func leftoverFindings(ctx context.Context, p *project.Project) []finding {
	files, _, err := maintain.Leftovers(ctx, p)
	if err != nil {
		return []finding{{Severity: registration.Severe, Area: "project", Message: app.Explain(err).Message}}
	}
	if len(files) == 0 {
		return nil
	}
	names := app.FirstNamed(files, 5, func(l maintain.Leftover) string { return l.Path })
	cure := "rewind verify --repair removes what the store has the content of"
	if slices.ContainsFunc(files, func(l maintain.Leftover) bool { return !l.Held }) {
		cure += "; look into the others, which may be cut off, and delete them"
	}
	return []finding{{Severity: registration.Mild, Area: "project", Cure: cure,
		Message: fmt.Sprintf("a restore that was killed left %s: %s", app.Plural(len(files), "temporary file", "temporary files"), strings.Join(names, ", "))}}
}

// storeFindings are the states of a store that need attention.
func storeFindings(st *inspect.Status) []finding {
	var out []finding
	add := func(severity, cure, format string, args ...any) {
		out = append(out, finding{Severity: severity, Area: "store", Message: fmt.Sprintf(format, args...), Cure: cure})
	}
	if cr := st.Crashed; cr != nil {
		add(registration.Severe, app.CrashedCure(cr), "%s did not finish", app.CrashedWhat("a", cr))
		out[len(out)-1].id = crashedFinding
	}
	if st.Forgetting != nil {
		add(registration.Severe, "rewind gc, when no other process reads the store", "the forget of %s is not finished: some of its bytes are still in the store", st.Forgetting.Local().Format("2006-01-02 15:04"))
	}
	if st.ReadOnly {
		add(registration.Severe, "make the store writable", "the store cannot be written")
	}
	if st.MinFreeDisk > 0 && st.FreeDisk < st.MinFreeDisk {
		add(registration.Severe, "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk", "only %s free on the disk: nothing is saved below %s",
			app.FormatSize(st.FreeDisk), app.FormatSize(st.MinFreeDisk))
	}
	if st.MaxSize > 0 && st.Bytes > st.MaxSize/5*4 {
		add(registration.Mild, "rewind gc, or rewind config retention.maxSize", "the store uses %s of at most %s", app.FormatSize(st.Bytes), app.FormatSize(st.MaxSize))
	}
	if !st.Mirrored && !st.MirrorsNext {
		cure := "rewind verify --repair; if home is on another file system, rewind stores rm ., then rewind init --mode global"
		if st.Copied {
			cure = "rewind save"
		}
		add(registration.Mild, cure, "the store would not survive git clean -fdx: %s", st.MirrorReason)
	}
	if n := len(st.Strays); n > 0 {
		names := app.FirstNamed(st.Strays, 5, maintain.Stray.Text)
		add(registration.Mild, "delete or move what rewind verify lists; rewind forget removes copies of packs", "the store's directory has %s not its own: %s",
			app.Plural(n, "file that is", "files that are"), strings.Join(names, ", "))
	}
	out = append(out, hookErrorFindings(st.LastHookError)...)
	return append(out, outsiderFindings(st)...)
}
