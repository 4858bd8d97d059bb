package hook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/hookio"
)

// olderName is how the tool was called that went before. Its hooks run on.
const olderName = "smart-checkpoint"

func NewHook() *app.Command {
	return &app.Command{
		Name:  "hook",
		Usage: "<agent> [event]",
		Short: "called by agents: JSON on stdin, silent, never fails",
		Long: "Takes a checkpoint when the tier asks for one. Agents run it, with the event as JSON on\n" +
			"stdin. It prints nothing and exits 0 whatever happens, except that it blocks a tool call\n" +
			"that would damage the store (exit code 2). rewind status shows why a hook failed.\n" +
			"Any program can call it as hook generic with {\"cwd\",\"event\",\"session_id\"?,\n" +
			"\"transcript_path\"?,\"prompt\"?,\"tool_name\"?,\"tool_input\"?}; event is session-start,\n" +
			"prompt, pre-tool, post-tool, stop or session-end.",
		Examples: []app.Example{
			{Line: "rewind config --register-hooks", Does: "make the agents call it"},
			{Line: `echo '{"cwd":"'$PWD'","event":"stop"}' | rewind hook generic`, Does: "from a script"},
		},
		MaxArgs: -1,
		Run: func(ctx context.Context, c *app.Call) error {
			return &app.UsageError{Msg: "hook must come first on the command line", Hint: "rewind hook " + strings.Join(c.Args, " ")}
		},
	}
}

// Words gives the words after "hook", or all words where the program was
// called by the older tool's name. A call for help is none of them.
func Words(args []string) (words []string, ok bool) {
	if len(args) == 0 {
		return nil, false
	}
	switch {
	case isOlderName(args[0]):
		words = args[1:]
		// Whatever else it is called with, it never fails: an agent takes 2 for a refusal.
		return words, len(words) != 1 || !isHelp(words[0])
	case len(args) > 1 && args[1] == "hook":
		words = args[2:]
	default:
		return nil, false
	}
	return words, !slices.ContainsFunc(words, isHelp)
}

func isHelp(word string) bool { return word == "--help" || word == "-h" }

// isOlderName reports whether the program was called by the older tool's name, which was a script's.
func isOlderName(self string) bool {
	name := filepath.Base(self)
	return strings.TrimSuffix(name, filepath.Ext(name)) == olderName
}

// Run is a whole hook process. It never fails, whatever comes in, and ends
// in time whatever hangs. command runs a command line of ours.
func Run(words, args []string, env account.Env, stdio app.Stdio, command runCommandLine) int {
	h := &process{start: time.Now(), self: args[0], command: command}
	crashSafely()
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if slices.Contains(words, workerFlag) {
		runWorker(words, env)
		return 0
	}
	h.Call = &hook.Call{Env: env, Detach: h.detach, Matches: hookio.MatchFile}
	answered := make(chan hookio.Response, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil { // a bug of ours must not reach the agent: 2 would block it
				project.NoteHookErrorOf(env, fmt.Errorf("a bug in rewind: %v", fault))
				answered <- hookio.Response{}
			}
		}()
		answered <- h.handle(words, stdio.In)
	}()
	response, ok := h.await(answered)
	if !ok {
		noteGivenUp(env, time.Since(h.start))
		return 0
	}
	if len(response.Stdout) > 0 {
		_, _ = stdio.Out.Write(response.Stdout) // an error here has no reader
	}
	if response.Stderr != "" {
		_, _ = io.WriteString(stdio.Err, response.Stderr)
	}
	return response.ExitCode
}

// noteGivenUp leaves word of a hook that hung; what it hung on may keep that from being written too.
func noteGivenUp(env account.Env, after time.Duration) {
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		project.NoteHookErrorOf(env, fmt.Errorf("a hook was given up after %s: the agent or the file system did not answer", after.Round(time.Second)))
	}()
	select {
	case <-noted:
	case <-time.After(100 * time.Millisecond):
	}
}

// await waits for the answer, but not for what hangs where no deadline reaches:
// the agent's pipe, or a file system that does not answer while the project is
// opened. Once it is open, a save bounds itself, and hands over what it leaves.
func (h *process) await(answered <-chan hookio.Response) (r hookio.Response, ok bool) {
	select {
	case r = <-answered:
		return r, true
	case <-time.After(time.Until(h.start.Add(hook.OpenTime))):
		if !h.opened.Load() {
			h.late.Store(true)
			return r, false
		}
	}
	select {
	case r = <-answered:
		return r, true
	case <-time.After(time.Until(h.start.Add(hook.WatchTime))):
		if !h.patient.Load() {
			h.late.Store(true)
			return r, false
		}
	}
	return <-answered, true
}

// handle reads the event and answers it.
func (h *process) handle(words []string, in io.Reader) hookio.Response {
	named, _ := hookio.Args(words)
	if in == nil || app.IsTerminal(in) {
		in = strings.NewReader("")
	}
	if named == hookio.Pi {
		var read bytes.Buffer
		if q, ok := hookio.DecodePi(io.TeeReader(in, &read)); ok {
			return hookio.Response{Stdout: h.pi(context.Background(), &q).Encode()}
		}
		in = &read
	}
	event := hookio.Decode(in, words, h.Env.Getenv)
	h.event, h.named = &event, named
	response := h.run(context.Background())
	h.noteMisuse(words)
	if event.Kind != hookio.PreTool {
		response.ExitCode = 0
	}
	return response
}
