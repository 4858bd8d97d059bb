package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"rewind/engine"
)

func newForget() *command {
	var yes, glob bool
	return &command{
		name:  "forget",
		usage: "[--yes] [--glob] -- path…",
		short: "take paths out of all checkpoints, for good",
		long: "Takes paths, such as a password that was captured, out of every checkpoint and every\n" +
			"operation. It cannot be undone. No byte of their content stays in the store or its\n" +
			"second name, unless the same content is kept under another path: then it says where.\n" +
			"The files in the working tree stay, also when an old checkpoint is restored. Somebody\n" +
			"who reads the store holds the last step up: then it is finished later (3), and rewind\n" +
			"status says so until it is. Without a terminal it needs --yes.\n" + aboutPaths,
		examples: []example{
			{"rewind forget -- .env", "one file"},
			{"rewind forget --yes -- 'secrets/**'", "a glob, without asking"},
		},
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&yes, "yes", "y", false, "do not ask; needed where there is no terminal")
			globFlag(f, &glob)
		},
		run: func(ctx context.Context, c *call) error {
			if len(c.paths) == 0 {
				return &usageError{msg: "too few arguments", hint: "rewind forget -- path…"}
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			paths, err := c.patterns(ctx, p, c.paths, glob)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				return &usageError{msg: "the whole project cannot be forgotten", hint: "rewind gc --keep 1 keeps the newest checkpoint only"}
			}
			question := fmt.Sprintf("This takes %s out of every checkpoint and cannot be undone. Go on?", plural(len(paths), "path", "paths"))
			if err := mayForget(c, yes, question); err != nil {
				return err
			}
			done, err := p.Forget(ctx, paths)
			if err != nil {
				return err
			}
			c.out.endProgress()
			return printForgotten(c, done)
		},
	}
}

// mayForget asks, for it cannot be undone; where nobody can be asked, --yes has to say it.
func mayForget(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	if !c.out.interactive() {
		return &engine.RefusedError{What: "forgetting cannot be undone, and there is no terminal to ask at", Next: "rewind forget --yes …"}
	}
	ok, err := c.out.ask("%s", question)
	if err == nil && !ok {
		err = &engine.DeclinedError{}
	}
	return err
}

func printForgotten(c *call, done *engine.Forgotten) error {
	if c.json {
		if err := c.out.document(viewForgotten(done)); err != nil {
			return err
		}
		return pendingForget(done)
	}
	if len(done.Paths) == 0 {
		c.out.summary("No checkpoint holds it.")
	} else {
		c.out.summary("Took %s out of %s, freed %s.", plural(len(done.Paths), "path", "paths"),
			plural(done.Checkpoints, "checkpoint", "checkpoints"), formatSize(done.Freed))
	}
	for _, path := range done.Paths {
		c.out.note("%s", path)
	}
	for _, l := range firstN(done.LivesOn, maxNamed) {
		c.out.warn("the same content lives on in %s, in %s", escape(l.Path), plural(l.Checkpoints, "checkpoint", "checkpoints"))
	}
	if n := len(done.LivesOn) - maxNamed; n > 0 {
		c.out.warn("and in %d more, all of them with --json", n)
	}
	if n := len(done.Present); n > 0 {
		c.out.warn("%s still in the working tree, and the next save takes %s again", isOrAre(done.Present), itOrThem(n))
		c.out.hint("leave %s out: a line in .rewindignore, or remove %s", itOrThem(n), itOrThem(n))
	}
	return pendingForget(done)
}

func isOrAre(paths []string) string {
	if len(paths) == 1 {
		return escape(paths[0]) + " is"
	}
	return plural(len(paths), "path", "paths") + " are"
}

func itOrThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// pendingForget says that bytes are still there. The answer has been printed.
func pendingForget(done *engine.Forgotten) error {
	if done.Pending == "" {
		return nil
	}
	return &partlyError{&hintedError{
		fmt.Errorf("it is in no checkpoint any more, but its bytes are still in the store: %s", done.Pending),
		"the next save or sweep removes them, rewind gc at once; rewind status tells until then",
	}}
}

type forgotView struct {
	Paths       []pathView    `json:"paths"`
	Checkpoints int           `json:"checkpoints"`
	Freed       int64         `json:"freed_bytes"`
	Pending     bool          `json:"pending"` // bytes are still in the store
	LivesOn     []livesOnView `json:"lives_on"`
	Present     []pathView    `json:"present"` // in the working tree
}

type livesOnView struct {
	pathView
	Checkpoints int `json:"checkpoints"`
}

func viewForgotten(done *engine.Forgotten) forgotView {
	v := forgotView{Paths: viewPaths(done.Paths), Checkpoints: done.Checkpoints, Freed: done.Freed, Pending: done.Pending != "", LivesOn: []livesOnView{}, Present: viewPaths(done.Present)}
	for _, l := range done.LivesOn {
		v.LivesOn = append(v.LivesOn, livesOnView{viewPath(l.Path), l.Checkpoints})
	}
	return v
}
