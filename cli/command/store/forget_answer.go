package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// print says what was forgotten, and where it is still.
func (f forgetFlags) print(ctx context.Context, c *app.Call, p *project.Project, done *maintain.Forgotten, err error, text func()) error {
	if !f.dryRun {
		restore.WriteHistory(ctx, p)
	}
	if err != nil {
		return err
	}
	c.Out.EndProgress()
	if c.JSON {
		err = c.Out.Document(viewForgotten(done))
	} else {
		text()
		if n := len(done.Copies); n > 0 {
			c.Out.Summary("Removed %s of packs that were beside the packs.", app.Plural(n, "copy", "copies"))
		}
		if n := done.GitStates; n > 0 {
			c.Out.Summary("%s git's own state from %s: --git cannot restore %s.", app.Did(f.dryRun, "Removed", "Would remove"), app.Plural(n, "checkpoint", "checkpoints"), app.ItOrThem(n))
		}
		printStill(c, done)
		printNamed(c, done)
		warnGit(c, done)
	}
	if err != nil {
		return err
	}
	return leftOfForget(c, done)
}

// printStill names the files outside of the store that hold it.
func printStill(c *app.Call, done *maintain.Forgotten) {
	app.WarnEach(c.Out, done.Still, app.InJSON, func(file string) string {
		whose := "the agent's own file"
		switch {
		case slices.Contains(done.Forks, file):
			whose = "a forked conversation, which a restore created for the agent,"
		case filepath.Base(file) == project.OlderTranscript:
			whose = "a checkpoint of the older rewind"
		}
		return whose + " still contains it: " + app.Escape(file)
	})
	if len(done.Still) > 0 {
		c.Out.Hint("rewind does not change agents' files: remove it there too, or it is captured again when the agent rewrites the file")
	}
}

// printNamed names the paths and the settings that have a text themselves.
func printNamed(c *app.Call, done *maintain.Forgotten) {
	if n := len(done.Named); n > 0 {
		c.Out.Warn("%s in checkpoints with it in the name: %s", app.ByCount(n, "there is a path", "there are paths"), strings.Join(app.Map(app.FirstN(done.Named, maxNamed), app.Escape), ", ")+more(n))
		c.Out.Hint("rewind forget -- path… removes a path, with its name")
	}
	app.WarnEach(c.Out, done.Settings, app.InJSON, func(file string) string { return "the settings still contain it: " + app.Escape(file) })
	if len(done.Settings) > 0 {
		c.Out.Hint("remove it there, or it is in the rules of the next checkpoint again")
	}
}

// more says how many of n are not named.
func more(n int) string {
	if n <= maxNamed {
		return ""
	}
	return fmt.Sprintf(" and %d more", n-maxNamed)
}

// maxNamed is how many files of git, and commits, are named.
const maxNamed = 3

