package cli

import (
	"context"

	_ "embed"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/show"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/spf13/pflag"
)

//go:embed completion/rewind.bash
var bashScript string

//go:embed completion/rewind.zsh
var zshScript string

//go:embed completion/rewind.fish
var fishScript string

func newCompletion() *app.Command {
	return &app.Command{
		Name:  "completion",
		Usage: "bash|zsh|fish",
		Short: "print the completion script for a shell",
		Long:  "Prints a script that completes commands, flags, settings and checkpoints.",
		Examples: []app.Example{
			{Line: "source <(rewind completion bash)", Does: "in ~/.bashrc"},
			{Line: "rewind completion zsh > \"${fpath[1]}/_rewind\"", Does: "once"},
			{Line: "rewind completion fish > ~/.config/fish/completions/rewind.fish", Does: "once"},
		},
		MinArgs: 1, MaxArgs: 1,
		Run: func(_ context.Context, c *app.Call) error {
			script, ok := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Args[0]]
			if !ok {
				return app.Usagef("there is no completion for %q, only for bash, zsh and fish", c.Args[0])
			}
			if c.JSON {
				return c.Out.Document(scriptView{c.Args[0], script})
			}
			c.Out.Buf.WriteString(script)
			return nil
		},
	}
}

// scriptView answers completion.
type scriptView struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

// completeName is the hidden command that the scripts call with the words of
// the line, the one being typed last. It prints one candidate per line, with a
// tab and a description where there is one; it never fails.
const completeName = "__complete"

func complete(ctx context.Context, words []string, env account.Env, o *app.Output) error {
	before := "" // the part of the word that is typed already and not offered again
	if len(words) == 3 && words[0] == "--bash" {
		words, before = bashWords(words[1], words[2])
	}
	if len(words) == 0 {
		words = []string{""}
	}
	typed := words[len(words)-1]
	w := parsePartial(words[:len(words)-1])
	said := map[string]bool{}
	emit := func(value, text string) {
		if strings.HasPrefix(value, typed) && !said[value] {
			said[value] = true
			value = strings.TrimPrefix(value, before)
			if text != "" {
				value += "\t" + text
			}
			o.Line("%s", value)
		}
	}
	switch {
	case w.wants == "tier":
		tierChoices(emit)
	case w.wants == "adopt":
		completeStores(ctx, "", env, emit)
	case w.wants == "good" || w.wants == "bad" || w.wants == "base" || w.wants == "at":
		completeCheckpoints(ctx, w.root, env, emit)
	case w.wants == "session":
		completeSessions(ctx, w.root, env, emit)
	case w.wants == "path" && w.cmd != nil:
		completePaths(ctx, w, typed, env, emit)
	case w.wants == "agent":
		for _, a := range hookio.Agents() {
			emit(string(a), a.Title())
		}
	case w.wants == "since" && w.cmd != nil && w.cmd.Name == "revert":
		completePrompts(ctx, w.root, w.session, env, emit)
	case w.wants == "subagent" && w.cmd != nil && w.cmd.Name == "revert":
		completeSubagents(ctx, w.root, w.session, env, emit)
	case w.wants == "tool" && w.cmd != nil && w.cmd.Name == "revert":
		completeCalls(ctx, w.root, env, emit)
	case w.wants != "":
		flagChoices(w.wants, emit)
	case w.cmd == nil && strings.HasPrefix(typed, "-"):
		f := app.NewFlagSet("")
		new(app.Globals).Define(f)
		emitFlags(f, emit)
	case w.cmd == nil:
		for _, e := range entries() {
			if !e.hidden {
				emit(e.name, e.make().Short)
			}
		}
	case strings.HasPrefix(typed, "-") && !w.dashed:
		f := app.NewFlagSet("")
		if w.cmd.Flags != nil {
			w.cmd.Flags(f)
		}
		new(app.Globals).Define(f)
		emitFlags(f, emit)
	case completesPaths(w):
		completePaths(ctx, w, typed, env, emit)
	case w.cmd.Name == "show" && !w.dashed && len(w.args) == 0 && strings.Contains(typed, ":"):
		completePathsOf(ctx, w, typed, env, emit)
	case !w.dashed:
		completeArg(ctx, w, typed, env, emit)
	}
	return nil
}

// partialWords are the words before the one being typed.
type partialWords struct {
	cmd     *app.Command // nil: none yet
	root    string       // of --root
	args    []string     // of the command, before --
	dashed  bool         // -- is among them
	session string       // of --session
	wants   string       // the flag whose value comes next
}

func parsePartial(words []string) (w partialWords) {
	flags := app.NewFlagSet("")
	new(app.Globals).Define(flags)
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case w.dashed:
		case word == "--":
			w.dashed = true
		case strings.HasPrefix(word, "-"):
			f := flags.Lookup(name)
			if f == nil && len(name) == 1 {
				f = flags.ShorthandLookup(name)
			}
			if f == nil || hasValue || f.NoOptDefVal != "" {
				w.keep(name, value)
				continue
			}
			if i++; i >= len(words) {
				w.wants = f.Name
				return w
			}
			w.keep(f.Name, words[i])
		case w.cmd == nil:
			if w.cmd = lookup(word); w.cmd == nil {
				return w
			}
			if w.cmd.Flags != nil {
				w.cmd.Flags(flags)
			}
		default:
			w.args = append(w.args, word)
		}
	}
	return w
}

