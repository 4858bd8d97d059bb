package bucket

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
	"sync"
	"time"

	"github.com/rewind-cli/rewind/engine/gitprogram"
)

// settings are those of every git that is run. What the person has set for all repositories holds apart from them, above all how to log
// in to a host; no repository of the project is looked at, so none of its hooks, filters and aliases is run.
var settings = [...]string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.bigFileThreshold=1m", "core.compression=0",
	"pack.window=0", "pack.threads=1", "gc.auto=0", "maintenance.auto=false", "fetch.unpackLimit=1", "fetch.writeCommitGraph=false",
	"http.postBuffer=20971520", // the largest object in one request of a known length, which all hosts and proxies understand
	"push.gpgSign=false", "push.negotiate=false", "credential.interactive=false",
}

// passed reports whether a variable of git's says how to reach a host. Others of its many would name another repository, or have it ask or trace.
func passed(name string) bool {
	switch name {
	case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH":
		return true
	}
	return slices.ContainsFunc([]string{"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// taken are variables that Options.Getenv answers for; a program has them in its environment as well.
var taken = [...]string{"PATH", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// environment is what git gets.
func environment(o Options) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GIT_") || passed(name) {
			env = append(env, v)
		}
	}
	for _, name := range taken {
		if v := o.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if o.Home != "" {
		env = append(env, "HOME="+o.Home)
	}
	return append(env, "LC_ALL=C", "LANGUAGE=", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ALLOC_LIMIT=512m", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_LFS_SKIP_PUSH=1")
}

var errTooMuch = errors.New("the host sends more than there should be")

const (
	maxAnswer   = 64 << 20 // bytes of what git prints
	watchedEach = 50 * time.Millisecond
)

// run runs git in one of the temporary repositories, until it ends or nothing moves for the time limit. A repository that grows by more than grow
// bytes ends it, too; 0 is no limit. The error is one of the package, errTooMuch, or *gitError.
func (g *gitPlace) run(ctx context.Context, repo string, grow int64, args ...string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, g.ended(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(g.timeout, func() { cancel(errStalled) })
	defer timer.Stop()
	cmd, err := g.command(ctx, repo, args...)
	if err != nil {
		return nil, err
	}
	out := &watched{limit: maxAnswer, moved: func() { timer.Reset(g.timeout) }, over: func() { cancel(errTooMuch) }}
	complaints := &watched{limit: maxAnswer, keep: 16 << 10, moved: out.moved, over: out.over}
	cmd.Stdout, cmd.Stderr = out, complaints
	if grow > 0 {
		done := make(chan struct{})
		defer close(done)
		before := sizeOf(repo)
		go func() {
			tick := time.NewTicker(watchedEach)
			defer tick.Stop()
			for last := before; ; {
				select {
				case <-done:
					return
				case <-tick.C:
				}
				now := sizeOf(repo)
				if now != last {
					out.moved()
				}
				if last = now; now-before > grow {
					cancel(errTooMuch)
				}
			}
		}()
	}
	err = cmd.Run()
	if err == nil && grow > 0 && sizeOf(repo) > grow {
		return nil, errTooMuch
	}
	switch cause := context.Cause(ctx); {
	case err == nil:
		return out.text.Bytes(), nil
	case errors.Is(cause, errStalled):
		return nil, &UnreachableError{g.host(), fmt.Errorf("%w for %v", errStalled, g.timeout)}
	case errors.Is(cause, errTooMuch):
		return nil, errTooMuch
	case cause != nil:
		return nil, g.ended(cause)
	case errors.Is(err, exec.ErrNotFound):
		return nil, g.missing()
	}
	return out.text.Bytes(), &gitError{args[0], complaints.text.String(), err}
}

func (g *gitPlace) ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &UnreachableError{g.host(), err}
	}
	return err
}

func (g *gitPlace) missing() error {
	return &DeniedError{g.host(), "Install git, or use another kind of remote.", &gitprogram.MissingError{}}
}

// command is git at work on a repository.
func (g *gitPlace) command(ctx context.Context, repo string, args ...string) (*exec.Cmd, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, g.missing()
	}
	var all []string
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, git, append(all, args...)...)
	cmd.Dir = repo
	cmd.Env = append(append(append([]string{}, g.env...), g.sshCommand(ctx, git)...), "GIT_DIR="+repo)
	cmd.WaitDelay = 2 * time.Second
	inGroup(cmd)
	return cmd, nil
}

// sshCommand has ssh ask nothing, whatever the person has set for it.
func (g *gitPlace) sshCommand(ctx context.Context, git string) []string {
	g.asked.Do(func() {
		ssh := variable(g.env, "GIT_SSH_COMMAND")
		if ssh == "" && variable(g.env, "GIT_SSH") == "" {
			cmd := exec.CommandContext(context.WithoutCancel(ctx), git, "config", "--get", "core.sshCommand")
			cmd.Env = append(append([]string{}, g.env...), "GIT_DIR="+os.DevNull)
			out, _ := cmd.Output()
			if ssh = strings.TrimSpace(string(out)); ssh == "" {
				ssh = "ssh"
			}
		}
		program, _, _ := strings.Cut(ssh, " ")
		if base := strings.TrimSuffix(filepath.Base(program), ".exe"); base == "ssh" {
			g.ssh = []string{"GIT_SSH_COMMAND=" + ssh + " -o BatchMode=yes"}
		}
	})
	return g.ssh
}

