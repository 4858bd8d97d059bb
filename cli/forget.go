package cli

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/pflag"

	"rewind/engine"
	"rewind/engine/maintain"
	"rewind/engine/project"
)

func newForget() *command {
	var yes, glob, isRegexp bool
	var text string
	return &command{
		name:  "forget",
		usage: "[--yes] [--glob] -- path… | --text PATTERN [--regexp] [--yes]",
		short: "take paths, or a text that was said, out of all checkpoints, for good",
		long: "Takes paths, such as a password that was captured, out of every checkpoint and every\n" +
			"operation. It cannot be undone. No byte of their content stays in the store or its\n" +
			"mirror, unless the same content is kept under another path: then it says where.\n" +
			"The files in the working tree stay, also when an old checkpoint is restored. Somebody\n" +
			"who reads the store holds the last step up: then it is finished later (3), and rewind\n" +
			"status says so until it is. Without a terminal it needs --yes.\n" +
			"Other stores of this account with the same origin (copies of the project, or what it was\n" +
			"copied from, alive or gone) are named if they may hold it still, with the way (3).\n" +
			"With --text, a text is marked out of what is held of conversations: transcripts, tools'\n" +
			"outputs, prompts, descriptions. It is literal; with --regexp, a regular expression. The\n" +
			"agents' own files stay as they are: those that still hold it are named, and what an\n" +
			"agent writes anew of them is captured again.\n" + aboutPaths,
		examples: []example{
			{"rewind forget -- .env", "one file"},
			{"rewind forget --yes -- 'secrets/**'", "a glob, without asking"},
		},
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&yes, "yes", "y", false, "do not ask; needed where there is no terminal")
			globFlag(f, &glob)
			f.StringVar(&text, "text", "", "`pattern`: a text to mark out of conversations")
			f.BoolVar(&isRegexp, "regexp", false, "the text is a regular expression (RE2)")
		},
		run: func(ctx context.Context, c *call) error {
			switch {
			case isRegexp && text == "":
				return usagef("--regexp is for --text")
			case text != "" && (len(c.paths) > 0 || glob):
				return usagef("--text takes no path")
			case text != "":
				return forgetText(ctx, c, text, isRegexp, yes)
			case len(c.paths) == 0:
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
			done, err := maintain.Forget(ctx, p, paths)
			if err != nil {
				return err
			}
			c.out.endProgress()
			return printForgotten(c, done)
		},
	}
}

