package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

func newForget() *command {
	var yes, glob, isRegexp bool
	var text string
	return &command{
		name:  "forget",
		usage: "[--yes] [--glob] -- path… | --text PATTERN [--regexp] [--yes]",
		short: "remove paths or text from all checkpoints, permanently",
		long: "Removes paths, such as a file with a password, from every checkpoint and every operation.\n" +
			"This cannot be undone. None of their content stays in the store or its mirror, unless the\n" +
			"same content is also stored under another path: forget then says where. The files in the\n" +
			"working tree are kept, also when an old checkpoint is restored. While another process\n" +
			"reads the store, the last step has to wait: it is done later (exit code 3), and rewind\n" +
			"status says so until then. Without a terminal, --yes is required.\n" +
			"Other stores of this account with the same origin (copies of the project, or what it was\n" +
			"copied from, even if deleted) are listed if they may still hold it, with the command to\n" +
			"run (exit code 3).\n" +
			"--text redacts a text in the stored conversations: transcripts, tool output, prompts,\n" +
			"descriptions. The text is literal, or a regular expression with --regexp. The agents' own\n" +
			"files are not changed: those that still contain it are listed, and whatever an agent\n" +
			"writes from them later is captured again.\n" + aboutPaths,
		examples: []example{
			{"rewind forget -- .env", "one file"},
			{"rewind forget --yes -- 'secrets/**'", "a glob, without asking"},
		},
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&yes, "yes", "y", false, "do not ask; required without a terminal")
			globFlag(f, &glob)
			f.StringVar(&text, "text", "", "redact this `pattern` in conversations")
			f.BoolVar(&isRegexp, "regexp", false, "the text is a regular expression (RE2)")
		},
		run: func(ctx context.Context, c *call) error {
			switch {
			case isRegexp && text == "":
				return usagef("--regexp needs --text")
			case text != "" && (len(c.paths) > 0 || glob):
				return usagef("--text takes no paths")
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
			question := fmt.Sprintf("This removes %s from every checkpoint and cannot be undone. Continue?", plural(len(paths), "path", "paths"))
			if err := mayForget(c, yes, question); err != nil {
				return err
			}
			done, err := maintain.Forget(ctx, p, paths)
			engine.WriteHistory(ctx, p)
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
	if err := mayForget(c, yes, "This redacts the text in every stored conversation and cannot be undone. Continue?"); err != nil {
		return err
	}
	done, err := maintain.ForgetText(ctx, p, text, isRegexp)
	engine.WriteHistory(ctx, p)
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
		c.out.summary("No stored conversation contains it.")
	} else {
		c.out.summary("Redacted %s in %s.", plural(done.Texts, "occurrence", "occurrences"), plural(done.Checkpoints, "checkpoint", "checkpoints"))
	}
	for _, file := range firstN(done.Still, maxNamed) {
		whose := "the agent's own file"
		if filepath.Base(file) == project.OlderTranscript {
			whose = "a checkpoint of the older rewind"
		}
		c.out.warn("%s still contains it: %s", whose, escape(file))
	}
	if n := len(done.Still) - maxNamed; n > 0 {
		c.out.warn("and %d more, all of them with --json", n)
	}
	if len(done.Still) > 0 {
		c.out.hint("remove it there too, or it is captured again when the agent rewrites the file")
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
		c.out.summary("No checkpoint contains it.")
	} else {
		c.out.summary("Removed %s from %s, freed %s.", plural(len(done.Paths), "path", "paths"),
			plural(done.Checkpoints, "checkpoint", "checkpoints"), formatSize(done.Freed))
	}
	for _, path := range done.Paths {
		c.out.note("%s", path)
	}
	for _, l := range firstN(done.LivesOn, maxNamed) {
		c.out.warn("the same content is still stored as %s, in %s", escape(l.Path), plural(l.Checkpoints, "checkpoint", "checkpoints"))
	}
	if n := len(done.LivesOn) - maxNamed; n > 0 {
		c.out.warn("and %d more; --json lists all", n)
	}
	if n := len(done.Present); n > 0 {
		c.out.warn("%s still in the working tree, and the next save will capture %s again", isOrAre(done.Present), itOrThem(n))
		c.out.hint("to prevent that, add %s to .rewindignore, or delete %s", itOrThem(n), itOrThem(n))
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
		fmt.Errorf("no checkpoint contains it any more, but its bytes are still in the store: %s", done.Pending),
		"the next save or sweep removes them, or rewind gc now; rewind status shows it until then",
	}}
}

// otherStore says that a store with the same origin may hold what was forgotten here.
func otherStore(s stores.Registered, found bool) string {
	name := "the store " + shortStore(s.ID)
	if s.Root != "" {
		name += " of " + escape(s.Root)
	}
	name += " (" + stateText(s.State) + ")"
	if found {
		return name + " has the same origin and may still contain it"
	}
	return name + " has the same origin and was not checked"
}

// wayToForget is the command that takes it out of another store too.
func wayToForget(s stores.Registered) string {
	switch {
	case s.State.Dead():
		return "rewind stores rm " + shortStore(s.ID) + " removes that store"
	case s.State == account.Live || s.State == account.Lost:
		return "rewind forget --root " + shellQuote(s.Root) + " … removes it there"
	}
	return "run rewind forget in its project, or remove the store: rewind stores rm " + shortStore(s.ID)
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
