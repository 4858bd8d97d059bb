package cli

import (
	"context"

	_ "embed"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
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
		Answers: app.Answers{"completion": scriptView{}},
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
	c := completer{ctx: ctx, env: env, typed: words[len(words)-1]}
	c.parse(words[:len(words)-1])
	flag, value, given := strings.Cut(c.typed, "=")
	if f := c.flags.Lookup(strings.TrimPrefix(flag, "--")); given && f != nil && !c.dashed && strings.HasPrefix(flag, "--") {
		c.wants, c.typed, flag = f.Name, value, flag+"="
	} else {
		flag = ""
	}
	offered := map[string]bool{}
	c.offer = func(value, text string) {
		if strings.HasPrefix(value, c.typed) && !offered[value] {
			offered[value] = true
			value = strings.TrimPrefix(flag+value, before)
			if text != "" {
				value += "\t" + text
			}
			o.Line("%s", value)
		}
	}
	switch {
	case c.wants != "":
		c.flagValue()
	case strings.HasPrefix(c.typed, "-") && !c.dashed:
		c.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				_, usage := pflag.UnquoteUsage(f)
				c.offer("--"+f.Name, usage)
			}
		})
	case c.cmd == nil:
		c.commands()
	case c.takesPaths():
		c.paths(c.typed, c.offer)
	case c.cmd.Name == "show" && !c.dashed && len(c.args) == 0 && strings.Contains(c.typed, ":"):
		c.pathsOf()
	case !c.dashed:
		c.argument()
	}
	return nil
}

// completer offers what the word that is being typed can be.
type completer struct {
	ctx   context.Context
	env   account.Env
	typed string
	offer func(value, text string)

	// From the words before it:
	cmd     *app.Command // nil: none yet
	flags   *pflag.FlagSet
	root    string   // of --root
	args    []string // of the command, before --
	dashed  bool     // -- is among them
	session string   // of --session
	wants   string   // the flag whose value comes next
}

func (c *completer) parse(words []string) {
	c.flags = globalFlags()
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case c.dashed:
		case word == "--":
			c.dashed = true
		case strings.HasPrefix(word, "-"):
			f := c.flags.Lookup(name)
			if f == nil && len(name) == 1 {
				f = c.flags.ShorthandLookup(name)
			}
			if f == nil || hasValue || f.NoOptDefVal != "" {
				c.keep(name, value)
				continue
			}
			if i++; i >= len(words) {
				c.wants = f.Name
				return
			}
			c.keep(f.Name, words[i])
		case c.cmd == nil:
			if c.cmd = lookup(word); c.cmd == nil {
				return
			}
			own := c.cmd.OwnFlags()
			own.AddFlagSet(c.flags)
			c.flags = own
		default:
			c.args = append(c.args, word)
		}
	}
}

// keep keeps the values of flags that say where to look.
func (c *completer) keep(flag, value string) {
	switch flag {
	case "root":
		c.root = value
	case "session":
		c.session = value
	}
}

// flagValue offers what the flag before the word takes.
func (c *completer) flagValue() {
	revert := c.cmd != nil && c.cmd.Name == "revert"
	switch flag := c.wants; {
	case flag == "tier":
		c.settingChoices("tier")
	case flag == "adopt":
		c.stores("")
	case flag == "good" || flag == "bad" || flag == "base" || flag == "at":
		c.checkpoints()
	case flag == "session":
		c.sessions()
	case flag == "remote":
		c.remotes()
	case flag == "path" && c.cmd != nil:
		c.paths(c.typed, c.offer)
	case flag == "agent":
		c.agents(c.cmd == nil || c.cmd.Name != "config")
	case flag == "mode" && c.cmd != nil && c.cmd.Name == "init":
		c.words(string(account.ProjectMode), string(account.GlobalMode))
	case flag == "since" && revert:
		c.prompts(offeredPrompts)
	case flag == "subagent" && revert:
		c.subagents()
	case flag == "tool" && revert:
		c.calls()
	default:
		c.words(map[string][]string{
			"git":       {"lost", "exact"},
			"mode":      {"both", "code", "context"},
			"format":    {"tar.gz", "tar.zst", "tar", "git"},
			"conflicts": {"refuse", "keep", "keep-file", "undo", "markers"},
		}[flag]...)
	}
}

