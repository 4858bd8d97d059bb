package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// ShortenedName is the file beside the packs in the mirror that says what the log had and has no more.
const ShortenedName = "shortened"

// Shortened says that the log is shorter than it was. The files of the store were changed in place, so that the mirror has no
// more of it.
type Shortened struct {
	// Cut: the log does not end with a whole entry, or the stat cache knows more; else an older state of the
	// store was copied over it, as it was.
	Cut           bool
	Last, Reached uint64 // the entry that the log ended with when it was found, and the one that it had reached
	Gone          []Saved
	shown         bool // a command has shown it; verify shows it until it is repaired
}

// shortenedNote is how it is written.
type shortenedNote struct {
	Cut         bool      `json:"cut,omitempty"`
	Last        uint64    `json:"last"`
	Reached     uint64    `json:"reached"`
	Checkpoints []goneOne `json:"checkpoints,omitempty"`
	Shown       bool      `json:"shown,omitempty"`
}

type goneOne struct {
	ID     string `json:"id"`
	Seq    uint64 `json:"seq"`
	Time   int64  `json:"time"`
	Pinned bool   `json:"pinned,omitempty"`
}

// Text says what is gone.
func (s *Shortened) Text() string {
	text := fmt.Sprintf("the log ended with entry %d, and entry %d was written", s.Last, s.Reached)
	switch n := len(s.Gone); {
	case n == 1:
		return text + ": checkpoint " + s.Gone[0].String() + " is gone"
	case n > 1:
		names := make([]string, 0, maxNamedGone)
		for _, c := range s.Gone[max(0, n-maxNamedGone):] {
			names = append(names, c.String())
		}
		text += fmt.Sprintf(": %d checkpoints are gone: ", n)
		if n > maxNamedGone {
			text += "the last are "
		}
		return text + strings.Join(names, ", ")
	}
	return text
}

// Shortened says what the log has lost, nil for nothing. What only waits to come back from the mirror is not lost. The stat
// cache is asked too where thorough.
func (p *Project) Shortened(thorough bool) (*Shortened, error) {
	s := p.readShortened()
	reached := p.reached()
	if thorough {
		reached = max(reached, p.cached())
	}
	last, err := p.Store.Last()
	if err != nil || reached <= last.Seq || p.Store.Behind() {
		return s, err
	}
	return p.shortened(s, last, reached, p.Store.EndsWhole()), nil
}

// shortened adds to s that the log ends with last.
func (p *Project) shortened(s *Shortened, last cas.Position, reached uint64, whole bool) *Shortened {
	if s == nil {
		s = &Shortened{Last: last.Seq}
	}
	s.Cut, s.shown = s.Cut || !whole || p.cached() > last.Seq, false
	s.Last, s.Reached = min(s.Last, last.Seq), max(s.Reached, reached)
	for _, c := range p.Saved() {
		if c.Seq > last.Seq && !slices.ContainsFunc(s.Gone, func(o Saved) bool { return o.ID == c.ID }) {
			s.Gone = append(s.Gone, c)
		}
	}
	return s
}

func (p *Project) shortenedFile() string {
	if file := p.reachedFile(); file != "" {
		return filepath.Join(filepath.Dir(file), ShortenedName)
	}
	return ""
}

func (p *Project) readShortened() *Shortened {
	file := p.shortenedFile()
	if file == "" {
		return nil
	}
	data, err := vfs.ReadSmall(file, 1<<20, vfs.NoFollow)
	if err != nil {
		return nil
	}
	var n shortenedNote
	_ = json.Unmarshal(data, &n) // one that cannot be read says at least that there was something
	s := &Shortened{Cut: n.Cut, Last: n.Last, Reached: n.Reached, shown: n.Shown}
	for _, c := range n.Checkpoints {
		if id, err := manifest.ParseCheckpointID(c.ID); err == nil {
			s.Gone = append(s.Gone, Saved{id, time.Unix(c.Time, 0), c.Seq, c.Pinned})
		}
	}
	return s
}

// noteShortened is called under the append lock, before anything is added to a log that had more.
func (p *Project) noteShortened(last cas.Position, whole bool) error {
	file := p.shortenedFile()
	if file == "" {
		return nil
	}
	if err := p.writeShortened(p.shortened(p.readShortened(), last, p.reached(), whole)); err != nil {
		return err
	}
	// The numbers behind the last entry are free again.
	return p.trimReached(last.Seq)
}

func (p *Project) writeShortened(s *Shortened) error {
	n := shortenedNote{Cut: s.Cut, Last: s.Last, Reached: s.Reached, Shown: s.shown}
	for _, c := range s.Gone {
		n.Checkpoints = append(n.Checkpoints, goneOne{c.ID.String(), c.Seq, c.Time.Unix(), c.Pinned})
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return account.WriteFile(p.shortenedFile(), append(data, '\n'), account.OwnerOf(p.Env.Home))
}

// AcceptShortened is for repair, which names what is gone.
func (p *Project) AcceptShortened() error {
	file := p.shortenedFile()
	if file == "" {
		return nil
	}
	last, err := p.Store.Last()
	if err != nil {
		return err
	}
	return errors.Join(p.trimReached(last.Seq), account.RemoveIfThere(file))
}

// AcceptLost notes that these checkpoints are gone for good, so that the next repair does not name them again.
func (p *Project) AcceptLost(ids []manifest.CheckpointID) error {
	file := p.reachedFile()
	if file == "" || len(ids) == 0 {
		return nil
	}
	last, err := p.Store.Last()
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, "\n%d", last.Seq)
	for _, id := range ids {
		line = fmt.Appendf(line, " -%s", id)
	}
	return rewriteReached(file, last.Seq, append(line, " ."...), account.OwnerOf(p.Env.Home))
}

// tellShortened makes a notice of a shorter log: once of an older state, and of damage until it is repaired. verify and
// status --check say both until then.
func (p *Project) tellShortened() {
	s, err := p.Shortened(false)
	if s == nil || err != nil || s.shown {
		return
	}
	if s.Cut {
		p.Notify(fmt.Sprintf("the log of the store of %s was cut off: %s; see rewind verify", p.at.Root, s.Text()))
		return
	}
	p.Notify(fmt.Sprintf("the store of %s was replaced by an older state of it, in place: %s; see rewind verify", p.at.Root, s.Text()))
	if s.shown = true; p.ReadOnly == nil && account.Exists(p.shortenedFile()) {
		_ = p.writeShortened(s) // else it is shown once more
	}
}

// findShortened writes the note of a shortening that is only seen so far. If it cannot be written, each command shows it.
func (p *Project) findShortened() {
	last, err := p.Store.Last()
	if err != nil || p.ReadOnly != nil || p.reached() <= last.Seq || p.Store.Behind() {
		return
	}
	if a, err := p.Store.Append(account.Expired); err == nil {
		_ = a.Close()
	}
}
