package remote

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/remote"
)

// NewClone makes the command that brings a remote to another machine.
func NewClone() *app.Command {
	var log string
	var k keyFlags
	return &app.Command{
		Name:  "clone",
		Usage: "URL DIR [--key FILE] [--passphrase[=FILE]] [--log ID]",
		Short: "bring a project from a remote to this machine",
		Long: "Makes DIR, with a store that has the checkpoints of the remote. No file of the project\n" +
			"is written yet: rewind restore last, run there, does that. The clone pushes to the same\n" +
			"remote; one of a single checkpoint, as rewind share makes it, has none. The remote's key\n" +
			"is read from --key FILE (- is standard input), from $REWIND_REMOTE_KEY, or from this\n" +
			"account if it has it; else you are asked for it. FILE can also be your own key, if rewind\n" +
			"remote key add was given its public half: a file of age identities, or an ssh key.\n" +
			"--passphrase asks for that of the remote, or reads it from a file. Where several machines\n" +
			"have pushed, each its own, the clone has the log that was pushed to last; the others are\n" +
			"named, and --log takes one of them. A log that was pushed without the key is only taken\n" +
			"so: anybody who can write to the place can make one. Precious files are only there if\n" +
			"they were pushed. After an interruption, the same command continues.",
		Examples: []app.Example{
			{Line: "rewind clone s3://backups/project project", Does: "the store, then: cd project && rewind restore last --resume"},
		},
		Answers: app.Answers{"clone": clonedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitDamaged, app.ExitRefused, app.ExitUnreachable},
		MinArgs: 2, MaxArgs: 2,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&log, "log", "", "take the log with this `ID`")
			k.addTo(f, "the remote's key, or your own, from `FILE`", "open the remote with its passphrase, from `FILE`")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			o := remote.CloneOptions{OpenOptions: c.OpenOptions(), URL: c.Args[0], Dir: c.Args[1], Name: "origin", Log: log}
			if o.Dir == "" {
				return &app.UsageError{Msg: "an argument is an empty string", Hint: "rewind clone URL DIR"}
			}
			if !filepath.IsAbs(o.Dir) {
				o.Dir = filepath.Join(c.Env.Dir, o.Dir)
			}
			var err error
			if o.Key, err = k.given(c); err != nil {
				return err
			}
			done, err := remote.Clone(ctx, o)
			var key *remote.KeyError
			if errors.As(err, &key) && key.Missing && len(key.For) == 0 && o.Key.Ask != nil && o.Key.Text == "" {
				text, aerr := o.Key.Ask("Key (AGE-SECRET-KEY-…): ")
				if aerr != nil {
					return aerr
				}
				if o.Key.Text = strings.TrimSpace(string(text)); o.Key.Text != "" {
					done, err = remote.Clone(ctx, o)
				}
			}
			if err != nil {
				return err
			}
			if err := c.Opened(ctx, done.Project); err != nil {
				return err
			}
			c.Out.EndProgress()
			return reportCloned(c, done, o.Dir)
		},
	}
}

type clonedView struct {
	Root        string    `json:"root"`
	Machine     string    `json:"machine"`
	From        string    `json:"from"`  // the project's directory there
	Share       bool      `json:"share"` // it is one checkpoint that was shared, and has no remote
	Checkpoints int       `json:"checkpoints"`
	Bytes       int64     `json:"bytes"`
	Requests    int       `json:"requests"`
	Torn        []string  `json:"torn"`   // names of segments that are not whole
	Others      []logView `json:"others"` // logs of the remote that the clone has not
}

type logView struct {
	Log      string `json:"log"`
	Pushed   string `json:"pushed"`
	Unsigned bool   `json:"unsigned"` // it was found to be pushed without the key
}

func reportCloned(c *app.Call, done *remote.Cloned, dir string) error {
	from, err := strconv.Unquote(done.Root)
	if err != nil {
		from = ""
	}
	if c.JSON {
		return c.Out.Document(clonedView{app.ViewPath(dir).Path, done.Machine, app.ViewPath(from).Path, done.Remote == nil, done.Checkpoints, done.Bytes, done.Requests, append([]string{}, done.Torn...),
			app.Map(done.Others, func(l remote.Log) logView { return logView{l.ID, app.ViewTime(l.Pushed), l.Unsigned} })})
	}
	c.Out.Summary("Cloned %s of %s on %s into %s.", app.Plural(done.Checkpoints, "checkpoint", "checkpoints"), app.Escape(from),
		app.Escape(done.Machine), app.Escape(dir))
	for _, name := range done.Torn {
		warnTorn(c, name)
	}
	for _, l := range done.Others {
		if l.Unsigned {
			c.Out.Warn("a log of the remote is not in the clone, since it was pushed, in part or as a whole, without the remote's key: %s, pushed to %s", l.ID, app.Ago(c.Out, l.Pushed))
			continue
		}
		c.Out.Warn("another log of the remote is not in the clone: %s, pushed to %s", l.ID, app.Ago(c.Out, l.Pushed))
	}
	if len(done.Others) > 0 {
		c.Out.Hint("rewind clone URL DIR --log ID takes one of them")
	}
	if done.Remote == nil {
		c.Out.Hint("cd %s && rewind restore last writes the files; what is saved there is pushed nowhere", app.ShellQuote(dir))
		return nil
	}
	c.Out.Hint("cd %s && rewind restore last --resume writes the files and continues the session", app.ShellQuote(dir))
	return nil
}

// warnTorn says that an object was left out.
func warnTorn(c *app.Call, name string) {
	c.Out.Warn("an object of the remote is not whole, and was left out: %s. If its push was not interrupted, checkpoints are missing here: rewind push --check, on the machine that pushed them, sends them again", app.Escape(name))
}
