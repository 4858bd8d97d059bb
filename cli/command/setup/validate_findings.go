package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/status"
	"github.com/rewind-cli/rewind/hookio"
)

// findings are faults with their cures, in the order in which they were found.
type findings []finding

func (l *findings) severe(area, cure, format string, args ...any) {
	*l = append(*l, finding{Severity: registration.Severe, Area: area, Message: fmt.Sprintf(format, args...), Cure: cure})
}

func (l *findings) mild(area, cure, format string, args ...any) {
	*l = append(*l, finding{Severity: registration.Mild, Area: area, Message: fmt.Sprintf(format, args...), Cure: cure})
}

// failed notes an error that keeps something from being looked at.
func (l *findings) failed(area string, err error) {
	f := app.Explain(err)
	l.severe(area, f.Hint, "%s", f.Message)
}

func (l *findings) ofSettings(set *settings.Settings, warnings []settings.Warning) {
	for _, w := range warnings {
		cure := "correct it in " + w.Source
		if w.Key == "" && (w.Source == "REWIND_TIER" || w.Source == "CHECKPOINT_TIER") {
			cure = "unset " + w.Source
		}
		l.severe("settings", cure, "%s", w.Error())
	}
	if v, ok := set.Value("tier"); ok && v.Origin.Source == settings.FromEnvironment {
		l.mild("settings", "unset "+v.Origin.Name, "%s overrides the tier in the settings with %s", v.Origin.Name, set.Tier)
	}
	for _, v := range set.ShadowsTier() {
		l.mild("settings", unsetCommand(v), "%s is set in %s and takes precedence over the tier %s", v.Key, v.Origin.Name, set.Tier)
	}
}

// ofLastHook tells of the last hook, if it failed.
func (l *findings) ofLastHook(e *project.HookError) {
	if e != nil {
		l.severe("store", "rewind save shows whether it still fails; the next successful hook clears this", "the last hook failed: %s", report.HookErrorText(e))
	}
}

// ofOutsiders names the sessions whose work here is in no checkpoint of this project.
func (l *findings) ofOutsiders(st *status.Status) {
	for _, o := range st.Outsiders {
		where := "go to " + o.Root
		if o.Root == "" {
			where = "go nowhere: it was started outside every initialised project"
		}
		l.mild("hooks", "rewind save keeps what it has changed here; resume the session in "+st.Root+" to have it captured here",
			"session %s of %s works in %s, but its checkpoints %s", o.Session, hookio.Agent(o.Agent).Title(), o.Dir, where)
	}
}

// ofModes names the directories and settings that every account can write, so that its settings would be obeyed.
func (l *findings) ofModes(dirs ...string) {
	for _, dir := range dirs {
		if dir == "" || runtime.GOOS == "windows" {
			continue
		}
		for _, path := range []string{dir, filepath.Join(dir, account.ConfigName)} {
			if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o002 != 0 {
				l.mild("settings", "chmod go-w "+app.ShellQuote(path), "%s can be written by every account, and its settings are obeyed", path)
			}
		}
	}
}

// ofLog is damage of the log: what it had is in no list.
func (l *findings) ofLog(ctx context.Context, p *project.Project) {
	what, err := maintain.DamagedLog(ctx, p)
	if err != nil {
		what = app.Explain(err).Message
	}
	if what != "" {
		l.severe("store", "rewind verify", "%s", what)
	}
	torn, err := p.Torn(ctx)
	if err != nil {
		l.failed("store", err)
	}
	if what := rows.TornText(torn); what != "" {
		l.severe("store", "rewind verify names the paths; rewind gc --checkpoint "+torn[0].ID.String()[:app.ShortID]+" removes the first of them; all others can be restored", "%s", what)
	}
}

// ofLeftovers names temporary files of a restore that was killed and whose journal is lost.
func (l *findings) ofLeftovers(ctx context.Context, p *project.Project) {
	files, _, err := maintain.Leftovers(ctx, p)
	if err != nil {
		l.severe("project", "", "%s", app.Explain(err).Message)
		return
	}
	if len(files) == 0 {
		return
	}
	names := app.FirstNamed(files, 5, func(l maintain.Leftover) string { return l.Path })
	cure := "rewind verify --repair removes what the store has the content of"
	if slices.ContainsFunc(files, func(l maintain.Leftover) bool { return !l.Held }) {
		cure += "; look into the others, which may be cut off, and delete them"
	}
	l.mild("project", cure, "a restore that was killed left %s: %s", app.Plural(len(files), "temporary file", "temporary files"), strings.Join(names, ", "))
}