func forgetText(ctx context.Context, c *call, text string, isRegexp, yes bool) error {
	if isRegexp {
		if _, err := regexp.Compile(text); err != nil {
			return usagef("%v", err)
		}
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	if err := mayForget(c, yes, "This marks a text out of every conversation that is held, and cannot be undone. Go on?"); err != nil {
		return err
	}
	done, err := maintain.ForgetText(ctx, p, text, isRegexp)
	if err != nil {
		return err
	}
	c.out.endProgress()
	if c.json {
		if err := c.out.document(viewForgotten(done)); err != nil {
			return err
		}
		return leftOfForget(c, done)
	}
	if done.Texts == 0 {
		c.out.summary("Nothing that is held of conversations has it.")
	} else {
		c.out.summary("Marked it out in %s, of %s.", plural(done.Texts, "place", "places"), plural(done.Checkpoints, "checkpoint", "checkpoints"))
	}
	for _, file := range firstN(done.Still, maxNamed) {
		c.out.warn("the agent's own file still holds it: %s", escape(file))
	}
	if n := len(done.Still) - maxNamed; n > 0 {
		c.out.warn("and %d more, all of them with --json", n)
	}
	if len(done.Still) > 0 {
		c.out.hint("remove it there too: when the agent writes the file anew, it is captured again")
	}
	return leftOfForget(c, done)
}

// mayForget asks, for it cannot be undone; where nobody can be asked, --yes has to say it.
func mayForget(c *call, yes bool, question string) error {
	if yes {
		return nil
	}
	if !c.out.interactive() {
		return &project.RefusedError{What: "forgetting cannot be undone, and there is no terminal to ask at", Next: "rewind forget --yes …"}
	}
	ok, err := c.out.ask("%s", question)
	if err == nil && !ok {
		err = &engine.DeclinedError{}
	}
	return err
}

func printForgotten(c *call, done *maintain.Forgotten) error {
	if c.json {
		if err := c.out.document(viewForgotten(done)); err != nil {
			return err
		}
		return leftOfForget(c, done)
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
	return leftOfForget(c, done)
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

// leftOfForget says where bytes are still: in this store, or in others. The answer has been printed.
func leftOfForget(c *call, done *maintain.Forgotten) error {
	if !c.json {
		for _, s := range done.Others {
			c.out.warn("%s", otherStore(s, done.Found()))
			c.out.hint("%s", wayToForget(s))
		}
	}
	if done.Pending == "" {
		if len(done.Others) == 0 || !done.Found() {
			return nil
		}
		return &partlyError{&hintedError{
			fmt.Errorf("it is gone from this store, but not from %s of this account", plural(len(done.Others), "other store", "other stores")),
			wayToForget(done.Others[0]),
		}}
	}
	return &partlyError{&hintedError{
		fmt.Errorf("it is in no checkpoint any more, but its bytes are still in the store: %s", done.Pending),
		"the next save or sweep removes them, rewind gc at once; rewind status tells until then",
	}}
}

// otherStore says that a store with the same origin may hold what was forgotten here.
func otherStore(s project.RegisteredStore, found bool) string {
	name := "the store " + shortStore(s.ID)
	if s.Root != "" {
		name += " of " + escape(s.Root)
	}
	name += " (" + string(s.State) + ")"
	if found {
		return name + " has the same origin, and still holds it, or may"
	}
	return name + " has the same origin, and was not looked into"
}

// wayToForget is the command that takes it out of another store too.
func wayToForget(s project.RegisteredStore) string {
	switch {
	case s.State.Dead():
		return "rewind stores rm " + shortStore(s.ID) + " takes that store away"
	case s.State == project.StoreLive || s.State == project.StoreLost:
		return "rewind forget --root " + shellQuote(s.Root) + " … does it there"
	}
	return "run rewind forget in its project, or take it away: rewind stores rm " + shortStore(s.ID)
}

type forgotView struct {
	Paths       []pathView       `json:"paths"`
	Checkpoints int              `json:"checkpoints"`
	Freed       int64            `json:"freed_bytes"`
	Pending     bool             `json:"pending"` // bytes are still in the store
	LivesOn     []livesOnView    `json:"lives_on"`
	Present     []pathView       `json:"present"` // in the working tree
	Texts       int              `json:"texts"`   // places that --text marked
	Still       []string         `json:"still"`   // the agents' own files that hold it
	Others      []otherStoreView `json:"other_stores"`
}

// otherStoreView is a store with the same origin that may hold it.
type otherStoreView struct {
	ID    string `json:"id"`
	Root  string `json:"root"`
	State string `json:"state"`
	Next  string `json:"next"` // the way
}

type livesOnView struct {
	pathView
	Checkpoints int `json:"checkpoints"`
}

func viewForgotten(done *maintain.Forgotten) forgotView {
	v := forgotView{Paths: viewPaths(done.Paths), Checkpoints: done.Checkpoints, Freed: done.Freed, Pending: done.Pending != "", LivesOn: []livesOnView{}, Present: viewPaths(done.Present), Texts: done.Texts, Still: append([]string{}, done.Still...), Others: []otherStoreView{}}
	for _, s := range done.Others {
		v.Others = append(v.Others, otherStoreView{s.ID, viewPath(s.Root).Path, string(s.State), wayToForget(s)})
	}
	for _, l := range done.LivesOn {
		v.LivesOn = append(v.LivesOn, livesOnView{viewPath(l.Path), l.Checkpoints})
	}
	return v
}