func variable(env []string, name string) (value string) {
	for _, v := range env {
		if n, text, _ := strings.Cut(v, "="); n == name {
			value = text
		}
	}
	return value
}

// sizeOf is how many bytes of packs a repository has, also of those that are on their way.
func sizeOf(repo string) (n int64) {
	entries, err := os.ReadDir(filepath.Join(repo, "objects", "pack"))
	if err != nil {
		return 0
	}
	var counted []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode()&fs.ModeType != 0 || slices.ContainsFunc(counted, func(c fs.FileInfo) bool { return os.SameFile(c, info) }) {
			continue // git links a pack to its name before it removes the temporary one
		}
		counted = append(counted, info)
		n += info.Size()
	}
	return n
}

// watched collects what git prints, at most limit bytes, of which it keeps the last ones.
type watched struct {
	mu          sync.Mutex
	text        bytes.Buffer
	n           int
	limit, keep int
	moved, over func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved()
	if w.n += len(p); w.n > w.limit {
		w.over()
		return len(p), nil
	}
	w.text.Write(p)
	if w.keep > 0 && w.text.Len() > 2*w.keep {
		w.text.Next(w.text.Len() - w.keep)
	}
	return len(p), nil
}

// gitError is a git that failed, and what it printed.
type gitError struct {
	command    string
	complaints string
	err        error
}

func (e *gitError) Error() string {
	if lines := e.lines(); len(lines) > 0 {
		return "git " + e.command + ": " + strings.Join(lines, " ")
	}
	return "git " + e.command + ": " + e.err.Error()
}

// lines are what git and the host say, without progress and advice, cleaned of control characters.
func (e *gitError) lines() (lines []string) {
	for _, line := range strings.FieldsFunc(e.complaints, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = clean(line, 300)
		for _, p := range []string{"fatal: ", "error: ", "remote: ", "ERROR: "} {
			line = strings.TrimPrefix(line, p)
		}
		if line == "" || isProgress(line) || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "warning: ") ||
			strings.HasPrefix(line, "failed to push some refs") || strings.HasPrefix(line, "To ") || len(lines) > 0 && lines[len(lines)-1] == line {
			continue
		}
		if lines = append(lines, line); len(lines) > 4 {
			lines = lines[1:]
		}
	}
	return lines
}

func isProgress(line string) bool {
	if strings.Trim(line, "=- ") == "" {
		return true
	}
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "Enumerating", "Counting", "Compressing", "Writing", "Receiving", "Resolving", "Unpacking", "Indexing", "Delta", "Total", "Everything", "POST", "From":
		return true
	}
	return false
}

// verdict is the package's error of a git that failed.
func (g *gitPlace) verdict(err error) error {
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}
	text := failed.complaints
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case has("dubious ownership"):
		return &DeniedError{g.host(), "The directory is another user's. If you trust it: git config --global --add safe.directory DIR", err}
	case has("Host key verification failed"):
		return &DeniedError{g.host(), "Connect to the host by ssh once, and accept its key.", err}
	case has("unable to access") && has("error: 401", "error: 403"), has("Authentication failed", "could not read Username", "could not read Password", "terminal prompts disabled", "Permission denied (", "Permission to ", "access denied", "Access denied", "not authorized", "authentication"):
		return &DeniedError{g.host(), "Try by hand: git push --dry-run " + g.host() + ". What logs in must be set for your user (a credential helper, a key of ssh), not for one repository, and ask nothing.", err}
	case has("does not appear to be a git repository", "Repository not found", "repository not found", "not found: did you", "' not found", "error: 404", "No such file or directory", "not a git repository", "could not be found", "no such repository"):
		if g.existing {
			return &UnreachableError{g.host(), fmt.Errorf("no git repository is there, or none that may be seen: %w", err)}
		}
		return &URLError{g.host(), "no git repository is there, or none that may be seen", "Make an empty repository there, or correct the URL. (" + failed.Error() + ")"}
	case has("transport '", "is not a git command", "unable to find remote helper"):
		return &URLError{g.host(), failed.Error(), "Use a URL of git by https, ssh, or a path."}
	case has("unknown option", "usage: git"):
		return &DeniedError{g.host(), "Install git 2.29 or a later one.", err}
	case has("Permission denied", "Read-only file system", "No space left", "insufficient permission", "unable to create temporary"):
		return &DeniedError{g.host(), "Make the repository writable for your user.", err}
	}
	return &UnreachableError{g.host(), err}
}