// ofStore are the states of a store that need attention.
func (l *findings) ofStore(st *status.Status) {
	if cr := st.Crashed; cr != nil {
		l.severe("store", app.CrashedCure(cr), "%s did not finish", app.CrashedWhat("a", cr))
		(*l)[len(*l)-1].id = crashedFinding
	}
	if st.Forgetting != nil {
		l.severe("store", "rewind gc, when no other process reads the store", "what forget or gc removed on %s is not all gone: some of its bytes are still in the store", st.Forgetting.Local().Format("2006-01-02 15:04"))
	}
	if st.ReadOnly {
		l.severe("store", "make the store writable", "the store cannot be written")
	}
	if st.MinFreeDisk > 0 && st.FreeDisk < st.MinFreeDisk {
		l.severe("store", "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk", "only %s free on the disk: nothing is saved below %s",
			app.FormatSize(st.FreeDisk), app.FormatSize(st.MinFreeDisk))
	}
	if st.MaxSize > 0 && st.Bytes > st.MaxSize/5*4 {
		l.mild("store", "rewind gc, or rewind config retention.maxSize", "the store uses %s of at most %s", app.FormatSize(st.Bytes), app.FormatSize(st.MaxSize))
	}
	if !st.Mirrored && !st.MirrorsNext {
		cure := "rewind verify --repair; if home is on another file system, rewind stores rm ., then rewind init --mode global"
		if st.Copied {
			cure = "rewind save"
		}
		l.mild("store", cure, "the store would not survive git clean -fdx: %s", st.MirrorReason)
	}
	if n := len(st.Strays); n > 0 {
		names := app.FirstNamed(st.Strays, 5, maintain.Stray.Text)
		l.mild("store", "delete or move what rewind verify lists; rewind forget removes copies of packs", "the store's directory has %s not its own: %s",
			app.Plural(n, "file that is", "files that are"), strings.Join(names, ", "))
	}
	l.ofLastHook(st.LastHookError)
	l.ofOutsiders(st)
}

// ofLater names the history that a project had before it was put back from an older state, and that what was forgotten came back.
func (l *findings) ofLater(p *project.Project) {
	if text := p.KeptNotice(); text != "" {
		l.severe("store", "rewind forget -- path…", "%s", text)
	}
	for _, h := range p.Later() {
		l.mild("store", "rewind init --adopt "+app.ShortStore(h.ID)+" in an empty directory brings it there; rewind stores rm "+app.ShortStore(h.ID)+" deletes it",
			"the project was put back from an older state, and the history that it had until %s is in the mirror of the store %s", h.LastSave.Local().Format("2006-01-02 15:04"), app.ShortStore(h.ID))
	}
}

// ofSave is what the next save would fail at.
func (l *findings) ofSave(p *project.Project) {
	if p.ReadOnly != nil {
		return // a finding of the whole store
	}
	for _, o := range p.Obstacles() {
		kind, mode := "file", "u+rw"
		if o.Dir {
			kind, mode = "directory", "u+rwx"
		}
		path := app.ShellQuote(o.Path)
		add, what := l.severe, "no save works"
		if o.Without != "" {
			add, what = l.mild, o.Without
		}
		switch {
		case errors.Is(o.Err, syscall.EPERM): // as of what chattr made immutable
			add("store", "as root: chattr -ia "+path, "%s: %s cannot be written: %s", what, o.Path, problem.Text(o.Err))
		case o.Err != nil:
			add("store", "chmod "+mode+" "+path+", if it is yours; else check its owner", "%s: %s cannot be written: %s", what, o.Path, problem.Text(o.Err))
		case o.Derived:
			add("store", "rm -r "+path+"; rewind save makes it anew", "%s: %s is not a %s", what, o.Path, kind)
		default:
			add("store", "move it away, then rewind verify --repair", "%s: %s is not a %s", what, o.Path, kind)
		}
	}
}

// olderTiers are the directories in which the older rewind keeps its tiers, below the home directory.
var olderTiers = []string{".config/checkpoint-rewind/tiers", ".rewind/system/tiers"}

// olderIgnores are its lists of what is not captured, for all projects.
var olderIgnores = []string{".rewind/rewind-checkpoint-ignore.json", ".rewind/system/rewind-checkpoint-ignore.json"}

// ofOlder names the files of an older rewind that nothing reads any more.
func (l *findings) ofOlder(home string) {
	if home == "" {
		return
	}
	add := func(file, what, cure string) {
		l.mild("settings", cure, "%s is %s of an older rewind, and has no effect", file, what)
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
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
