package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// ForgettingName is the file that is there from before a forget is committed
// until its bytes are gone, in the store and in its mirror: either may be lost, and
// the bytes are in both. It says nothing of what was forgotten.
const ForgettingName = "forgetting"

// ForgettingNote is its content. Until the sweep has begun, only the log tells
// whether there was anything to forget: a process may have died before it committed.
type ForgettingNote struct {
	Since    time.Time `json:"since"`
	Log      uint64    `json:"log"`                // sequence number that the log ended with
	Sweeping bool      `json:"sweeping,omitempty"` // it is committed, and the log may not show it any more
	Sweep    string    `json:"sweep,omitempty"`    // names the sweep that is under way: what came back since is not its
}

// NoteForgetting writes the note.
func (p *Project) NoteForgetting(n ForgettingNote) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if files := p.forgettingFiles(); len(files) > 1 {
		_ = account.WriteFile(files[1], data, account.OwnerOf(p.Env.Home)) // status tells of a mirror that cannot be written
	}
	return account.WriteFile(filepath.Join(p.at.Store, ForgettingName), data, p.Owner)
}

// forgettingFiles are the places of the note: the store, and its mirror.
func (p *Project) forgettingFiles() []string {
	files := []string{filepath.Join(p.at.Store, ForgettingName)}
	if mirror := account.MirrorDir(p.Env, p.ID); !p.Copied && account.IsDir(mirror) {
		files = append(files, filepath.Join(mirror, ForgettingName))
	}
	return files
}

// IsForgetting reports whether there is a note.
func (p *Project) IsForgetting() bool {
	return slices.ContainsFunc(p.forgettingFiles(), account.Exists)
}

// Purging reports whether there is a note in the store itself: one that only the mirror has is of packs that may have to
// come back first.
func (p *Project) Purging() bool { return account.Exists(p.forgettingFiles()[0]) }

// Forgetting reads the note, nil for none. One that cannot be read is one of a sweep.
func (p *Project) Forgetting() *ForgettingNote { return ReadForgetting(p.forgettingFiles()...) }

// ReadForgetting is Forgetting of a store that no project has opened.
func ReadForgetting(files ...string) *ForgettingNote {
	var n *ForgettingNote
	for _, file := range files {
		data, err := vfs.ReadSmall(file, 1<<16, vfs.NoFollow)
		if vfs.IsMissing(err) {
			continue
		}
		n = &ForgettingNote{}
		if err == nil && json.Unmarshal(data, n) == nil {
			return n
		}
		n.Sweeping = true
		if info, err := os.Lstat(file); err == nil && n.Since.IsZero() {
			n.Since = info.ModTime()
		}
	}
	return n
}

// NoteUnswept writes the note for a store that was brought back without one. Its mirror may not have been writable when
// the forget began, but the log, which is in both, has the amend record until its bytes are gone.
func (p *Project) NoteUnswept(ctx context.Context) error {
	if p.ReadOnly != nil || p.IsForgetting() {
		return nil
	}
	log, err := manifest.Replay(ctx, p.Log(), 1, manifest.Skip)
	if err != nil || !log.Amended() {
		return nil // what cannot be read is verify's to tell
	}
	return p.NoteForgetting(ForgettingNote{Since: p.Env.Time().UTC(), Log: log.Last(), Sweeping: true})
}

// EndForgetting removes the note, from the store last: until it is gone there, the next write finishes.
// A note that another one has replaced stays.
func (p *Project) EndForgetting(n *ForgettingNote) error {
	if now := ReadForgetting(p.forgettingFiles()[0]); now != nil && (n == nil || *now != *n) {
		return nil
	}
	for _, file := range slices.Backward(p.forgettingFiles()) {
		if err := account.RemoveIfThere(file); err != nil {
			return err
		}
	}
	return nil
}

// ReturnedName is the file that is there from before packs come back from their second
// names until a command has shown the notice: a hook may have brought them.
const ReturnedName = "returned"

type returnedNote struct {
	Damaged   bool     `json:"damaged,omitempty"`   // packs were damaged
	Older     bool     `json:"older,omitempty"`     // packs were of an older state
	Empty     bool     `json:"empty,omitempty"`     // the log was gone
	Rewritten bool     `json:"rewritten,omitempty"` // the log was written anew since
	Beside    bool     `json:"beside,omitempty"`    // packs of an older state were put beside those of the store
	Living    []string `json:"living,omitempty"`    // checkpoints before, where Rewritten
	Copied    string   `json:"copied,omitempty"`    // the notice of a copy from before a forget
}

