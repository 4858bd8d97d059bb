package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
)

func newBack() *command {
	var r restoreFlags
	var withCode, copyText bool
	return &command{
		name:  "back",
		usage: "[n] [--both] [--in-place] [--copy] [--resume] [--dry-run] [--force] [--yes]",
		short: "take the conversation back to before the nth-last prompt",
		long: "Forks the session's conversation so that it ends before its nth-last prompt (the last one\n" +
			"if no number is given), and prints the prompts that were undone on stderr. With --both,\n" +
			"the files go back too: to the checkpoint of that prompt, to the newest one since the\n" +
			"turn before it, or else, with a warning, to the session's newest one before it.",
		examples: []example{
			{"rewind back", "the conversation to before the last prompt"},
			{"rewind back 2 --both --resume", "code and conversation by two prompts, and open the fork"},
			{"rewind back --copy", "copy the prompt to the clipboard, to rephrase it"},
		},
		exits:   []int{exitPartial, exitNotFound, exitBusy, exitDamaged, exitRefused},
		maxArgs: 1,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&withCode, "both", false, "restore the files too")
			f.BoolVar(&r.inPlace, "in-place", false, "rewrite the conversation, after a backup, instead of forking it")
			f.BoolVar(&copyText, "copy", false, "copy the prompts to the clipboard")
			f.BoolVar(&r.resume, "resume", false, "run the command that opens the forked conversation")
			f.BoolVarP(&r.dryRun, "dry-run", "n", false, "print what would happen, and change nothing")
			f.BoolVar(&r.force, "force", false, "proceed where it would refuse, after the safety checkpoint")
			f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
		},
		run: func(ctx context.Context, c *call) error {
			n := 1
			if len(c.args) > 0 {
				v, err := strconv.ParseUint(c.args[0], 10, 31)
				if err != nil || v == 0 {
					return usagef("%q is not a number of prompts: use 1 or more", c.args[0])
				}
				n = int(v)
			}
			return runBack(ctx, c, &r, n, withCode, copyText)
		},
	}
}

func runBack(ctx context.Context, c *call, r *restoreFlags, n int, withCode, copyText bool) error {
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	s, err := c.chooseSessionWith(ctx, p, n)
	if err != nil {
		return err
	}
	o := restore.Options{DryRun: r.dryRun, Force: r.force, InPlace: r.inPlace, Args: c.typedArgs(r)}
	if c.out.interactive() && !r.yes && !r.dryRun {
		o.Confirm = c.confirm
	}
	done, err := restore.Back(ctx, p, restore.BackOptions{Session: s, N: n, Both: withCode, Restore: o})
	if err != nil {
		return c.hintFiles(err, n)
	}
	c.out.endProgress()
	printPrompts(c.out, done.Prompts)
	if copyText && !r.dryRun {
		c.copyText(ctx, strings.Join(reversed(done.Prompts), "\n\n"))
	}
	if done.Older && withCode {
		c.out.warn("no checkpoint was taken at that prompt: the files are those of %s, from before an earlier one", c.called(done.Checkpoint))
	}
	if done.Without != nil {
		c.warnWithout(done)
	}
	if err := reportBack(c, done); err != nil || !r.resume || r.dryRun {
		return err
	}
	return c.resume(ctx, done.Conversation)
}

// hintFiles names the command for the files alone, where back finds no place in
// the conversation.
func (c *call) hintFiles(err error, n int) error {
	var none *conversation.NoConversationError
	if !errors.As(err, &none) {
		return err
	}
	files := fmt.Sprintf("rewind restore prompt~%d --code-only", n)
	if c.session != "" {
		files += " --session " + shellQuote(c.session)
	}
	if none.Before {
		return &hintedError{err, "start a new session, or restore only the files: " + files}
	}
	return &hintedError{err, files + " restores only the files"}
}

// backView answers back.
type backView struct {
	restoredView
	Prompts []string `json:"prompts"`
}

func reportBack(c *call, done *restore.Restored) error {
	if c.json {
		v := backView{viewRestored(done), done.Prompts}
		v.Instead = c.keeps(done)
		if v.Prompts == nil {
			v.Prompts = []string{}
		}
		if err := c.out.document(v); err != nil {
			return err
		}
	} else {
		printRestored(c, done, restoreCheckpoint)
		c.warnGit(done, done.DryRun)
	}
	if bad := problem.FailedOf(done.Skip); len(bad) > 0 {
		return &partialError{verb: "restored", paths: bad}
	}
	return nil
}

// printPrompts shows on stderr what was said and is taken back, oldest first.
func printPrompts(o *output, prompts []string) {
	if o.quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, text := range reversed(prompts) {
		for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
			mark := "> "
			if i > 0 {
				mark = "  "
			}
			fmt.Fprintf(o.stderr, "%s%s\n", o.errColor.Paint(screen.Dim, mark), escapeLine(strings.TrimSuffix(l, "\r")))
		}
	}
}

func reversed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[len(list)-1-i] = s
	}
	return out
}

// maxClipboard bounds what is sent to a terminal as a clipboard's content:
// terminals take about 74 KiB of base64 at least.
const maxClipboard = 54 << 10

// copyText puts a text on the clipboard: by the display's own program where
// there is one, else by asking the terminal to.
func (c *call) copyText(ctx context.Context, text string) {
	var tools [][]string
	if c.env.Getenv("WAYLAND_DISPLAY") != "" {
		tools = append(tools, []string{"wl-copy"})
	}
	if c.env.Getenv("DISPLAY") != "" {
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
	if !c.out.errTerm {
		c.out.warn("no clipboard is available")
		return
	}
	if len(text) > maxClipboard {
		c.out.warn("too long for the terminal's clipboard: %s", formatSize(int64(len(text))))
		return
	}
	code := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	if c.env.Getenv("TMUX") != "" {
		code = "\x1bPtmux;\x1b" + code + "\x1b\\" // tmux hands it on
	}
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	_, _ = io.WriteString(c.out.stderr, code) // a terminal that is gone has no clipboard
}
