package restore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
)

func NewBack() *app.Command {
	var r restoreFlags
	var copyText bool
	return &app.Command{
		Name:  "back",
		Usage: "[n] [--both] " + gitUsage + "[--in-place] [--copy] [--resume] [--dry-run] [--force] [--yes]",
		Short: "take the conversation back to before the nth-last prompt",
		Long: "Forks the session's conversation so that it ends before its nth-last prompt (the last one\n" +
			"if no number is given), and prints the prompts that were undone on stderr. With --both,\n" +
			"the files go back too: to the checkpoint of that prompt, to the newest one since the\n" +
			"turn before it, or else, with a warning, to the session's newest one before it.",
		Examples: []app.Example{
			{Line: "rewind back", Does: "the conversation to before the last prompt"},
			{Line: "rewind back 2 --both --resume", Does: "code and conversation by two prompts, and open the fork"},
			{Line: "rewind back --copy", Does: "copy the prompt to the clipboard, to rephrase it"},
		},
		Answers: app.Answers{"back": backView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&r.both, "both", false, "restore the files too")
			r.gitFlags.define(f)
			f.BoolVar(&r.inPlace, "in-place", false, "rewrite the conversation, after a backup, instead of forking it")
			f.BoolVar(&copyText, "copy", false, "copy the prompts to the clipboard")
			f.BoolVar(&r.resume, "resume", false, "run the command that opens the forked conversation")
			f.BoolVarP(&r.dryRun, "dry-run", "n", false, "print what would happen, and change nothing")
			f.BoolVar(&r.force, "force", false, "proceed where it would refuse, after the safety checkpoint")
			f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			n := 1
			if len(c.Args) > 0 {
				v, err := strconv.ParseUint(c.Args[0], 10, 31)
				if err != nil || v == 0 {
					return app.Usagef("%q is not a number of prompts: use 1 or more", c.Args[0])
				}
				n = int(v)
			}
			return runBack(ctx, c, &r, n, copyText)
		},
	}
}

func runBack(ctx context.Context, c *app.Call, r *restoreFlags, n int, copyText bool) error {
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	s, err := c.ChooseSessionWith(ctx, p, n)
	if err != nil {
		return err
	}
	o := restore.Options{DryRun: r.dryRun, Force: r.force, InPlace: r.inPlace, Args: typedArgs(c, r)}
	if err := r.gitFlags.apply(&o, conversation.Both, nil); err != nil {
		return err
	}
	if c.Out.Interactive() && !r.yes && !r.dryRun {
		o.Confirm = func(plan *restore.Restored) (bool, error) { return report.Confirm(c, plan) }
	}
	done, err := restore.Back(ctx, p, restore.BackOptions{Session: s, N: n, Both: r.both, Restore: o})
	if err != nil {
		return hintFiles(c, err, n)
	}
	c.Out.EndProgress()
	printPrompts(c.Out, done.Prompts)
	if copyText && !r.dryRun {
		copyPrompt(ctx, c, strings.Join(reversed(done.Prompts), "\n\n"))
	}
	if done.Older && r.both {
		c.Out.Warn("no checkpoint was taken at that prompt: the files are those of %s, from before an earlier one", rows.Called(c, done.Checkpoint))
	}
	if done.Without != nil {
		warnWithout(c, done)
	}
	err = report.ReportRestoredIn(c, done, report.RestoreCheckpoint, func(view report.RestoredView) any {
		return backView{view, append([]string{}, done.Prompts...)}
	})
	if err != nil || !r.resume || r.dryRun {
		return err
	}
	return resume(ctx, c, done.Conversation)
}

// hintFiles names the command for the files alone, where back finds no place in
// the conversation.
func hintFiles(c *app.Call, err error, n int) error {
	var none *conversation.NoConversationError
	if !errors.As(err, &none) {
		return err
	}
	files := fmt.Sprintf("rewind restore prompt~%d --code-only", n)
	if c.Session != "" {
		files += " --session " + app.ShellQuote(c.Session)
	}
	if none.Before {
		return app.Hinted(err, "start a new session, or restore only the files: "+files)
	}
	return app.Hinted(err, files+" restores only the files")
}

// backView answers back.
type backView struct {
	report.RestoredView
	Prompts []string `json:"prompts"`
}

// printPrompts prints the prompts that are undone on stderr, the oldest first.
func printPrompts(o *app.Output, prompts []string) {
	if o.Quiet {
		return
	}
	o.Mu.Lock()
	defer o.Mu.Unlock()
	for _, text := range reversed(prompts) {
		for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
			mark := "> "
			if i > 0 {
				mark = "  "
			}
			fmt.Fprintf(o.Stderr, "%s%s\n", o.ErrColor.Paint(screen.Dim, mark), app.EscapeLine(strings.TrimSuffix(l, "\r")))
		}
	}
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// maxClipboard bounds what is sent to a terminal as a clipboard's content:
// terminals take about 74 KiB of base64 at least.
const maxClipboard = 54 << 10

// copyPrompt puts a text on the clipboard: by the display's own program where
// there is one, else by asking the terminal to.
func copyPrompt(ctx context.Context, c *app.Call, text string) {
	var tools [][]string
	if c.Env.Getenv("WAYLAND_DISPLAY") != "" {
		tools = append(tools, []string{"wl-copy"})
	}
	if c.Env.Getenv("DISPLAY") != "" {
		tools = append(tools, []string{"xclip", "-selection", "clipboard"})
	}
	tools = append(tools, []string{"pbcopy"})
	for _, words := range tools {
		if _, err := exec.LookPath(words[0]); err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Stdin = strings.NewReader(text)
		if cmd.Run() == nil {
			return
		}
	}
	if !c.Out.ErrTerm {
		c.Out.Warn("no clipboard is available")
		return
	}
	if len(text) > maxClipboard {
		c.Out.Warn("too long for the terminal's clipboard: %s", app.FormatSize(int64(len(text))))
		return
	}
	code := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	if c.Env.Getenv("TMUX") != "" {
		code = "\x1bPtmux;\x1b" + code + "\x1b\\" // tmux hands it on
	}
	c.Out.Mu.Lock()
	defer c.Out.Mu.Unlock()
	_, _ = io.WriteString(c.Out.Stderr, code) // a terminal that is gone has no clipboard
}
