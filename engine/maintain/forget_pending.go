package maintain

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rewind/engine/project"
	"rewind/manifest"
)

// forgettingName is the file that is there from before a forget is committed
// until its bytes are gone. It says nothing of what was forgotten.
const forgettingName = "forgetting"

// forgettingNote is its content. Until the sweep has begun, only the log tells
// whether there was anything to forget: a process may have died before it committed.
type forgettingNote struct {
	Since    time.Time `json:"since"`
	Log      uint64    `json:"log"`                // sequence number that the log ended with
	Sweeping bool      `json:"sweeping,omitempty"` // it is committed, and the log may not show it any more
}

func noteForgetting(p *project.Project, n forgettingNote) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return project.WriteFile(filepath.Join(p.StoreDir(), forgettingName), append(data, '\n'), p.Owner)
}

// Forgetting reads the note, nil for none. One that cannot be read is one of a sweep.
func Forgetting(p *project.Project) *forgettingNote {
	data, err := project.ReadSmall(filepath.Join(p.StoreDir(), forgettingName), 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var n forgettingNote
	if err != nil || json.Unmarshal(data, &n) != nil {
		n.Sweeping = true
	}
	return &n
}

// PendingForget is since when something is forgotten whose bytes are still in the
// store, nil for no such thing: somebody read the store, or the process died.
func PendingForget(ctx context.Context, p *project.Project) (*time.Time, error) {
	n := Forgetting(p)
	if n == nil || n.Sweeping {
		return n.since(), nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	said, err := manifest.Replay(ctx, p.Log(), n.Log+1, manifest.Skip)
	if err != nil || !said.Amended() {
		return nil, p.Classify(err)
	}
	return n.since(), nil
}

func (n *forgettingNote) since() *time.Time {
	if n == nil {
		return nil
	}
	return &n.Since
}

// FinishForgetting finishes what a forget could not, if nobody is in the way.
// Whoever has just written calls it; what fails is shown by status, and tried again by the next.
func FinishForgetting(ctx context.Context, p *project.Project) {
	if _, err := os.Lstat(filepath.Join(p.StoreDir(), forgettingName)); err != nil || p.ReadOnly != nil {
		return
	}
	lock, err := project.LockFile(project.Expired, filepath.Join(p.StoreDir(), project.LockName, gcLockName), gcLockName, true)
	if err != nil {
		return
	}
	defer lock.Release()
	_, _ = collect(ctx, p, GCOptions{only: true})
}