// noteReturn is called before packs come back. Where a sweep or a purge came after the state
// that was put in the store's place, that is finished again by whoever writes next:
// what was forgotten must not come back.
func (p *Project) noteReturn(r cas.Return) error {
	file := filepath.Join(p.at.Store, ReturnedName)
	n := readReturned(file) // no command has shown what came back before
	n.Damaged = n.Damaged || r.Damaged
	n.Older = n.Older || !r.Damaged && !r.Empty && !r.Beside
	n.Beside = n.Beside || r.Beside
	n.Empty, n.Rewritten = n.Empty || r.Empty, n.Rewritten || r.Rewritten
	if r.Rewritten {
		log, err := manifest.Replay(context.Background(), p.Log(), 1, manifest.Skip)
		if err == nil { // else what is gone again cannot be named
			for _, c := range log.Checkpoints() {
				n.Living = append(n.Living, c.ID.String())
			}
		}
		if err := p.NoteForgetting(ForgettingNote{Since: p.Env.Time().UTC(), Sweeping: true}); err != nil {
			return err
		}
		// Both are of records that were rewritten since.
		if err := errors.Join(os.RemoveAll(filepath.Join(p.at.Store, account.ManifestsName)), account.RemoveIfThere(p.StatCacheFile())); err != nil {
			return err
		}
	}
	return p.writeReturned(n)
}

func (p *Project) writeReturned(n returnedNote) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return account.WriteFile(filepath.Join(p.at.Store, ReturnedName), append(data, '\n'), p.Owner)
}

// NoticesTold is for a command that has shown all notices: what was kept of them for the next one goes.
func (p *Project) NoticesTold() {
	if p.keptNotice {
		_ = account.RemoveIfThere(filepath.Join(p.at.Store, ReturnedName)) // else it is shown once more
	}
}

// KeptNotice is what NoticesTold removes, "" where a command has shown it.
func (p *Project) KeptNotice() string {
	return readReturned(filepath.Join(p.at.Store, ReturnedName)).Copied
}

func readReturned(file string) (n returnedNote) {
	if data, err := vfs.ReadSmall(file, 64<<20, vfs.NoFollow); err == nil {
		_ = json.Unmarshal(data, &n) // one that cannot be read says at least that there was something
	}
	return n
}

// CatchUp brings a store forward whose files somebody replaced by older ones, as
// git stash pop does after the store was removed once more, or whose packs are gone:
// what was saved since is in the mirror. A failure is none of a command's that
// reads; the next save tries again.
func (p *Project) CatchUp() {
	_, _ = p.Store.CatchUp(account.Expired)
	p.findShortened()
}

// TellReturned makes a notice of what came back, now or in a hook.
func (p *Project) TellReturned() {
	file := filepath.Join(p.at.Store, ReturnedName)
	if pack := p.Store.BrokenLog(); pack != "" {
		p.Notify(fmt.Sprintf("%s in the store of %s is damaged, and what it had is not listed: see rewind verify", pack, p.at.Root))
	}
	p.tellShortened()
	p.tellLater()
	if p.ReadOnly != nil || !account.Exists(file) {
		return
	}
	n := readReturned(file)
	if n.Damaged {
		p.Notify(fmt.Sprintf("packs of the store of %s were damaged and have been restored from the mirror", p.at.Root))
	}
	if n.Older || n.Empty || n.Beside || !n.Damaged && n.Copied == "" {
		p.Notify(p.returnedNotice(n))
	}
	if n.Copied != "" {
		p.Notify(n.Copied)
	}
	_ = account.RemoveIfThere(file) // else it is shown once more
}

func (p *Project) returnedNotice(n returnedNote) string {
	if n.Empty {
		return fmt.Sprintf("packs of the store of %s were missing and have been restored from the mirror", p.at.Root)
	}
	text := fmt.Sprintf("the store of %s was replaced by an older state of it: what was saved since has been restored from the mirror", p.at.Root)
	if n.Beside && !n.Older {
		text = fmt.Sprintf("the store of %s has packs of an older state of it beside its own, as where a backup was copied over it", p.at.Root)
	}
	if !n.Rewritten {
		return text
	}
	text += "; what gc or forget removed since "
	if p.IsForgetting() {
		text += "will be removed with the next write"
	} else {
		text += "has been removed again"
	}
	log, err := manifest.Replay(context.Background(), p.Log(), 1, manifest.Skip)
	if err != nil {
		return text
	}
	now := map[string]bool{}
	for _, c := range log.Checkpoints() {
		now[c.ID.String()] = true
	}
	var gone []string
	for _, id := range n.Living {
		if !now[id] {
			gone = append(gone, id)
		}
	}
	switch more := len(gone) - maxNamedGone; {
	case more > 0:
		text += fmt.Sprintf(": checkpoints %s and %d more", strings.Join(gone[:maxNamedGone], ", "), more)
	case len(gone) > 0:
		text += ": checkpoints " + strings.Join(gone, ", ")
	}
	return text
}

const maxNamedGone = 10
