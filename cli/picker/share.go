package picker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
)

// share writes the session of a row as a page to a file that is not there yet, and says so. A process of its own does it: it
// can take long, and no other question waits for it.
func (s *picking) share(ctx context.Context, id, name string) (string, error) {
	r, err := s.Row(id)
	if err != nil {
		return "", err
	}
	if r.Session == "" {
		return "", errors.New("that row is of no session")
	}
	file, err := app.OutputFile(s.C.Env, name)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(file); err == nil {
		return "", errors.New(name + " is there already")
	}
	cmd, err := app.Detach(s.C.Env, "ui", "--root", s.P.Root(), "--session", r.Session, "--export-html", file, "--quiet")
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(os.Interrupt) // it removes what it has written
		return "", ctx.Err()
	}
	if err != nil {
		first, _, _ := strings.Cut(said.String(), "\n")
		return "", errors.New(cmp.Or(strings.TrimPrefix(first, "rewind: error: "), "the page was not written"))
	}
	return "wrote " + app.Escape(name) + ", without what is known to be secret: look at it before you share it", nil
}
