package picker

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
)

// noBrowser is in the hint of rewind ui where it has not opened a browser.
const noBrowser = "from another machine: "

// openPage opens the page at a checkpoint, "" for the newest, and says so. A process of its own serves it until nobody
// has looked for a while: the picker may end before, so that process writes to a file, not to a pipe.
func (s *picking) openPage(ctx context.Context, id string) (string, error) {
	out, err := os.CreateTemp("", "rewind-ui-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	args := []string{"ui", "--root", s.P.Root()}
	if s.C.Session != "" {
		args = append(args, "--session", s.C.Session)
	}
	if id != "" {
		args = append(args, id)
	}
	cmd, err := app.Detach(s.C.Env, args...)
	if err != nil {
		return "", err
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it was is in the file
		close(ended)
	}()
	for over := false; ; {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			return "", err
		}
		first, hints, whole := strings.Cut(string(text), "\n")
		switch {
		case whole && strings.HasPrefix(first, "http") && strings.Contains(hints, noBrowser):
			return "no browser opens here: rewind ui " + id + " prints the address", nil
		case whole && strings.HasPrefix(first, "http") && strings.Contains(hints, "\n"):
			return "the page opens in the browser", nil
		case over:
			return "", errors.New(cmp.Or(strings.TrimPrefix(first, "rewind: error: "), "the page did not start"))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ended:
			over = true // what it wrote last is read once more
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
