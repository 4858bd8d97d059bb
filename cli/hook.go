package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine"
	"rewind/hookio"
)

// olderName is how the tool was called that went before. Its hooks run on.
const olderName = "smart-checkpoint"

// workerFlag marks the detached process that finishes what a hook began.
const workerFlag = "--detached"

const (
	// hookTime is how long an agent waits for a hook at most.
	hookTime = 2 * time.Second
	// endTime is that at a session's end, where all hooks together get 1.5 s.
	endTime = time.Second
)

func newHook() *command {
	return &command{
		name:  "hook",
		usage: "<agent> [event]",
		short: "what agents call: JSON on stdin, silent, always successful",
		long: "Takes checkpoints at the moments of the tier. Agents run it; the event is in the JSON on\n" +
			"stdin. It prints nothing and exits 0 whatever happens, but for a tool call that would\n" +
			"damage the store, which it blocks with 2. rewind status shows why a hook failed.\n" +
			"Any program can call it as hook generic with {\"cwd\",\"event\",\"session_id\"?,\n" +
			"\"transcript_path\"?,\"prompt\"?,\"tool_name\"?,\"tool_input\"?}, event one of session-start\n" +
			"prompt pre-tool post-tool stop session-end.",
		examples: []example{
			{"rewind config --register-hooks", "let the agents call it"},
			{`echo '{"cwd":"'$PWD'","event":"stop"}' | rewind hook generic`, "from a script"},
		},
		maxArgs: -1,
		run: func(ctx context.Context, c *call) error {
			return &usageError{msg: "hook comes first on the command line", hint: "rewind hook " + strings.Join(c.args, " ")}
		},
	}
}

// hookWords gives the words after "hook", or all words where the program was
// called by the older tool's name. A call for help is none of them.
func hookWords(args []string) (words []string, ok bool) {
	if len(args) == 0 {
		return nil, false
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	switch {
	case name == olderName:
		words = args[1:]
	case len(args) > 1 && args[1] == "hook":
		words = args[2:]
	default:
		return nil, false
	}
	return words, !slices.Contains(words, "--help") && !slices.Contains(words, "-h")
}

// runHook is a whole hook process. It never fails, whatever comes in.
func runHook(words, args []string, env engine.Env, stdio Stdio) (code int) {
	start := time.Now()
	crashSafely()
	defer func() {
		if recover() != nil { // a bug of ours must not reach the agent: 2 would block it
			code = 0
		}
	}()
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if slices.Contains(words, workerFlag) {
		runWorker(words, env)
		return 0
	}
	named, action := hookio.Args(words)
	in := stdio.In
	if in == nil || isTerminal(in) {
		in = strings.NewReader("")
	}
	event := hookio.Decode(in, named, action, env.Getenv)
	h := &hook{start: start, env: env, event: &event, named: named, self: args[0]}
	response := h.run(context.Background())
	if len(response.Stdout) > 0 {
		_, _ = stdio.Out.Write(response.Stdout) // there is nobody to tell
	}
	if response.Stderr != "" {
		_, _ = io.WriteString(stdio.Err, response.Stderr)
	}
	if event.Kind != hookio.PreTool {
		return 0
	}
	return response.ExitCode
}
