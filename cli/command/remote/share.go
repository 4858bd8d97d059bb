package remote

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/remote"
)

// NewShare makes the command that gives one checkpoint to somebody else.
func NewShare() *app.Command {
	var name, removed string
	var o remote.ShareOptions
	var list bool
	return &app.Command{
		Name:  "share",
		Usage: "<ckpt> [--remote NAME] [--with-precious] [--with-conversation] | --list | --remove ID",
		Short: "give one checkpoint to somebody else, by a remote",
		Long: "Puts one checkpoint into the remote, sealed with a key of its own, and prints the command\n" +
			"with which somebody else makes a project of it. They need that line and the right to read\n" +
			"the place, and can read nothing else there. The key is read from standard input, since\n" +
			"other accounts can see the arguments of a command: pass the line on privately. Without\n" +
			"--key, on a terminal, clone asks for it. What is cloned does not push anywhere, and\n" +
			"nothing that is saved here later is in it.\n\n" +
			"Precious files (ignored by git but captured, such as .env) are left out, and so is the\n" +
			"conversation: prompts, tool calls, the agent and its session. --with-precious and\n" +
			"--with-conversation send them. A conversation goes as it is, with all that an agent read\n" +
			"or printed. --list shows what was shared, and --remove takes it out of the remote; who\n" +
			"cloned it before keeps it.",
		Examples: []app.Example{
			{Line: "rewind share last", Does: "the newest checkpoint"},
			{Line: "rewind share 3 --with-conversation", Does: "and the conversation up to there"},
			{Line: "rewind share --list", Does: "what was shared, and is still there"},
		},
		Answers: app.Answers{"share": sharedView{}, "share-list": sharesView{}, "share-remove": unsharedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitUnreachable},
		MaxArgs: 1, Pulled: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "remote", "", "the remote with this `NAME`")
			f.BoolVar(&o.Precious, "with-precious", false, "precious files, too")
			f.BoolVar(&o.Conversation, "with-conversation", false, "the conversation, too")
			f.BoolVar(&list, "list", false, "what was shared")
			f.StringVar(&removed, "remove", "", "remove the share with this `ID` from the remote")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			remove := c.Flags.Changed("remove")
			switch {
			case list && remove, (list || remove) && (len(c.Args) > 0 || o.Precious || o.Conversation):
				return &app.UsageError{Msg: "--list and --remove go alone", Hint: "rewind share --list"}
			case !list && !remove && len(c.Args) == 0:
				return &app.UsageError{Msg: "too few arguments: <ckpt> is missing", Hint: "rewind share last"}
			}
			for _, flag := range []string{"remove", "remote"} {
				if err := c.NotEmpty(flag); err != nil {
					return err
				}
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			r, err := remote.Find(p, name)
			if err != nil {
				return err
			}
			switch {
			case list:
				return listShares(ctx, c, r)
			case remove:
				return removeShare(ctx, c, r, removed)
			}
			l, err := c.Resolve(ctx, p, c.Args[0])
			if err != nil {
				return err
			}
			o.Checkpoint, o.Label = l.Checkpoint, rows.Briefly(l)
			done, err := r.Share(ctx, o)
			if err != nil {
				return err
			}
			c.Out.EndProgress()
			command := "echo " + done.Key.String() + " | rewind clone " + app.ShellQuote(done.Address) + " " + app.ShellQuote(filepath.Base(p.Root())) + " --key -"
			if c.JSON {
				return c.Out.Document(sharedView{r.Name, done.ID, l.ID.String(), done.Address, done.Key.String(), command, done.Talk, done.LeftOut, done.Bytes, done.Requests})
			}
			c.Out.Summary("Shared %s: %s. Whoever runs this line, and may read %s, gets it as a project:", rows.Named(c.Out, l), app.FormatSize(done.Bytes), app.Escape(done.Address))
			c.Out.Line("%s", app.Escape(command))
			if done.LeftOut > 0 {
				c.Out.Warn("%s left out; --with-precious sends them", app.Plural(int(done.LeftOut), "precious file was", "precious files were"))
			}
			switch {
			case o.Conversation && !done.Talk:
				c.Out.Warn("the checkpoint has no conversation")
			case done.Talk:
				c.Out.Warn("the conversation goes as it is, with all that the agent read or printed")
			}
			c.Out.Hint("the line has the key: pass it on privately. rewind share --remove %s removes the share", done.ID)
			return nil
		},
	}
}

type sharedView struct {
	Remote     string `json:"remote"`
	Share      string `json:"share"`
	Checkpoint string `json:"checkpoint"`
	URL        string `json:"url"`
	Key        string `json:"key"`
	Command    string `json:"command"`
	Talk       bool   `json:"conversation"`
	LeftOut    uint64 `json:"precious_left_out"`
	Bytes      int64  `json:"bytes"`
	Requests   int    `json:"requests"`
}

type shareView struct {
	Share      string  `json:"share"`
	Whole      bool    `json:"whole"`      // it can be cloned
	Checkpoint string  `json:"checkpoint"` // "" where this account cannot read that; likewise the next ones
	Label      string  `json:"label"`
	Machine    string  `json:"machine"`
	Time       *string `json:"time"`
	Bytes      int64   `json:"bytes"`
}

type sharesView struct {
	Remote string      `json:"remote"`
	Shares []shareView `json:"shares"`
}

type unsharedView struct {
	Remote string `json:"remote"`
	Share  string `json:"share"`
	Bytes  int64  `json:"bytes"`
}

func listShares(ctx context.Context, c *app.Call, r *remote.Remote) error {
	all, err := r.Shares(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(sharesView{r.Name, app.Map(all, func(s remote.Share) shareView {
			v := shareView{s.ID, s.Whole, s.Checkpoint, s.Label, s.Machine, nil, s.Bytes}
			if !s.Time.IsZero() {
				v.Time = new(app.ViewTime(s.Time))
			}
			return v
		})})
	}
	for _, s := range all {
		parts := []string{s.ID, app.FormatSize(s.Bytes)}
		if s.Checkpoint != "" {
			parts = append(parts, app.Escape(app.FirstLine(s.Label)), "shared "+app.Ago(c.Out, s.Time)+" on "+app.Escape(s.Machine))
		}
		if !s.Whole {
			parts = append(parts, "not complete: it cannot be cloned")
		}
		c.Out.Line("%s", strings.Join(parts, "  "))
	}
	if len(all) == 0 {
		c.Out.Summary("Nothing is shared in %s.", r.Name)
		return nil
	}
	c.Out.Hint("rewind share --remove ID removes one")
	return nil
}

func removeShare(ctx context.Context, c *app.Call, r *remote.Remote, id string) error {
	done, err := r.RemoveShare(ctx, id)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(unsharedView{r.Name, done.ID, done.Bytes})
	}
	c.Out.Summary("Removed the share %s from %s. Who has cloned it keeps the clone.", done.ID, r.Name)
	return nil
}
