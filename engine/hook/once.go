package hook

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// together is how much later than the first one is done the second hook of a prompt or a session's start begins at most, on a
// busy machine.
const together = time.Second

// keptEvents is how many events a session's file of handled events has: one can begin before the second hook of the one
// before has looked.
const keptEvents = 4

// Once reports whether the event is this hook's to handle, and not one that another hook handled while this one was
// waiting: where hooks are registered twice (in two settings files, or in a plugin too) an agent runs both at the same time.
// The one that comes second waits, so that what the agent does next is behind the first. A person's same words later are
// another event: where nothing else tells, one that began when the first was done. done is called when the event is handled; where the first takes longer than wait, err is *account.BusyError.
func (c *Call) Once(ctx context.Context, wait time.Duration) (first bool, done func(), err error) {
	e, done := &c.Event, func() {}
	file := account.HandledFile(c.Env, e.By.Agent, e.By.Session)
	if file == "" || !c.alone() {
		return true, done, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	lock, err := account.LockFile(ctx, file, "events", true)
	if err != nil {
		if errors.As(err, new(*account.BusyError)) {
			return true, done, err
		}
		return true, done, nil // where nothing can be kept, both handle it
	}
	handled, _ := vfs.ReadSmall(file, 4096, vfs.NoFollow)
	lines := bytes.Split(bytes.TrimSuffix(handled, []byte("\n")), []byte("\n"))
	key := c.eventKey()
	for i, line := range lines {
		from := e.Time
		if i == len(lines)-1 && (e.Kind == manifest.SessionStart || e.Kind == manifest.Prompt && e.By.PromptID != "") {
			// Nothing came in between: no session starts twice as fast, and two prompts have two ids. A turn whose stop another
			// hook blocks continues, and can stop again at once: its second stop looks whether anything changed.
			from = from.Add(-together)
		}
		k, at, _ := strings.Cut(string(line), " ")
		if ns, err := strconv.ParseInt(at, 10, 64); err == nil && k == key && !time.Unix(0, ns).Before(from) {
			lock.Release()
			return false, done, nil
		}
	}
	return true, func() {
		defer lock.Release()
		lines = append(lines, []byte(key+" "+strconv.FormatInt(time.Now().UnixNano(), 10)))
		lines = lines[max(0, len(lines)-keptEvents):]
		_ = os.WriteFile(file, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600) // a failure lets the second handle it too
	}, nil
}

// alone reports whether the event comes one at a time in its session, or has a checkpoint in any case: of a call that is
// heard of twice the second hook has nothing to add.
func (c *Call) alone() bool {
	e := &c.Event
	switch e.Kind {
	case manifest.Prompt, manifest.SessionStart, manifest.Stop, manifest.SessionEnd:
		return e.By.Subagent == ""
	case manifest.PreTool:
		return e.Destructive && e.By.ToolUseID != ""
	case manifest.PostTool:
		return e.By.ToolUseID != "" && c.Project != nil && c.green()
	}
	return false
}

// eventKey is the same for both hooks of one event.
func (c *Call) eventKey() string {
	by := &c.Event.By
	sum := sha256.Sum256([]byte(strings.Join([]string{string(c.Event.Kind), c.Event.Source, by.PromptID, by.ToolUseID, by.Prompt}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
