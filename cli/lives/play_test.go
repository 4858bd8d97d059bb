package lives

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// The clocks of the rules. What is longer than them on the simulated clock is so on the real one,
// and no longer than it must be: the debounce is counted on the simulated clock alone.
const (
	apart       = 12 * time.Millisecond   // of two events: a tick of the kernel's clock, and what windows allow for it
	afterAnEdit = 1050 * time.Millisecond // an edit's path belongs to it for a second
)

// life is a script that is played: a project, a home, and what is true of it.
type life struct {
	script
	*truth
	program    string // "": in this process
	root, home string
	sessions   map[string]string // ids
	calls      map[string]window // of tool calls, by id: when they were open
	last       map[string]seen
	edited     map[string]moment  // paths, and when an edit of them ended
	swaps      map[string]swap    // what edits did, by call
	births     map[*line]answered // after attributed
	deaths     map[*line]answered
	looked     map[*line]bool // there when somebody looked
	lookedIn   map[place]bool // and where
	told       []told
	hooks      int
	hookTime   time.Duration
	slowest    time.Duration // of the hooks
}

// seen is a session's newest checkpoint, as its state file tells.
type seen struct {
	real time.Time
	at   time.Duration
}

// moment is a time on both clocks.
type moment struct {
	real time.Time
	at   time.Duration
}

// window is when a call ran; to is zero where nothing has ended it.
type window struct {
	by       work
	from, to time.Time
	told     time.Time     // when the hook behind it began
	at       time.Duration // when it began, on the simulated clock
	command  string
	server   bool

	overtaken bool // others wrote what it names
}

