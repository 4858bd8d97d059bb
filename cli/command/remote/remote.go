package remote

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
)

// NewRemote makes the command that adds, lists and removes remotes.
func NewRemote() *app.Command {
	var precious, manual, withoutKey, policy bool
	var k keyFlags
	var collect remote.GCOptions
	return &app.Command{
		Name: "remote",
		Usage: "[add NAME URL | remove NAME] [key [NAME] | key add|remove KEY… | key rotate] [check [NAME] | gc [NAME]] " +
			"[--precious] [--manual] [--without-key] [--key FILE] [--passphrase[=FILE]] [--rewrite] [--policy] [--log ID] [--dry-run]",
		Short: "keep checkpoints in a bucket or directory outside this machine",
		Long: "Lists the remotes of the project, with what was not pushed to them yet. add makes a\n" +
			"remote, or joins one that another machine has made. From then on each save is followed\n" +
			"by a push, in a process of its own, unless it was added with --manual; rewind push does\n" +
			"it at once. rewind clone brings what was pushed to another machine. Everything is\n" +
			"encrypted before it leaves the machine: add prints the remote's key once, and key prints\n" +
			"it again. Without the key nothing of it can be read, so keep it outside this machine,\n" +
			"for example in a password manager. A machine without the key can push with add\n" +
			"--without-key, and read nothing. The content of precious files (ignored by git but\n" +
			"captured, such as .env) stays here without --precious. remove only forgets the remote:\n" +
			"what was pushed stays there, and the key here.\n\n" +
			"check asks the place whether all that was pushed is there and whole, and what these\n" +
			"credentials can do to it; with --policy it prints a policy for a bucket, with which a\n" +
			"machine can push, and neither overwrite nor delete. gc removes what nothing needs any\n" +
			"more: small objects a day after they were merged, and what no push names a week after\n" +
			"gc found it for the first time. It needs the key, and the right to delete. With --log ID\n" +
			"it also removes the log of a machine that is gone, but for what another one continues.\n\n" +
			"key add seals the remote's key for people: KEY is a public key of age or ssh, or a file\n" +
			"of these, and --passphrase is for who knows one; they clone with --key or --passphrase.\n" +
			"key remove has the next key be sealed for them no longer; who had the key can go on\n" +
			"reading what it opens. key rotate makes a new key for what is pushed from now on: it\n" +
			"opens what was pushed before, and the old one opens nothing new. --rewrite also pushes\n" +
			"all checkpoints again for the new key, so that the old objects can be deleted.\n\n" +
			"URL is one of\n" +
			"  s3://BUCKET/PREFIX   any S3-compatible store, with the usual credentials;\n" +
			"                       ?endpoint=URL and ?region=NAME can follow\n" +
			"  DIR                  a directory, as of a mounted disk\n" +
			"  git:NAME             a remote of the project's git repository, as git:origin\n" +
			"  git:URL              a git repository, as git:https://HOST/NAME.git or a path",
		Examples: []app.Example{
			{Line: "rewind remote add origin s3://backups/project", Does: "make a remote, and print its key"},
			{Line: "rewind remote add nas /mnt/nas/project", Does: "in a directory"},
			{Line: "rewind remote add origin git:origin", Does: "where git pushes to, in refs that no branch shows"},
			{Line: "rewind remote check", Does: "is all there and whole, and who could damage it"},
			{Line: "rewind remote gc --dry-run", Does: "what it would remove"},
			{Line: "rewind remote", Does: "the remotes, and what waits for a push"},
		},
		Answers: app.Answers{"remote": remotesView{}, "remote-add": addedView{}, "remote-key": keyView{}, "remote-key-people": peopleView{},
			"remote-key-rotate": rotatedView{}, "remote-check": checkedView{}, "remote-gc": collectedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused, app.ExitUnreachable},
		MaxArgs: maxKeys + 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&withoutKey, "without-key", false, "with add: join a remote whose key is not here, to push only")
			f.BoolVar(&manual, "manual", false, "with add: only rewind push sends something")
			f.BoolVar(&policy, "policy", false, "with check: print a policy for a bucket")
			f.StringVar(&collect.Log, "log", "", "with gc: remove the log with this `ID`, too")
			f.BoolVar(&collect.DryRun, "dry-run", false, "with gc: remove nothing")
			f.BoolVar(&k.rewrite, "rewrite", false, "with key rotate: push all again for the new key")
			k.addTo(f, "with add and key: open the remote's key with that in `FILE`", "with add and key: the remote's passphrase, asked for or from `FILE`")
			f.BoolVar(&precious, "precious", false, "with add: precious files are pushed, too")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			verb := "list"
			if len(c.Args) > 0 {
				verb = c.Args[0]
			}
			takes := map[string][2]int{"list": {0, 0}, "add": {2, 2}, "remove": {1, 1}, "key": {0, maxKeys}, "check": {0, 1}, "gc": {0, 1}}
			n, known := takes[verb]
			given := max(0, len(c.Args)-1)
			switch {
			case !known:
				return &app.UsageError{Msg: "unknown subcommand " + app.Quote(verb) + " of remote", Hint: "rewind remote add NAME URL"}
			case given < n[0] || given > n[1]:
				return &app.UsageError{Msg: "wrong number of arguments for remote " + verb, Hint: "rewind remote " + c.Cmd.Usage}
			case (k.file != "" || k.passphrase != "" || k.rewrite) && verb != "add" && verb != "key", k.rewrite && verb == "add":
				return &app.UsageError{Msg: "--key, --passphrase and --rewrite go with key", Hint: "rewind remote key"}
			case (precious || manual || withoutKey) && verb != "add":
				return &app.UsageError{Msg: "--precious, --manual and --without-key go with add", Hint: "rewind remote add NAME URL"}
			case policy && verb != "check":
				return &app.UsageError{Msg: "--policy goes with check", Hint: "rewind remote check --policy"}
			case (collect.Log != "" || collect.DryRun) && verb != "gc":
				return &app.UsageError{Msg: "--log and --dry-run go with gc", Hint: "rewind remote gc --dry-run"}
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			switch verb {
			case "check":
				return check(ctx, c, p, append(c.Args[1:], "")[0], policy)
			case "gc":
				return gc(ctx, c, p, append(c.Args[1:], "")[0], collect)
			case "add":
				given, err := k.given(c)
				if err != nil {
					return err
				}
				return add(ctx, c, p, remote.AddOptions{Name: c.Args[1], URL: c.Args[2], Precious: precious, Manual: manual, WithoutKey: withoutKey, Key: given})
			case "remove":
				return remove(ctx, c, p, c.Args[1])
			case "key":
				return key(ctx, c, p, c.Args[1:], k)
			}
			return list(ctx, c, p)
		},
	}
}

