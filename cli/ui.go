package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/project"
)

// newUI is the command that serves the page.
func newUI() *command {
	var o uiOptions
	return &command{
		name:  "ui",
		usage: "[--port N] [--no-open] [--read-only]",
		short: "look at the history in a browser",
		long: "Serves a page on this machine alone, and opens it: the timeline with forks and restores,\n" +
			"beside each moment the conversation, the files and their diffs, and from there the way\n" +
			"back: every restore shows its plan first. The page is closed to other users and other\n" +
			"sites: the address that is printed holds a code that can be used once, within a minute.\n" +
			"The command ends with ctrl-c, or when nobody has looked for 30 minutes.",
		examples: []example{
			{"rewind ui", "open the page"},
			{"rewind ui --no-open", "only print the address, and how to reach it from another machine"},
			{"rewind ui --read-only", "nothing can be changed from the page"},
		},
		exits: []int{exitBusy, exitDamaged},
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&o.port, "port", 0, "listen on this port of 127.0.0.1; 0 for any that is free")
			f.BoolVar(&o.noOpen, "no-open", false, "do not open a browser")
			f.BoolVar(&o.readOnly, "read-only", false, "show only: no restore, no name, no pin")
		},
		run: func(ctx context.Context, c *call) error { return runUI(ctx, c, o) },
	}
}

type uiOptions struct {
	port     int
	noOpen   bool
	readOnly bool
}

func runUI(ctx context.Context, c *call, o uiOptions) error {
	if o.port < 0 || o.port > 65535 {
		return usagef("--port must be between 0 and 65535, not %d", o.port)
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return &portTakenError{o.port}
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := web.New(web.Options{Source: newUISource(c, p), ReadOnly: o.readOnly})
	port := l.Addr().(*net.TCPAddr).Port
	address := fmt.Sprintf("http://127.0.0.1:%d%s", port, s.Link("p/"+projectID(p)))
	if c.json {
		if err := c.out.document(uiView{URL: address, Port: port}); err != nil {
			return err
		}
	} else {
		c.out.line("%s", address)
	}
	if err := c.out.buf.Flush(); err != nil {
		return err
	}
	if o.noOpen || !openBrowser(ctx, c.env.Getenv, address) {
		c.out.hint("from another machine: ssh -L %d:127.0.0.1:%d this-machine, then open that address there", port, port)
	}
	c.out.hint("the address works once, for a minute; ctrl-c ends the page")
	return s.Serve(ctx, l)
}

// uiView is what ui --json prints before it serves.
type uiView struct {
	URL  string `json:"url"` // with a code that can be used once
	Port int    `json:"port"`
}

// portTakenError: another program listens there.
type portTakenError struct{ port int }

func (e *portTakenError) Error() string {
	return "another program listens on port " + strconv.Itoa(e.port)
}

// openBrowser starts the person's browser; false where there is none, or nobody to look.
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