// keep keeps the values of flags that say where to look.
func (w *partialWords) keep(flag, value string) {
	switch flag {
	case "root":
		w.root = value
	case "session":
		w.session = value
	}
}

func emitFlags(f *pflag.FlagSet, emit func(value, text string)) {
	f.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		emit("--"+f.Name, usage)
	})
}

func flagChoices(flag string, emit func(value, text string)) {
	for _, c := range map[string][]string{
		"mode":      {"both", "code", "context", "project", "global"},
		"format":    {"tar.gz", "tar.zst", "tar", "git"},
		"conflicts": {"refuse", "keep", "keep-file", "undo", "markers"},
	}[flag] {
		emit(c, "")
	}
}

func tierChoices(emit func(value, text string)) { settingChoices("tier", emit) }

// settingChoices offers the values of a setting that has only so many.
func settingChoices(key string, emit func(value, text string)) {
	for _, k := range settings.Keys() {
		if k.Name != key {
			continue
		}
		choices := k.Choices
		if _, isBool := k.Default().(bool); isBool {
			choices = []string{"true", "false"}
		}
		for _, c := range choices {
			emit(c, "")
		}
	}
}

// completeArg offers what the command takes as its n-th argument.
func completeArg(ctx context.Context, w partialWords, typed string, env account.Env, emit func(value, text string)) {
	cmd, n := w.cmd, len(w.args)
	wants := map[string]int{"show": 1, "ui": 1, "diff": 2, "compare": 2, "attempts": 1, "restore": 1, "cat": 1, "ls": 1, "export": 1, "checkout": 1, "pin": 1, "unpin": 1, "rename": 1}
	switch {
	case cmd.Name == "revert" && n == 0:
		completePrompts(ctx, w.root, w.session, env, emit)
		completeCheckpoints(ctx, w.root, env, emit)
	case n < wants[cmd.Name]:
		if cmd.Name == "compare" {
			completeAttempts(ctx, w.root, env, emit)
		}
		if cmd.Name == "attempts" {
			completePrompts(ctx, w.root, w.session, env, emit)
			emit("prompt~1", "the last prompt")
		}
		completeCheckpoints(ctx, w.root, env, emit)
		if strings.HasPrefix(typed, "p") { // they are no rows of list
			completePrompts(ctx, w.root, w.session, env, emit)
		}
	case cmd.Name == "hook" && n == 0:
		for _, a := range hookio.Agents() {
			emit(string(a), a.Title())
		}
	case cmd.Name == "hook" && n == 1:
		for _, e := range []hookio.EventKind{hookio.SessionStart, hookio.Prompt, hookio.PreTool, hookio.PostTool, hookio.Stop, hookio.SessionEnd} {
			emit(string(e), "")
		}
	case cmd.Name == "config" && n == 0:
		for _, k := range settings.Keys() {
			emit(k.Name, k.Doc)
		}
	case cmd.Name == "config" && n == 1:
		settingChoices(w.args[0], emit)
	case cmd.Name == "stores" && n == 0:
		emit("rm", "remove a store")
	case cmd.Name == "stores" && w.args[0] == "rm":
		completeStores(ctx, typed, env, emit)
	case cmd.Name == "completion" && n == 0:
		for _, s := range []string{"bash", "zsh", "fish"} {
			emit(s, "")
		}
	case cmd.Name == "help" && n == 0:
		for _, e := range entries() {
			if !e.hidden {
				emit(e.name, "")
			}
		}
	}
}

// completeAttempts offers the attempts at the newest prompt that has several, and now.
func completeAttempts(ctx context.Context, root string, env account.Env, emit func(value, text string)) {
	emit(show.NowWord, "the working tree")
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return
	}
	defer p.Close()
	f, err := attempts.Newest(ctx, p)
	if err != nil || f == nil {
		return
	}
	for _, a := range f.Attempts {
		emit(attempts.Name(a.N), app.FirstLine(a.Prompt.Prompt))
	}
}

// completedCheckpoints is how many of the newest are offered by number and id.
const completedCheckpoints = 50

func completeCheckpoints(ctx context.Context, root string, env account.Env, emit func(value, text string)) {
	emit("last", "the newest")
	emit("prev", "the one before")
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return // no completion without a project
	}
	defer p.Close()
	list, err := p.List(ctx, project.ListOptions{Limit: completedCheckpoints})
	if err != nil {
		return
	}
	for _, l := range list {
		text := strings.TrimSpace(rows.Reason(l) + " " + rows.CheckpointText(l))
		emit(app.Utoa(uint64(l.N)), text)
		emit(l.ID.String(), text)
		if l.Name != "" {
			emit(l.Name, text)
		}
	}
}
