package page

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// NewUI is the command that serves the page.
func NewUI() *app.Command {
	var o options
	return &app.Command{
		Name:  "ui",
		Usage: "[<ckpt>] [--port N] [--no-open] [--read-only] | --export-html FILE",
		Short: "look at the history in a browser",
		Long: "Serves a page on this machine alone, and opens it: the timeline with forks and restores,\n" +
			"beside each moment the conversation, the files and their diffs, and from there the way\n" +
			"back: every restore shows its plan first. The page is closed to other users and other\n" +
			"sites: the address that is printed holds a code that can be used once, within a minute.\n" +
			"With a checkpoint, it opens there: each moment has an address of its own.\n" +
			"The account's other projects can be chosen there; rewind ui in one of them opens it in the\n" +
			"page that is served already. The command that serves ends with ctrl-c, or when no one has\n" +
			"looked for 30 minutes: a tab in the background does not count.\n" +
			"With --export-html, writes one session as a single page to share, and serves nothing: its\n" +
			"timeline, conversation, diffs, film and search, readable in a browser without rewind. The\n" +
			"session is that of --session, else the one at work, else the newest; where several are\n" +
			"at work, --session says which. Precious files are left out, also where the conversation\n" +
			"names them; their secrets, keys and tokens of well-known forms, and what the setting\n" +
			"redact matches are redacted. Long diffs and texts are cut. The file is written under a\n" +
			"temporary name and renamed.",
		Examples: []app.Example{
			{Line: "rewind ui", Does: "open the page"},
			{Line: "rewind ui prompt~2", Does: "open it at a moment"},
			{Line: "rewind ui --no-open", Does: "only print the address, and how to reach it from another machine"},
			{Line: "rewind ui --read-only", Does: "nothing can be changed from the page"},
			{Line: "rewind ui --export-html session.html", Does: "a session as one file, to share"},
		},
		Answers: app.Answers{"ui": PageView{}, "ui-export": ExportedPageView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.export, "export-html", "", "write one session as a page to this `file`, and serve nothing; - is stdout")
			f.IntVar(&o.port, "port", 0, "listen on this port of 127.0.0.1 and ::1; 0 for any that is free")
			f.BoolVar(&o.noOpen, "no-open", false, "do not open a browser")
			f.BoolVar(&o.readOnly, "read-only", false, "show only: no restore, no name, no pin")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			switch {
			case !c.Flags.Changed("export-html"):
				return runPage(ctx, c, o)
			case len(c.Args) > 0:
				return &app.UsageError{Msg: "--export-html is of a session, not of a checkpoint", Hint: "rewind ui --export-html FILE --session S"}
			case o.export == "":
				return &app.UsageError{Msg: "--export-html needs a file", Hint: "rewind ui --export-html FILE"}
			case c.Flags.Changed("port") || o.noOpen || o.readOnly:
				return &app.UsageError{Msg: "--export-html serves nothing: --port, --no-open and --read-only do not go with it", Hint: "rewind ui --export-html FILE"}
			}
			return exportPage(ctx, c, o.export)
		},
	}
}

type options struct {
	port     int
	noOpen   bool
	readOnly bool
	export   string // file
	at       string // id of the checkpoint that it opens at, "" for the newest
}