type addedView struct {
	Remote string  `json:"remote"`
	URL    string  `json:"url"`
	New    bool    `json:"new"` // nothing was there before
	Key    *string `json:"key"` // null where this account does not have it
	// Policy is one with which a machine can push, and neither overwrite nor delete; null where the place has none that does it.
	Policy *string `json:"policy"`
}

func add(ctx context.Context, c *app.Call, p *project.Project, o remote.AddOptions) error {
	done, err := remote.Add(ctx, p, o)
	if err != nil {
		return err
	}
	if c.JSON {
		v := addedView{Remote: done.Name, URL: done.URL, New: done.New}
		if text := policyFor(done.Remote, done.Can); text != "" {
			v.Policy = &text
		}
		if done.Key != nil {
			v.Key = new(done.Key.String())
		}
		return c.Out.Document(v)
	}
	if done.New {
		c.Out.Summary("Made a remote at %s. Its key, which another machine needs to read what is pushed:", app.Escape(done.URL))
		c.Out.Line("  %s", done.Key)
	} else {
		c.Out.Summary("Joined the remote at %s.", app.Escape(done.URL))
	}
	sayPolicy(c, done)
	if done.New {
		c.Out.Hint("keep the key outside this machine; then: rewind push")
	} else if done.Key == nil {
		c.Out.Hint("this account does not have its key, so it can push, and read nothing")
	}
	return nil
}

// sayPolicy prints, for a bucket, how to protect what is pushed from the machines that push it.
func sayPolicy(c *app.Call, done *remote.Added) {
	if _, err := done.Policy(); err != nil {
		return
	}
	say, text := c.Out.Summary, policyFor(done.Remote, done.Can)
	say("")
	say("%s", abilities(done.Can))
	switch {
	case !done.Can.Overwrite && !done.Can.Delete:
	case text == "":
		say("This place cannot be asked to refuse overwriting: turn on versioning of the\nbucket, and give machines that push credentials that cannot delete.")
	default:
		say("Whoever takes over this machine could destroy it with them. Give the user or\n"+
			"role of each machine that pushes this policy of AWS, which makes both\n"+
			"impossible, and turn on versioning of the bucket:\n\n%s\n\n"+
			"To print it again: rewind remote check --policy", text)
	}
}

func remove(ctx context.Context, c *app.Call, p *project.Project, name string) error {
	r, err := remote.Remove(ctx, p, name)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(addedView{Remote: r.Name, URL: r.URL})
	}
	c.Out.Summary("Removed the remote %s. What was pushed is still at %s.", r.Name, app.Escape(r.URL))
	return nil
}

// maxKeys is how many arguments remote key takes.
const maxKeys = 100

type remotesView struct {
	Remotes []report.RemoteView `json:"remotes"`
}

func list(ctx context.Context, c *app.Call, p *project.Project) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	all, err := remote.States(p)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(remotesView{app.Map(all, report.ViewRemote)})
	}
	for _, s := range all {
		c.Out.Line("%s  %s  %s", s.Name, app.Escape(s.URL), report.RemoteText(c.Out, s))
	}
	if len(all) == 0 {
		c.Out.Hint("no remote yet: rewind remote add NAME URL")
	}
	return nil
}