// warnGit names what git's repositories have of a text.
func warnGit(c *app.Call, done *maintain.Forgotten) {
	app.WarnEach(c.Out, done.Git, app.InJSON, func(g maintain.GitHas) string {
		named := func(all []string) string {
			return strings.Join(app.FirstN(all, maxNamed), ", ") + more(len(all))
		}
		var places []string
		count := func(ids []string, one, many string) {
			if n := len(ids); n > 0 {
				short := app.Map(ids, func(id string) string { return id[:min(len(id), app.ShortID)] })
				places = append(places, app.Plural(n, one, many)+" ("+named(short)+")")
			}
		}
		count(g.Objects, "object", "objects")
		count(g.Commits, "commit", "commits")
		count(g.Tags, "tag", "tags")
		count(g.Notes, "note", "notes")
		count(g.Trees, "tree", "trees")
		if len(g.Files) > 0 {
			places = append(places, named(g.Files))
		}
		if len(places) == 0 {
			return "git has too many objects: not all of its commits, tags and trees were searched"
		}
		return app.Escape("git still has it in " + strings.Join(places, ", and in ") + ": the next checkpoint holds that again")
	})
	if len(done.Git) > 0 {
		c.Out.Hint("remove it from git first, as with git commit --amend, git branch -m, git reflog expire --expire=now --all and git gc --prune=now; then run this forget again")
	}
}
func printPaths(c *app.Call, done *maintain.Forgotten) {
	did := func(did, would string) string { return app.Did(done.DryRun, did, would) }
	if len(done.Paths) == 0 {
		c.Out.Summary("No checkpoint contains it.")
	} else {
		freed := did(", freed "+app.FormatSize(done.Freed), "")
		c.Out.Summary("%s %s from %s%s.", did("Removed", "Would remove"), app.Plural(len(done.Paths), "path", "paths"), app.Plural(done.Checkpoints, "checkpoint", "checkpoints"), freed)
	}
	for _, path := range done.Paths {
		c.Out.Note("%s", path)
	}
	if done.Texts > 0 {
		c.Out.Summary("%s %s of its lines in conversations.", did("Redacted", "Would redact"), app.Plural(done.Texts, "occurrence", "occurrences"))
	}
	if n := done.HeldObjects + done.HeldPacks; n > 0 {
		var what []string
		if done.HeldObjects > 0 {
			what = append(what, app.Plural(done.HeldObjects, "object of git", "objects of git"))
		}
		if done.HeldPacks > 0 {
			what = append(what, app.Plural(done.HeldPacks, "whole pack of git", "whole packs of git"))
		}
		c.Out.Summary("%s rewind's %s of %s with its content, which no repository has any more: --git cannot restore what needs them.",
			did("Removed", "Would remove"), app.ByCount(n, "copy", "copies"), strings.Join(what, " and "))
	}
	app.WarnEach(c.Out, done.LivesOn, app.InJSON, func(l maintain.LivesOn) string {
		return fmt.Sprintf("the same content is still stored as %s, in %s", app.Escape(l.Path), app.Plural(l.Checkpoints, "checkpoint", "checkpoints"))
	})
	if done.Missed > 0 {
		c.Out.Warn("%s not searched for in conversations: too large, or too many", app.Plural(done.Missed, "version of the files was", "versions of the files were"))
	}
	if done.Unsearched != "" {
		c.Out.Warn("commits that are held of git may have it under a path that no checkpoint has: %s", done.Unsearched)
		c.Out.Hint("rewind forget --text PATTERN removes all of rewind's copies of git's objects")
	}
	if done.Mentions > 0 && len(done.Paths) == 0 {
		c.Out.Summary("%s; the content of what was forgotten before is not known any more, so it was not redacted there.", app.Plural(done.Mentions,
			"entry in conversations mentions it by name", "entries in conversations mention it by name"))
	} else if done.Mentions > 0 {
		c.Out.Summary("%s; only whole lines of the file are redacted there.", app.Plural(done.Mentions,
			"entry in conversations mentions it by name, or contains a value from it", "entries in conversations mention it by name, or contain a value from it"))
	}
	if done.Missed+done.Mentions > 0 {
		c.Out.Hint("rewind forget --text PATTERN redacts a text in all conversations")
	}
	if n := len(done.Present); n > 0 {
		c.Out.Warn("%s still in the working tree, and the next save will capture %s again", isOrAre(done.Present), app.ItOrThem(n))
		c.Out.Hint("to prevent that, add %s to .rewindignore, or delete %s", app.ItOrThem(n), app.ItOrThem(n))
	}
}

func isOrAre(paths []string) string {
	if len(paths) == 1 {
		return app.Escape(paths[0]) + " is"
	}
	return app.Plural(len(paths), "path", "paths") + " are"
}