func runPage(ctx context.Context, c *app.Call, o options) error {
	if o.port < 0 || o.port > 65535 {
		return app.Usagef("--port must be between 0 and 65535, not %d", o.port)
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	if len(c.Args) > 0 {
		l, err := c.Resolve(ctx, p, c.Args[0])
		if err != nil {
			return err
		}
		o.at = l.ID.String()
	}
	m := meetingOf(c.Env)
	if c.Session != "" {
		m = nil // its plans are about that session
	}
	var first *account.FileLock
	if m != nil {
		var met *joinAnswer
		var why string
		if first, met, why, err = m.meet(ctx, joinAsk{app.VersionText(), p.ID.String(), o.readOnly, o.port}); err != nil {
			return err
		}
		switch {
		case met != nil:
			return announce(ctx, c, o, PageView{met.URL, met.Port, true})
		case first != nil:
			defer first.Release()
		case why != "":
			c.Out.Hint("another rewind ui runs already, %s; this one serves a page of its own", app.Escape(why))
		}
	}
	return serve(ctx, c, o, p, func(answer func(joinAsk) joinAnswer) (stop func()) {
		if first == nil {
			return func() {}
		}
		stop, err := m.listen(answer)
		if err != nil {
			c.Out.Note("later ones cannot join: %v", err)
			return func() {}
		}
		return stop
	})
}

// serve serves the page until it ends. join lets a later rewind ui ask for an address.
func serve(ctx context.Context, c *app.Call, o options, p *project.Project, join func(answer func(joinAsk) joinAnswer) (stop func())) error {
	listeners, err := web.Listen(o.port)
	if errors.Is(err, syscall.EADDRINUSE) && o.port != 0 {
		return &portTakenError{o.port}
	}
	if err != nil {
		return err
	}
	source := newSource(c, p)
	defer source.close()
	s := web.New(web.Options{Source: source, ReadOnly: o.readOnly})
	port := web.Port(listeners[0])
	link := func(id string) string {
		place := s.Link("p/" + id)
		if place == "" {
			return ""
		}
		return fmt.Sprintf("http://127.0.0.1:%d%s", port, place)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer join(func(a joinAsk) joinAnswer {
		met := joinAnswer{Port: port, Other: otherPage(a, o, port)}
		if met.Other != "" {
			return met
		}
		if _, err := source.Space(ctx, a.Store); err != nil {
			met.Other = "which cannot show this project: " + problem.Text(err)
			return met
		}
		met.URL = link(a.Store)
		met.Again = met.URL == ""
		return met
	})()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listeners...) }() // a browser that is opened finds it
	source.begin(ctx)
	if err := announce(ctx, c, o, PageView{URL: link(projectID(p)), Port: port}); err != nil {
		stop()
		<-ended
		return err
	}
	return <-ended
}

// otherPage says why this rewind ui is not what a later one asks for; "" where it is.
func otherPage(a joinAsk, o options, port int) string {
	switch {
	case a.Version != app.VersionText():
		return "of version " + app.VersionText()
	case a.ReadOnly && !o.readOnly:
		return "which can change something"
	case !a.ReadOnly && o.readOnly:
		return "which only shows"
	case a.Port != 0 && a.Port != port:
		return fmt.Sprintf("on port %d", port)
	}
	return ""
}

// announce prints the address, and opens it.
func announce(ctx context.Context, c *app.Call, o options, v PageView) error {
	if o.at != "" {
		v.URL = strings.Replace(v.URL, "#", "/c/"+o.at+"#", 1)
	}
	if c.JSON {
		if err := c.Out.Document(v); err != nil {
			return err
		}
	} else {
		c.Out.Line("%s", v.URL)
	}
	if err := c.Out.Buf.Flush(); err != nil {
		return err
	}
	if o.noOpen || !openBrowser(ctx, c.Env.Getenv, v.URL) {
		c.Out.Hint("from another machine: ssh -L %d:127.0.0.1:%d this-machine, then open that address there", v.Port, v.Port)
	}
	if v.Joined {
		c.Out.Hint("the address works once, for a minute; the rewind ui that runs already serves it")
	} else {
		c.Out.Hint("the address works once, for a minute; ctrl-c ends the page")
	}
	return nil
}

// PageView is what ui --json prints before it serves.
type PageView struct {
	URL    string `json:"url"` // with a code that can be used once
	Port   int    `json:"port"`
	Joined bool   `json:"joined"` // a rewind ui that runs already serves it
}

// portTakenError: another program listens there.
type portTakenError struct{ port int }

func (e *portTakenError) Error() string {
	return "another program listens on port " + strconv.Itoa(e.port)
}

func (e *portTakenError) Explain(f *app.Failure) {
	f.Code, f.Hint = app.ExitBusy, "rewind ui takes a port that is free"
}

// openBrowser starts the person's browser; false where there is none, or no display.
func openBrowser(ctx context.Context, getenv func(string) string, address string) bool {
	names := []string{"xdg-open"}
	switch {
	case getenv("BROWSER") != "":
		names = []string{getenv("BROWSER")}
	case runtime.GOOS == "darwin":
		names = []string{"open"}
	case runtime.GOOS == "windows":
		names = []string{"explorer"}
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return false
	}
	for _, name := range names {
		file, err := exec.LookPath(name)
		if err != nil || !filepath.IsAbs(file) {
			continue
		}
		cmd := exec.Command(file, address)
		if cmd.Start() != nil {
			continue
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select { // one that cannot open it says so at once
		case err := <-ended:
			return err == nil
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
		}
		return true
	}
	return false
}

// projectID is the page's name of a project: the store's id.
func projectID(p *project.Project) string { return p.ID.String() }
