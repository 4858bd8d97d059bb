package engine

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

	"rewind/manifest"
)

// notesName is the directory below tmp/ in which hooks leave what a detached
// process has to finish: requests ("r") and pre-images ("p"). It is there only
// while something is left.
const notesName = "hooks"

// captureLockName is held by the one detached process that captures.
const captureLockName = "capture"

// maxNote bounds a note: a prompt of at most 1 MiB, escaped.
const maxNote = 8 << 20

// maxAttempts is how often a request is tried whose process died on it.
const maxAttempts = 3

// request is a checkpoint that a hook could not take within its time.
type request struct {
	Time          time.Time               `json:"time"` // the moment that it is about
	Kind          manifest.CheckpointKind `json:"kind"`
	OnlyIfChanged bool                    `json:"only_if_changed,omitempty"`
	OnlyIfSaid    bool                    `json:"only_if_said,omitempty"`
	By            Trigger                 `json:"by"`
	Session       *manifest.Session       `json:"session,omitempty"`
	Attempts      int                     `json:"attempts,omitempty"`

	name string
}

func (p *Project) notesDir() string { return filepath.Join(p.place.store, tmpName, notesName) }

// noteName is a new name; names sort by their moment.
func (p *Project) noteName(kind string, at time.Time) string {
	var random [4]byte
	rand.Read(random[:])
	return fmt.Sprintf("%s-%020d-%s", kind, max(at.UnixNano(), 0), hex.EncodeToString(random[:]))
}

// writeNote writes a note that survives a crash.
func (p *Project) writeNote(name string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(p.notesDir(), name+".json"), data, p.owner)
}

// notes are the names of the notes of one kind, oldest first.
func (p *Project) notes(kind string) []string {
	entries, err := os.ReadDir(p.notesDir())
	if err != nil {
		return nil // nothing is left to do
	}
	var out []string
	for _, e := range entries { // sorted
		if strings.HasPrefix(e.Name(), kind+"-") && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, e.Name())
		}
	}
	return out
}

// enqueue leaves a request for the detached process.
func (p *Project) enqueue(r request) error {
	if err := makeDir(p.notesDir(), p.owner); err != nil {
		return err
	}
	err := p.writeNote(p.noteName("r", r.Time), r)
	if errors.Is(err, fs.ErrNotExist) { // a process that had finished removed the directory
		if err = makeDir(p.notesDir(), p.owner); err == nil {
			err = p.writeNote(p.noteName("r", r.Time), r)
		}
	}
	return err
}

// nextRequest is the oldest request, nil for none. One that cannot be read is removed.
func (p *Project) nextRequest() *request {
	for _, name := range p.notes("r") {
		var r request
		data, err := readSmall(filepath.Join(p.notesDir(), name), maxNote)
		if err == nil && json.Unmarshal(data, &r) == nil && !r.Time.IsZero() {
			r.name = name
			return &r
		}
		_ = os.Remove(filepath.Join(p.notesDir(), name)) // tried again at the next call
	}
	return nil
}

// clearNotes removes the pre-images that no request needs any more, and the
// directory if nothing is left. The caller holds the capture lock.
func (p *Project) clearNotes() {
	entries, err := os.ReadDir(p.notesDir())
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
			_ = os.Remove(filepath.Join(p.notesDir(), e.Name())) // what stays is removed the next time
		}
	}
	_ = os.Remove(p.notesDir()) // only if it is empty
}

// capturing reports whether a detached process is at work, and whether
// requests wait for one.
func (p *Project) capturing() (running, waiting bool) {
	if _, err := os.Lstat(p.notesDir()); err != nil {
		return false, false // the usual case costs one look
	}
	lock, err := lockFile(expired, p.captureLockFile(), captureLockName, false)
	if err != nil {
		return true, true
	}
	lock.release()
	return false, len(p.notes("r")) > 0
}

func (p *Project) captureLockFile() string {
	return filepath.Join(p.place.store, lockName, captureLockName)
}

// captureLock takes the lock of the detached process. Hooks that look whether
// somebody has it hold it for a moment: only that long is it waited for.
func (p *Project) captureLock(ctx context.Context) (*fileLock, error) {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	return lockFile(ctx, p.captureLockFile(), captureLockName, true)
}