func (c *completer) words(words ...string) {
	for _, w := range words {
		c.offer(w, "")
	}
}

func (c *completer) commands() {
	for _, e := range entries() {
		if !e.hidden {
			c.offer(e.name, e.make().Short)
		}
	}
}

// agents offers the agents that call hook; generic too, which is any script and has no settings file to register hooks in.
func (c *completer) agents(generic bool) {
	for _, a := range hookio.Agents() {
		if generic || a != hookio.Generic {
			c.offer(string(a), a.Title())
		}
	}
}

// settingChoices offers the values of a setting that has only so many.
func (c *completer) settingChoices(key string) {
	for _, k := range settings.Keys() {
		if _, isBool := k.Default().(bool); k.Name == key && isBool {
			c.words("true", "false")
		} else if k.Name == key {
			c.words(k.Choices...)
		}
	}
}

// argument offers what the command takes as its n-th argument.
func (c *completer) argument() {
	n := len(c.args)
	wants := map[string]int{"show": 1, "ui": 1, "diff": 2, "compare": 2, "attempts": 1, "restore": 1, "cat": 1, "ls": 1, "export": 1, "share": 1, "checkout": 1, "pin": 1, "unpin": 1, "rename": 1}
	switch name := c.cmd.Name; {
	case name == "revert" && n == 0:
		c.prompts(offeredPrompts)
		c.checkpoints()
	case name == "list" && n == 0:
		c.pulled()
	case n < wants[name]:
		if c.cmd.Pulled {
			c.pulled()
		}
		if name == "compare" {
			c.attempts()
		}
		if name == "attempts" {
			c.prompts(offeredPrompts)
			c.offer("prompt~1", "the last prompt")
		}
		c.checkpoints()
		if strings.HasPrefix(c.typed, "@") {
			c.offer("@green", "the newest whose tests passed")
		}
		if strings.HasPrefix(c.typed, "p") {
			c.prompts(offeredPrompts)
		} else if c.typed == "" {
			c.prompts(untypedPrompts)
		}
	case name == "hook" && n == 0:
		c.agents(true)
	case name == "hook" && n == 1:
		for _, e := range []hookio.EventKind{hookio.SessionStart, hookio.Prompt, hookio.PreTool, hookio.PostTool, hookio.Stop, hookio.SessionEnd} {
			c.offer(string(e), "")
		}
	case name == "config" && n == 0:
		for _, k := range settings.Keys() {
			c.offer(k.Name, k.Doc)
		}
	case name == "config" && n == 1:
		c.settingChoices(c.args[0])
	case name == "stores" && n == 0:
		c.offer("rm", "remove a store")
	case name == "stores" && c.args[0] == "rm":
		c.stores(c.typed)
	case name == "remote" && n == 0:
		c.offer("add", "make a remote, or join one")
		c.offer("remove", "forget a remote of this project")
		c.offer("check", "is what was pushed there and whole")
		c.offer("gc", "remove from the place what nothing needs")
		c.offer("key", "print the key that reads it, seal it for others, rotate it")
	case name == "remote" && n == 2 && c.args[0] == "add":
		c.remotesOfGit()
	case name == "remote" && n == 1 && c.args[0] == "key":
		c.offer("add", "seal the key for people")
		c.offer("remove", "seal the next key for them no longer")
		c.offer("rotate", "make a new key for what is pushed from now on")
		c.remotes()
	case (name == "push" || name == "pull") && n == 0, name == "remote" && n == 1 && slices.Contains([]string{"remove", "check", "gc"}, c.args[0]):
		c.remotes()
	case name == "completion" && n == 0:
		c.words("bash", "zsh", "fish")
	case name == "help" && n == 0:
		for _, e := range entries() {
			if !e.hidden {
				c.offer(e.name, "")
			}
		}
	}
}