func newLife(dir, program string, s script) (*life, error) {
	l := &life{
		script: s, truth: &truth{files: map[string][]*version{}}, program: program,
		root: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"),
		sessions: map[string]string{}, calls: map[string]window{}, last: map[string]seen{}, edited: map[string]moment{}, swaps: map[string]swap{},
		births: map[*line]answered{}, deaths: map[*line]answered{}, looked: map[*line]bool{}, lookedIn: map[place]bool{},
	}
	for _, d := range []string{l.root, filepath.Join(l.home, ".rewind")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for i := range s.Manner.Sessions {
		l.sessions[string(rune('A'+i))] = fmt.Sprintf("%08x-0000-4000-8000-%012x", 0xa0+i, s.Seed&0xffffffffffff)
	}
	settings := fmt.Sprintf(`{"tier":%q,"durability":"fast","minFreeDisk":0,"retention":{"auto":false}}`, s.Manner.Tier)
	if err := os.WriteFile(filepath.Join(l.home, ".rewind", "config.json"), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	for i := range s.Manner.Paths {
		name := fmt.Sprintf("f%d.txt", i)
		l.begin(name)
		if err := l.write(name, false); err != nil {
			return nil, err
		}
	}
	_, err := l.rewind("init", "--quiet")
	return l, err
}

// answer is what a call of the program said.
type answer struct {
	code     int
	out, err string
}

// call runs the program.
func (l *life) call(stdin string, args ...string) answer {
	var out, errs bytes.Buffer
	if l.program == "" {
		env := account.Env{Home: l.home, Dir: l.root, Getenv: func(key string) string {
			if key == "PATH" {
				return os.Getenv("PATH")
			}
			return ""
		}}
		code := cli.Main(append([]string{"rewind"}, args...), env, cli.Stdio{In: strings.NewReader(stdin), Out: &out, Err: &errs})
		return answer{code, out.String(), errs.String()}
	}
	cmd := exec.Command(l.program, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.root, strings.NewReader(stdin), &out, &errs
	cmd.Env = []string{"HOME=" + l.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{-1, "", err.Error()}
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// rewind is a command that must succeed.
func (l *life) rewind(args ...string) (string, error) {
	a := l.call("", args...)
	if a.code != 0 {
		return "", fmt.Errorf("rewind %s: exit code %d: %s", strings.Join(args, " "), a.code, a.err)
	}
	return a.out, nil
}

// play plays the whole life.
func (l *life) play() error {
	var before time.Duration
	for i := range l.Events {
		e := &l.Events[i]
		pause := min(e.At-before, apart)
		for _, p := range []string{e.Change.Path, e.Change.To} {
			if m, ok := l.edited[p]; ok && e.Kind == onWrite && e.At-m.at > afterAnEdit {
				pause = max(pause, afterAnEdit-time.Since(m.real))
			}
		}
		pause = max(pause, l.runsOn(e))
		time.Sleep(pause)
		before = e.At
		if err := l.event(e, uint64(i)); err != nil {
			return fmt.Errorf("at %s: %w", e, err)
		}
	}
	return nil
}

// runsOn is how long to wait, so that a command which runs for more than a second at an event does so. That counts
// where somebody else writes meanwhile what it names.
func (l *life) runsOn(e *event) (wait time.Duration) {
	for id, w := range l.calls {
		if !w.by.Shell || !w.to.IsZero() {
			continue
		}
		for _, p := range []string{e.Change.Path, e.Change.To} {
			if e.Kind == onWrite && p != "" && w.by.Call != e.By.Call && strings.Contains(w.command, p) {
				w.overtaken = true
				l.calls[id] = w
			}
		}
		if w.overtaken && e.At-w.at > time.Second {
			wait = max(wait, afterAnEdit-time.Since(w.from))
		}
	}
	return wait
}

func (l *life) event(e *event, n uint64) error {
	switch e.Kind {
	case onWrite:
		by, before := e.By, l.text(e.Change.Path)
		defer func() {
			if by.Call != "" && !by.Shell && !by.Formats {
				l.swaps[by.Call] = swapOf(before, l.text(e.Change.Path))
			}
		}()
		for _, p := range l.apply(e.Change, &by, rand.New(rand.NewPCG(l.Seed, n))) {
			if err := l.write(p, e.Change.Atomic); err != nil {
				return err
			}
		}
		return nil
	case onCommand:
		start := time.Now()
		a := l.call("", e.Words...)
		if a.code != 0 && a.code != 5 {
			return fmt.Errorf("exit code %d: %s", a.code, a.err)
		}
		return l.reconcile(&work{Session: person}, start)
	}
	return l.hook(e)
}

// hook tells the program of an event.
func (l *life) hook(e *event) error {
	id := l.sessions[e.By.Session]
	payload := map[string]any{"hook_event_name": string(e.Kind), "session_id": id, "cwd": l.root}
	if e.By.Prompt != "" {
		payload["prompt_id"] = e.By.Prompt
	}
	if e.By.Subagent != "" {
		payload["agent_id"], payload["agent_type"] = e.By.Subagent, "general-purpose"
	}
	switch e.Kind {
	case onStart:
		payload["source"] = "startup"
	case onPrompt:
		payload["prompt"] = "do " + e.By.Prompt
	case onPre, onPost:
		input := map[string]any{}
		does := swap{"a", strings.Repeat("a long new string ", 4), strings.Repeat("a long new string ", 4)}
		if e.Kind == onPost {
			does = l.swaps[e.By.Call]
		}
		switch e.Tool {
		case "Bash":
			input["command"] = e.Command
			if e.Background {
				input["run_in_background"] = true
			}
		case "Edit":
			input["file_path"], input["old_string"], input["new_string"] = filepath.Join(l.root, e.Files[0]), does.old, does.new
		case "Write":
			input["file_path"], input["content"] = filepath.Join(l.root, e.Files[0]), does.whole
		case "Task":
			input["description"], input["prompt"] = "a part of it", "do it"
		}
		payload["tool_name"], payload["tool_use_id"], payload["tool_input"] = e.Tool, e.By.Call, input
		if e.Kind == onPost {
			payload["tool_response"] = map[string]any{"success": true}
		}
	case onEnd:
		payload["reason"] = "exit"
	}
	if err := l.age(e); err != nil {
		return err
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	start := time.Now()
	l.closes(e, start)
	a := l.call(string(text), "hook", "claude")
	l.hooks++
	l.hookTime += time.Since(start)
	l.slowest = max(l.slowest, time.Since(start))
	l.told = append(l.told, told{e, start, time.Now()})
	if a.code != 0 || a.err != "" {
		return fmt.Errorf("the hook ended with %d: %s%s", a.code, a.out, a.err)
	}
	switch {
	case e.Kind == onPre:
		l.calls[e.By.Call] = window{by: e.By, from: start, at: e.At, command: e.Command, server: e.Background}
	case e.Kind == onPost:
		w := l.calls[e.By.Call]
		w.told = start
		if w.to = time.Now(); w.server {
			w.to = time.Time{}
		}
		l.calls[e.By.Call] = w
		for _, f := range e.Files {
			l.edited[f] = moment{time.Now(), e.At}
		}
	}
	return nil
}

// swap is what an edit says that it did.
type swap struct{ old, new, whole string }

// swapOf is the lines that differ, with one more on each side.
func swapOf(before, after string) swap {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	first, last = max(0, first-1), max(0, last-1)
	return swap{strings.Join(a[first:len(a)-last], ""), strings.Join(b[first:len(b)-last], ""), after}
}

// text is what a path has now, nothing where it is not there.
func (l *life) text(path string) string {
	if v := l.now(path); v != nil && v.exists {
		return v.text()
	}
	return ""
}

// closes ends the windows that an event says are over: those of calls without an end at the
// session's next turn, those of servers with the session.
func (l *life) closes(e *event, now time.Time) {
	for id, w := range l.calls {
		same := w.by.Session == e.By.Session && w.to.IsZero()
		sub := e.Kind != onSubStop || w.by.Subagent == e.By.Subagent
		if over := e.Kind == onPrompt || e.Kind == onStop || e.Kind == onSubStop; same && (e.Kind == onEnd || over && !w.server && sub) {
			w.to = now
			l.calls[id] = w
		}
	}
}

// age makes the debounce count on the simulated clock: a checkpoint that is older on it than the
// tier's interval is so for the hook.
func (l *life) age(e *event) error {
	id, ctx := l.sessions[e.By.Session], context.Background()
	env := account.Env{Home: l.home}
	state := account.LoadSession(env, "claude", id)
	s := l.last[id]
	if !state.Last.Equal(s.real) {
		s = seen{state.Last, e.At}
		l.last[id] = s
	}
	if state.Last.IsZero() || e.At-s.at < l.Manner.Interval {
		return nil
	}
	l.last[id] = seen{}
	return account.UpdateSession(ctx, env, "claude", id, func(s *account.SessionState) { s.Last = time.Time{} })
}

// write makes a path what the truth says, and notes when.
func (l *life) write(path string, atomic bool) error {
	v := l.now(path)
	file := filepath.Join(l.root, path)
	start := time.Now()
	err := l.writeFile(file, v, atomic)
	v.at = time.Now()
	v.took = v.at.Sub(start)
	return err
}

func (l *life) writeFile(file string, v *version, atomic bool) error {
	if !v.exists {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	mode := os.FileMode(0o644)
	if v.exec {
		mode = 0o755
	}
	to := file
	if atomic {
		to = file + ".swp~"
	}
	if err := os.WriteFile(to, []byte(v.text()), mode); err != nil {
		return err
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != mode {
		if err := os.Chmod(to, mode); err != nil {
			return err
		}
	}
	if atomic {
		return os.Rename(to, file)
	}
	return nil
}

// tree is the working tree as it is: what each file has, and whether it is executable.
func (l *life) tree() (map[string]string, error) {
	out := map[string]string{}
	entries, err := os.ReadDir(l.root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(l.root, e.Name()))
		if err != nil {
			return nil, err
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		out[e.Name()] = fmt.Sprintf("%o\n%s", info.Mode().Perm()&0o100, data)
	}
	return out, nil
}

// reconcile takes the tree as what is true now, after a command that wrote it since a time. What it left alone was
// written when it was.
func (l *life) reconcile(by *work, since time.Time) error {
	now := time.Now()
	tree, err := l.tree()
	if err != nil {
		return err
	}
	names := maps.Clone(tree)
	for p := range l.files {
		names[p] = ""
	}
	for p := range names {
		mode, text, exists := strings.Cut(tree[p], "\n")
		v, err := l.restored(p, text, exists, exists && mode != "0", by)
		if err != nil {
			return err
		}
		if v != nil {
			v.at, v.took = now, now.Sub(since)
		}
	}
	return nil
}
