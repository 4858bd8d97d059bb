package restore

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

type otherWork struct {
	OtherWork
	file  string // its transcript
	tail  []byte // the end of it
	read  bool
	paths map[string]bool
	sure  map[string]bool // those of which no other session, and not the person, could have made anything
	turns map[string]*otherTurn
}

type otherTurn struct {
	OtherTurn
	start time.Time // of its first call that is known
	paths map[string]bool
}

// turnOf is the turn of the session that a call belongs to.
func (w *otherWork) turnOf(by *attribution.Work) *otherTurn {
	key := cmp.Or(by.PromptID, by.Prompt)
	t := w.turns[key]
	if t == nil {
		t = &otherTurn{OtherTurn{PromptID: by.PromptID}, by.Start, map[string]bool{}}
		w.turns[key] = t
	}
	if t.Prompt == "" {
		t.Prompt = transcript.Label(by.Prompt)
	}
	if by.Start.Before(t.start) {
		t.start = by.Start
	}
	return t
}

// add notes a step that is taken for the session's; sure says that only it could have made that.
func (w *otherWork) add(path string, sure bool) {
	was, known := w.sure[path], w.paths[path]
	w.paths[path] = true
	if w.sure[path] = sure && (was || !known); !w.sure[path] {
		delete(w.sure, path)
	}
}

// complete makes the description of it.
func (w *otherWork) complete() {
	w.Files = slices.Sorted(maps.Keys(w.paths))
	w.Paths, w.Shared = len(w.Files), len(w.sure) == 0
	all := slices.SortedFunc(maps.Values(w.turns), func(a, b *otherTurn) int {
		return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.PromptID, b.PromptID), cmp.Compare(a.Prompt, b.Prompt))
	})
	for _, t := range all {
		t.Files = slices.Sorted(maps.Keys(t.paths))
		w.Turns = append(w.Turns, t.OtherTurn)
	}
}

// follows reports whether a session is a fork of one that the restore is about, where none of those went on
// since it began: then one person went on in it.
func (r *Run) follows(w *otherWork, mine map[string]bool) (bool, error) {
	d, err := transcript.Describe(transcript.Agent(w.Agent), w.file)
	if err != nil || d.Parent == "" || !mine[d.Parent] {
		return false, nil
	}
	first, err := r.firstOf(w.Session)
	if err != nil {
		return false, err
	}
	for id := range mine {
		if on, err := r.wentOn(id, first.Seq); err != nil || on {
			return false, err
		}
	}
	mine[w.Session] = true
	return true, nil
}

// wentOn reports whether a session was at work after a checkpoint: to be opened, or closed, is no work.
func (r *Run) wentOn(session string, since uint64) (on bool, err error) {
	if session == "" {
		return false, nil
	}
	err = r.Query(r.Ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
			if err != nil || c.Seq <= since {
				return err
			}
			if ofTurn(&c) && c.Kind != manifest.SessionStart && c.Kind != manifest.SessionEnd {
				on = true
				return nil
			}
		}
		return nil
	})
	return on, err
}

// root is the first message of the session, which its forks have, too; "" where it is not known.
func (w *otherWork) root() string {
	if w == nil || w.file == "" {
		return ""
	}
	d, err := transcript.Describe(transcript.Agent(w.Agent), w.file)
	if err != nil {
		return ""
	}
	return d.Root
}

// maxNamedIn is how much of a transcript's end is searched for a path.
const maxNamedIn = 8 << 20

// names reports whether the end of the session's transcript has the path's last
// component.
func (w *otherWork) names(file string) bool {
	if !w.read {
		w.read = true
		w.tail = tailOf(w.file)
	}
	return bytes.Contains(w.tail, []byte(path.Base(file)))
}

// tailOf reads the end of a regular file; nothing where it cannot be read.
func tailOf(name string) []byte {
	f, info, err := vfs.OpenRegular(name, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	size := min(info.Size(), maxNamedIn)
	data, err := io.ReadAll(io.NewSectionReader(f, info.Size()-size, size))
	if err != nil {
		return nil
	}
	if _, rest, ok := bytes.Cut(data, []byte("\n")); ok && size < info.Size() {
		data = rest
	}
	return data
}
