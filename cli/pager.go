package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
)

// paged runs print with stdout going through the pager at a terminal, and
// straight to stdout elsewhere. $REWIND_PAGER, then $PAGER, is obeyed; less quits if all fits.
func (o *output) paged(ctx context.Context, env account.Env, print func() error) error {
	argv := pagerCommand(env)
	if !o.outTerm || o.quiet || len(argv) == 0 {
		return print()
	}
	o.endProgress()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = o.stdout.Writer, o.stderr
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
	o.buf.Flush()
	o.buf.Reset(in)
	o.paging = true
	err = print()
	o.paging = false
	if flushErr := o.buf.Flush(); err == nil && flushErr != nil && !isBrokenPipe(flushErr) {
		err = flushErr
	}
	in.Close()
	o.buf.Reset(o.stdout)
	_ = cmd.Wait() // the pager's own exit code says nothing about ours
	for _, text := range o.later {
		o.message(screen.Cyan, "hint:", text)
	}
	o.later = nil
	return err
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
	return shellCommand(pager)
}

// copyOut copies a stream to the answer.
func (o *output) copyOut(r io.Reader) error {
	_, err := io.Copy(o.buf, r)
	return err
}
