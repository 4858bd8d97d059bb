package setup

import (
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
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
)

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

// saveFindings are what the next save would fail at.
func saveFindings(p *project.Project) (out []finding) {
	if p.ReadOnly != nil {
		return nil // which is said of the whole store
	}
	for _, o := range p.Obstacles() {
		f := finding{Severity: registration.Severe, Area: "store"}
		kind, mode := "file", "u+rw"
		if o.Dir {
			kind, mode = "directory", "u+rwx"
		}
		path := app.ShellQuote(o.Path)
		what := "no save works"
		if o.Apart {
			f.Severity, what = registration.Mild, "what agents do is not noted"
		}
		switch {
		case o.Err != nil:
			f.Message = fmt.Sprintf("%s: %s cannot be written: %s", what, o.Path, problem.Text(o.Err))
			f.Cure = "chmod " + mode + " " + path + ", if it is yours; else check its owner"
		case o.Derived:
			f.Message, f.Cure = fmt.Sprintf("%s: %s is not a %s", what, o.Path, kind), "rm -r "+path+"; rewind save makes it anew"
		default:
			f.Message, f.Cure = fmt.Sprintf("%s: %s is not a %s", what, o.Path, kind), "move it away, then rewind verify --repair"
		}
		out = append(out, f)
	}
	return out
}

// olderTiers are the directories in which the older rewind keeps its tiers, below the home directory.
var olderTiers = []string{".config/checkpoint-rewind/tiers", ".rewind/system/tiers"}

// olderIgnores are its lists of what is not captured, for all projects.
var olderIgnores = []string{".rewind/rewind-checkpoint-ignore.json", ".rewind/system/rewind-checkpoint-ignore.json"}

// olderFindings name the files of an older rewind that nothing reads any more.
func olderFindings(home string) (out []finding) {
	if home == "" {
		return nil
	}
	add := func(file, what, cure string) {
		out = append(out, finding{Severity: registration.Mild, Area: "settings", Message: file + " is " + what + " of an older rewind, and has no effect", Cure: cure})
	}
	for _, dir := range olderTiers {
		dir = filepath.Join(home, filepath.FromSlash(dir))
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // mostly there is none
		}
		to := filepath.Join(home, ".rewind", "tiers")
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			tier := strings.TrimSuffix(name, "-tier")
			if !ok || !settings.IsTier(tier) || isRegular(filepath.Join(to, tier+".json")) {
				continue // no tier, or one that was taken over
			}
			file := filepath.Join(dir, e.Name())
			add(file, "a tier", "if you changed it: mkdir -p "+app.ShellQuote(to)+" && cp "+app.ShellQuote(file)+" "+app.ShellQuote(filepath.Join(to, tier+".json")))
		}
	}
	for _, file := range olderIgnores {
		if file = filepath.Join(home, filepath.FromSlash(file)); isRegular(file) {
			add(file, "a list of ignored paths", "rewind config --global ignore '[…]' with those of its patterns that you still want")
		}
	}
	return out
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
