package setup

import (
	"cmp"
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/status"
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
		Answers: app.Answers{"validate": validateView{}},
		Exits:   []int{app.ExitDamaged},
		Run:     runValidate,
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

// validateView is described by docs/schema/validate.schema.json.
type validateView struct {
	OK       bool              `json:"ok"`
	Root     *string           `json:"root"`
	Store    *string           `json:"store"`
	Findings findings          `json:"findings"`
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
	v := validateView{Findings: findings{}, Sessions: []sessionFileView{}}
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
		v.Findings.failed("project", err)
		v.Findings.ofLastHook(project.LastHookError(c.Env, nil))
	}
	set, warnings := project.LoadSettings(c.Env, store)
	if p != nil {
		set, warnings = p.Settings(), p.Warnings()
	}
	v.Findings.ofSettings(set, warnings)
	v.Findings.ofModes(c.Env.AccountDir(), store)
	v.Findings.ofOlder(c.Env.Home)
	generic := false // a script calls hook generic
	if p != nil {
		v.Findings.ofSave(p)
		v.Findings.ofLater(p)
		st, err := status.Of(ctx, p)
		generic = err == nil && st.Generic != nil
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			code = app.Explain(err).Code
			v.Findings.failed("store", err)
		} else {
			v.Findings.ofStore(st)
			v.Findings.ofLog(ctx, p)
			v.Findings.ofLeftovers(ctx, p)
		}
	}
	root := ""
	if p != nil {
		root = p.Root()
		problems, err := rules.CheckRules(p)
		if err != nil {
			v.Findings.failed("project", err)
		}
		for _, problem := range problems {
			v.Findings.mild("project", rulesCure(problem.Path), "%s: %s", problem.Path, problem.Reason)
		}
		out, rule, err := rules.AllOut(p, session.Kept(p))
		if err != nil {
			v.Findings.failed("project", err)
		}
		if out != "" {
			v.Findings.severe("project", "rewind config ignore, .rewindignore and .gitignore have the rules; rewind config forceInclude '[\"/*\"]' overrides them",
				"the rules leave out every file of the project: %s is ignored: %s", out, rule)
		}
		files, err := conversation.Files(ctx, p)
		if err != nil {
			v.Findings.failed("store", err)
		}
		v.Sessions = app.Map(files, func(f session.File) sessionFileView {
			return sessionFileView{SessionID: f.Session, Agent: f.Agent, Path: f.Path, State: string(f.State)}
		})
	}
	v.Findings.ofHooks(ctx, c.Env, root, true, generic)
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
	case strings.HasPrefix(path, ".git/refs"), path == ".git/packed-refs":
		return "put in its place what it leads to: until then, --git brings back nothing"
	case strings.HasPrefix(path, ".git"):
		return "git check-ignore -v . shows how git itself reads it"
	}
	return "correct " + path
}

func printFindings(o *app.Output, v validateView) {
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
	return cmp.Or(map[session.FileState]string{
		session.AsCaptured: "is up to date",
		session.GrownSince: "has grown since it was captured",
		session.Rewritten:  "was rewritten since it was captured",
		session.Gone:       "is gone",
		session.Unreadable: "cannot be read",
		session.NotWritten: "has not been written yet",
		session.Behind:     "lacks its newest prompt: the agent has not written it yet",
	}[session.FileState(state)], "is "+state)
}
