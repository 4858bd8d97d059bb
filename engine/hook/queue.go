package hook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// captureLockName is held by the one detached process that captures.
const captureLockName = "capture"

// maxAttempts is how often a request is tried whose process died on it.
const maxAttempts = 3

// request is a checkpoint that a hook could not take within its time.
type request struct {
	Time          time.Time               `json:"time"` // the time of the event
	Kind          manifest.CheckpointKind `json:"kind"`
	OnlyIfChanged bool                    `json:"only_if_changed,omitempty"`
	OnlyIfSaid    bool                    `json:"only_if_said,omitempty"`
	By            conversation.Trigger    `json:"by"`
	Session       *manifest.Session       `json:"session,omitempty"`
	ID            manifest.CheckpointID   `json:"id,omitzero"`
	Bind          []manifest.Binding      `json:"bind,omitempty"`
	Attempts      int                     `json:"attempts,omitempty"`

	name string
}

// noteName is a new name; names sort by their time.
func noteName(p *project.Project, kind string, at time.Time) string {
	var random [4]byte
	rand.Read(random[:])
	return fmt.Sprintf("%s-%020d-%s", kind, max(at.UnixNano(), 0), hex.EncodeToString(random[:]))
}

// writeNote writes a note that survives a crash.
func writeNote(p *project.Project, name string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return account.WriteFile(filepath.Join(checkpoint.NotesDir(p), name+".json"), data, p.Owner)
}

// enqueue leaves a request for the detached process.
func enqueue(p *project.Project, r request) error {
	if err := account.MakeDir(checkpoint.NotesDir(p), p.Owner); err != nil {
		return err
	}
	err := writeNote(p, noteName(p, "r", r.Time), r)
	if errors.Is(err, fs.ErrNotExist) { // a process that had finished removed the directory
		if err = account.MakeDir(checkpoint.NotesDir(p), p.Owner); err == nil {
			err = writeNote(p, noteName(p, "r", r.Time), r)
		}
	}
	return err
}

// nextRequest is the oldest request, nil for none. One that cannot be read is removed.
func nextRequest(p *project.Project) *request {
	for _, name := range checkpoint.Notes(p, "r") {
		var r request
		data, err := vfs.ReadSmall(filepath.Join(checkpoint.NotesDir(p), name), checkpoint.MaxNote, vfs.NoFollow)
		if err == nil && json.Unmarshal(data, &r) == nil && !r.Time.IsZero() {
			r.name = name
			return &r
		}
		_ = os.Remove(filepath.Join(checkpoint.NotesDir(p), name)) // tried again at the next call
	}
	return nil
}

// clearNotes removes the pre-images that no request needs any more, and the
// directory if nothing is left. The caller holds the capture lock.
func clearNotes(p *project.Project) {
	entries, err := os.ReadDir(checkpoint.NotesDir(p))
	if err != nil {
		return
	}
	oldest := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "r-") {
			oldest = strings.TrimPrefix(e.Name(), "r-")
			break
		}
	}
	for _, e := range entries {
		when, ok := strings.CutPrefix(e.Name(), "p-")
		stale := strings.HasPrefix(e.Name(), ".tmp-")
		if ok && (oldest == "" || when < oldest) || stale && oldest == "" {
			_ = os.Remove(filepath.Join(checkpoint.NotesDir(p), e.Name())) // what stays is removed the next time
		}
	}
	_ = os.Remove(checkpoint.NotesDir(p)) // only if it is empty
}

// capturing reports whether a detached process is at work, and whether
// requests wait for one.
func capturing(p *project.Project) (running, waiting bool) {
	if _, err := os.Lstat(checkpoint.NotesDir(p)); err != nil {
		return false, false // the usual case costs one look
	}
	lock, err := account.LockFile(account.Expired, captureLockFile(p), captureLockName, false)
	if err != nil {
		return true, true
	}
	lock.Release()
	return false, len(checkpoint.Notes(p, "r")) > 0
}

func captureLockFile(p *project.Project) string {
	return filepath.Join(p.StoreDir(), account.LockName, captureLockName)
}

// captureLock takes the lock of the detached process. Hooks that look whether
// somebody has it hold it for a moment: only that long is it waited for.
func captureLock(ctx context.Context, p *project.Project) (*account.FileLock, error) {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	return account.LockFile(ctx, captureLockFile(p), captureLockName, true)
}