// leftOfForget says where bytes are still: in this store, or in others. The answer has been printed.
func leftOfForget(c *app.Call, done *maintain.Forgotten) error {
	if !c.JSON {
		for _, s := range done.Others {
			c.Out.Warn("%s", otherStore(s))
			c.Out.Hint("%s", wayToForget(s.Registered))
		}
		app.WarnEach(c.Out, done.Unread, app.InJSON, func(k manifest.Checkpoint) string {
			return fmt.Sprintf("not all of checkpoint %s could be searched, since the store has lost a part of it", rows.Called(c, k))
		})
		warnHomes(c, done)
		app.WarnEach(c.Out, done.Left, app.InJSON, func(path string) string {
			return "left by a restore that was killed, and may contain a part of it: " + app.Escape(path)
		})
		if len(done.Pulled) > 0 {
			c.Out.Summary("%s what was pulled of %s, which may contain it: rewind pull fetches it again.", app.Did(done.DryRun, "Dropped", "Would drop"), strings.Join(done.Pulled, ", "))
		}
		app.WarnEach(c.Out, done.Remotes, app.InJSON, func(name string) string {
			whose := "its key"
			if r, err := remote.Find(c.Project, name); err == nil {
				whose = fmt.Sprintf("its key %d", r.Epoch())
			}
			return "what was pushed to the remote " + name + " before stays there, for whoever has " + whose
		})
		for _, name := range done.Remotes {
			c.Out.Hint("rewind remote key rotate %s --rewrite pushes what is left for a new key; then rewind remote gc %s --log ID, with the ID that it prints, deletes what was pushed before", name, name)
		}
		app.WarnEach(c.Out, done.Shares, app.InJSON, func(s remote.KnownShare) string {
			return "the share " + s.ID + " in " + s.Remote + " may contain it, for whoever has its line"
		})
		for _, s := range done.Shares {
			c.Out.Hint("%s removes it; who has cloned it keeps the clone", nextOfShare(s))
		}
		app.WarnEach(c.Out, done.Strays, app.InJSON, func(path string) string { return "not the store's own, and not searched: " + app.Escape(path) })
	}
	suspects := slices.DeleteFunc(slices.Clone(done.Others), func(s stores.Relative) bool { return !s.Suspect })
	if n := len(done.Unread); n > 0 && done.Pending == "" && done.Elsewhere()+len(suspects) == 0 {
		return &app.PartlyError{Err: app.Hinted(
			fmt.Errorf("it is gone from all that can be read, but %s may still name it", app.Plural(n, "checkpoint", "checkpoints")),
			"rewind forget --checkpoint "+done.Unread[0].ID.String()[:app.ShortID]+" removes that checkpoint",
		)}
	}
	if done.Pending == "" {
		if n := len(done.Left); n > 0 {
			return &app.PartlyError{Err: app.Hinted(
				fmt.Errorf("it is gone from this store, but a restore that was killed left %s in the project", app.Plural(n, "temporary file", "temporary files")),
				"look into them, and delete them",
			)}
		}
		if n := len(done.Strays); n > 0 && done.Elsewhere()+len(suspects) == 0 {
			return &app.PartlyError{Err: app.Hinted(
				fmt.Errorf("it is gone from this store, but its directory has %s not the store's own", app.Plural(n, "file that is", "files that are")),
				"delete them, or look into them; rewind verify lists them",
			)}
		}
		if len(suspects) == 0 && slices.ContainsFunc(done.Git, func(g maintain.GitHas) bool { return len(g.Objects) > 0 }) {
			return &app.PartlyError{Err: errors.New("it is gone from all checkpoints, but git still has it, and so it is held with git's objects")}
		}
		if done.Elsewhere() > 0 && len(suspects) == 0 {
			text, where := "it is gone from this store, but %s may still have it", "another account's mirror"
			if !done.Found() {
				text = "no checkpoint contains it any more, but %s may still have it"
			}
			if len(done.Homes)+len(done.Beside) == 0 {
				where = "files that are linked elsewhere"
			}
			return &app.PartlyError{Err: fmt.Errorf(text, where)}
		}
		remotes := slices.Clone(done.Remotes)
		for _, s := range done.Shares {
			if !slices.Contains(remotes, s.Remote) {
				remotes = append(remotes, s.Remote)
			}
		}
		if len(suspects) == 0 && len(remotes) > 0 && (done.Found() || len(done.Pulled) > 0) {
			text := "it is gone from this store, but %s may have it, from an earlier push"
			if !done.Found() { // the machines whose pulled checkpoints were dropped may have pushed it
				text = "no checkpoint of this store contains it, but %s may have it, from another machine"
			}
			return &app.PartlyError{Err: app.Hinted(fmt.Errorf(text, strings.Join(remotes, ", ")),
				"change a secret that was pushed; or delete the remote's objects, then: rewind remote remove, and add it again")}
		}
		if len(suspects) == 0 {
			return nil
		}
		text, others := "it is gone from this store, but not from %s of this account", app.Plural(len(suspects), "other store", "other stores")
		if !done.Found() {
			text = "no checkpoint contains it any more, but %s of this account may"
		}
		return &app.PartlyError{Err: app.Hinted(fmt.Errorf(text, others), wayToForget(suspects[0].Registered))}
	}
	return &app.PartlyError{Err: app.Hinted(
		fmt.Errorf("no checkpoint contains it any more, but its bytes are still in the store: %s", done.Pending),
		"the next save or sweep removes them, or rewind gc now; rewind status shows it until then",
	)}
}

