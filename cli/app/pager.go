package app

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
)

// Paged runs print with stdout going through the pager at a terminal, and
// straight to stdout elsewhere. $REWIND_PAGER, then $PAGER, is obeyed; less quits if all fits.
func (o *Output) Paged(ctx context.Context, env account.Env, print func() error) error {
	argv := pagerCommand(env)
	if !o.OutTerm || o.Quiet || len(argv) == 0 {
		return print()
	}
	o.EndProgress()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = o.Stdout.Writer, o.Stderr
	cmd.Env = os.Environ()
	if env.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return print()
	}
	if err := cmd.Start(); err != nil {
		return print() // no such pager: better plain than nothing
	}
	o.Buf.Flush()
	o.Buf.Reset(in)
	o.paging = true
	err = print()
	o.paging = false
	if flushErr := o.Buf.Flush(); err == nil && flushErr != nil && !IsBrokenPipe(flushErr) {
		err = flushErr
	}
	in.Close()
	o.Buf.Reset(o.Stdout)
	_ = cmd.Wait() // the pager's own exit code says nothing about ours
	for _, text := range o.later {
		o.Message(screen.Cyan, "hint:", text)
	}
	o.later = nil
	return err
}

// Document prints the answer of --json; without that flag it prints nothing.
func (c *Call) Document(v any) error {
	if !c.JSON {
		return nil
	}
	c.HasRead()
	return c.Out.Document(v)
}

// Page is Paged for what prints without an error.
func (c *Call) Page(ctx context.Context, print func()) error {
	c.HasRead()
	return c.Out.Paged(ctx, c.Env, func() error { print(); return nil })
}

// Answer prints the document of view with --json, and else what print prints.
func (c *Call) Answer(ctx context.Context, view func() any, print func()) error {
	if c.JSON {
		return c.Document(view())
	}
	return c.Page(ctx, print)
}

// pagerCommand is what runs the pager, nothing for none.
func pagerCommand(env account.Env) []string {
	pager := env.Getenv("REWIND_PAGER")
	if pager == "" {
		pager = env.Getenv("PAGER")
	}
	switch strings.TrimSpace(pager) {
	case "cat":
		return nil
	case "":
		if path, err := exec.LookPath("less"); err == nil {
			return []string{path}
		}
		return nil
	}
	return ShellCommand(pager)
}

// CopyOut copies a stream to the answer.
func (o *Output) CopyOut(r io.Reader) error {
	_, err := io.Copy(o.Buf, r)
	return err
}

// ShellCommand runs a line as the person wrote it in the environment.
func ShellCommand(line string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", line}
	}
	return []string{"/bin/sh", "-c", line}
}