// warnHomes names the accounts whose mirrors may have it.
func warnHomes(c *app.Call, done *maintain.Forgotten) {
	app.WarnEach(c.Out, done.Homes, app.InJSON, func(h account.Home) string {
		if !h.Known() {
			return "another account's mirror may still contain it: which one is not known"
		}
		return fmt.Sprintf("another account's mirror may still contain it: that of the home %s on %s, last seen %s", app.Escape(h.Dir()), app.Escape(h.Host), app.Ago(c.Out, h.Seen))
	})
	if n := len(done.Homes); n > 0 {
		files := app.Map(app.FirstN(done.Homes, maxNamed), func(h account.Home) string { return app.Escape(h.File) })
		c.Out.Hint("that account's next command in this project, such as rewind list, removes it there; if that home is gone for good, delete %s", strings.Join(files, ", "))
	}
	for _, b := range done.Beside {
		c.Out.Warn("another account's mirror may still contain it: that of the home %s on %s, of the store of %s", app.Escape(b.Dir()), app.Escape(b.Host), app.Escape(b.Root))
		if b.Asked {
			c.Out.Hint("that account's next command in %s, such as rewind list, removes it there; if that home is gone for good, delete %s", app.Escape(b.Root), app.Escape(b.File))
		} else {
			c.Out.Hint("that account removes it there with: rewind forget --root %s …", app.ShellQuote(b.Root))
		}
	}
	if done.Links > 0 {
		c.Out.Warn("removed files that may contain it were also linked outside of this store and of the mirrors that it knows")
		c.Out.Hint("another account's mirror loses them with that account's next command in this project; of a copy made with hard links, delete that, and then %s", app.Escape(done.LinksFile))
	}
}

// otherStore says why another store may hold what was forgotten here.
func otherStore(s stores.Relative) string {
	name := "the store " + app.ShortStore(s.ID)
	if s.Root != "" {
		name += " of " + app.Escape(s.Root)
	}
	name += " (" + StateText(s.State) + ")"
	switch {
	case s.Holds:
		return name + " holds objects or state of git that contain it"
	case s.SameGit:
		return name + " has state of the same git repository that contains it"
	case !s.SameOrigin:
		return name + " has a conversation of the same session that contains it"
	case s.Suspect:
		return name + " has the same origin and may still contain it"
	}
	return name + " has the same origin and was not checked"
}

// wayToForget is the command that takes it out of another store too.
func wayToForget(s stores.Registered) string {
	switch {
	case s.State.Dead():
		return "rewind stores rm " + app.ShortStore(s.ID) + " removes that store"
	case s.State == account.Live || s.State == account.Lost:
		return "rewind forget --root " + app.ShellQuote(s.Root) + " … removes it there"
	}
	return "run rewind forget in its project, or remove the store: rewind stores rm " + app.ShortStore(s.ID)
}

type forgotView struct {
	Paths       []app.PathView   `json:"paths"`
	Checkpoints int              `json:"checkpoints"`
	Freed       int64            `json:"freed_bytes"`
	Pending     bool             `json:"pending"` // bytes are still in the store
	LivesOn     []livesOnView    `json:"lives_on"`
	Present     []app.PathView   `json:"present"` // in the working tree, and not ignored
	Texts       int              `json:"texts"`   // places that --text marked
	Still       []string         `json:"still"`   // the agents' own files that hold it
	Others      []otherStoreView `json:"other_stores"`
	Elsewhere   int              `json:"linked_elsewhere"`     // mirrors of other accounts, and unknown links, that may have it
	Homes       []homeView       `json:"homes"`                // of these, the accounts that are known
	Copies      []string         `json:"copies_removed"`       // copies of packs that were beside the packs
	Strays      []app.PathView   `json:"strays"`               // what lies in the store's directory, is not the store's, and was not searched
	Unread      []string         `json:"not_readable"`         // checkpoints that the store has lost a part of, which may still name it
	Left        []app.PathView   `json:"left"`                 // temporary files in the project of a restore that was killed, which may contain a part of it
	Pulled      []string         `json:"pulled"`               // machines of which what was pulled was dropped, since it may contain it
	Remotes     []string         `json:"remotes"`              // to which something was pushed before, and which may contain it
	Shares      []knownShareView `json:"shares"`               // that may contain it
	Forks       []string         `json:"forks"`                // of those in still, conversations that a restore created
	Mentions    int              `json:"mentions"`             // entries of conversations that name a path, or have a value from its file
	Missed      int              `json:"not_searched"`         // versions of files that conversations were not searched for
	Checkpoint  *string          `json:"checkpoint"`           // that --checkpoint removed
	Shared      int              `json:"shared_files"`         // of that checkpoint, which others have, too
	HeldObjects int              `json:"held_objects"`         // of git, with the content, that were let go of
	HeldPacks   int              `json:"held_packs"`           // that were let go of, since such an object was in them
	HeldAll     bool             `json:"held_all"`             // all that was held of git's objects was let go of
	Unsearched  bool             `json:"commits_not_searched"` // commits that are held of git may have it all the same
	GitStates   int              `json:"git_states"`           // checkpoints that lost git's own state, which had it
	Git         []gitHasView     `json:"git"`                  // repositories that still have it themselves
	Named       []app.PathView   `json:"named"`                // paths in checkpoints with a text in the name
	Settings    []app.PathView   `json:"settings"`             // files of settings that still contain a text
	DryRun      bool             `json:"dry_run"`
}

// gitHasView is what a repository has of it.
type gitHasView struct {
	Repo    string         `json:"repo"`    // its path below the root, "" for that around the project
	Objects []string       `json:"objects"` // with the content of a path, held as git has them
	Files   []app.PathView `json:"files"`
	Commits []string       `json:"commits"`
	Tags    []string       `json:"tags"`
	Notes   []string       `json:"notes"`
	Trees   []string       `json:"trees"`
	Partly  bool           `json:"partly"` // there were too many commits, tags and trees to search all
}

// homeView is another account whose mirror may have it.
type homeView struct {
	Home string  `json:"home"` // its home directory, "" where that is not known
	Host string  `json:"host"`
	Seen *string `json:"last_seen"`
	File string  `json:"file"` // to delete if that home is gone for good
}

func viewHome(h account.Home) homeView {
	v := homeView{Home: app.ViewPath(h.Dir()).Path, Host: h.Host, File: app.ViewPath(h.File).Path}
	if !h.Seen.IsZero() {
		seen := app.ViewTime(h.Seen)
		v.Seen = &seen
	}
	return v
}

// otherStoreView is another store that may hold it.
type otherStoreView struct {
	ID    string `json:"id"`
	Root  string `json:"root"`
	State string `json:"state"`
	Next  string `json:"next"`        // the way
	May   bool   `json:"may_contain"` // it was looked into, and may contain it
}

// knownShareView is a share that may contain it.
type knownShareView struct {
	remote.KnownShare
	Next string `json:"next"` // the command that removes it
}

func nextOfShare(s remote.KnownShare) string {
	return "rewind share --remote " + s.Remote + " --remove " + s.ID
}

type livesOnView struct {
	app.PathView
	Checkpoints int `json:"checkpoints"`
}

func viewForgotten(done *maintain.Forgotten) forgotView {
	homes := app.Map(done.Homes, viewHome)
	for _, b := range done.Beside {
		homes = append(homes, viewHome(b.Home))
	}
	return forgotView{
		Paths: app.ViewPaths(done.Paths), Checkpoints: done.Checkpoints, Freed: done.Freed, Pending: done.Pending != "", Present: app.ViewPaths(done.Present),
		Texts: done.Texts, Still: notNil(done.Still), Elsewhere: done.Elsewhere(), Homes: homes, Copies: notNil(done.Copies), Strays: app.ViewPaths(done.Strays),
		Left: app.ViewPaths(done.Left), Forks: notNil(done.Forks), Remotes: notNil(done.Remotes),
		Shares: app.Map(done.Shares, func(s remote.KnownShare) knownShareView { return knownShareView{s, nextOfShare(s)} }),
		Pulled: notNil(done.Pulled), Mentions: done.Mentions, Missed: done.Missed, Checkpoint: rows.ViewID(done.Checkpoint),
		HeldObjects: done.HeldObjects, HeldPacks: done.HeldPacks, HeldAll: done.HeldAll, Unsearched: done.Unsearched != "",
		Shared: done.Shared, GitStates: done.GitStates, DryRun: done.DryRun,
		Named: app.ViewPaths(done.Named), Settings: app.ViewPaths(done.Settings),
		Git: app.Map(done.Git, func(g maintain.GitHas) gitHasView {
			return gitHasView{app.ViewPath(g.Repo).Path, notNil(g.Objects), app.ViewPaths(g.Files), notNil(g.Commits), notNil(g.Tags), notNil(g.Notes), notNil(g.Trees), g.Partly}
		}),
		LivesOn: app.Map(done.LivesOn, func(l maintain.LivesOn) livesOnView { return livesOnView{app.ViewPath(l.Path), l.Checkpoints} }),
		Unread:  app.Map(done.Unread, func(k manifest.Checkpoint) string { return k.ID.String() }),
		Others: app.Map(done.Others, func(s stores.Relative) otherStoreView {
			return otherStoreView{s.ID, app.ViewPath(s.Root).Path, string(s.State), wayToForget(s.Registered), s.Suspect}
		}),
	}
}
