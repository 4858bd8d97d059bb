package revert

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// content finds what the path holds without the work.
func (v *reverting) content(worker int, f *fileRevert, links []work.Link) error {
	w, err := v.weave(links)
	if err != nil {
		return err
	}
	if w == nil {
		v.register(f, links)
		return nil
	}
	newest := links[len(links)-1].Entry
	f.to = newest
	var whole bool // a choice keeps the file
	n := len(f.conflicts)
	result := w.Without(func(step int) bool { return links[step].Own }, weave.Options{
		Choose: func(b weave.Block) weave.Choice {
			c := v.conflictOf(f, links, w, b)
			f.conflicts = append(f.conflicts, c)
			whole = whole || c.Choice == work.KeepFile
			return c.Choice.OfBlock()
		},
		Hold:   func(going []string) bool { return v.heldIn(f.path, going) != "" },
		Again:  work.WrittenAgain(links),
		Labels: work.Labels,
	})
	for _, b := range result.Blocks {
		if len(b.Removed) > 0 {
			f.going = append(f.going, b.Removed)
		}
		f.removed += len(b.Removed)
		f.restored += len(b.Restored)
		if b.Kind == weave.Touching {
			f.near = append(f.near, NearPart{f.path, b.Start + 1, b.End, v.others(links, b.Foreign)})
		}
		if !b.Kind.Conflict() {
			continue
		}
		c := &f.conflicts[n]
		if n++; b.Choice == weave.Undo {
			continue
		}
		k := KeptPart{f.path, b.At + 1, b.AtEnd, reasonChangedSince, v.others(links, b.Foreign), b.Choice == weave.Markers}
		if b.Kind == weave.Held {
			k.Reason, k.By = c.Reason, nil
		}
		f.kept = append(f.kept, k)
	}
	first := slices.IndexFunc(links, func(l work.Link) bool { return l.Own }) // none: its deletion alone
	f.merged = first >= 0 && slices.ContainsFunc(links[first:], func(l work.Link) bool { return !l.Own })
	if whole {
		f.removed, f.restored, f.near, f.merged = 0, 0, nil, false
		f.kept = []KeptPart{{Path: f.path, Reason: f.conflicts[0].Reason, By: f.conflicts[0].By}}
		f.going = nil
		return nil
	}
	return v.write(worker, f, newest, result.Lines)
}

// write makes the entry of a text.
func (v *reverting) write(worker int, f *fileRevert, like *manifest.Entry, lines []string) error {
	data := []byte(strings.Join(lines, ""))
	base := like.ID
	if v.o.DryRun {
		base = oid.ID{} // a delta takes longer than the rest of a file, and nothing is kept
	}
	kind, id, n, err := v.Tx.Content(worker, bytes.NewReader(data), int64(len(data)), base)
	if err != nil {
		return err
	}
	if n != int64(len(data)) {
		return fmt.Errorf("%s: %w", patch.Quote(f.path), io.ErrShortWrite)
	}
	e := *like
	e.Kind, e.ID, e.Size = kind, id, uint64(n)
	f.to = &e
	return nil
}

// weave puts all versions together; nil where one is no text, or they are too large.
func (v *reverting) weave(links []work.Link) (w *weave.Weave, err error) {
	for _, l := range links {
		if l.Entry != nil && (l.Entry.Kind == manifest.Symlink || l.Entry.Kind == manifest.Subdir || l.Entry.Size > patch.MaxText) {
			return nil, nil
		}
	}
	texts := v.versions.Texts(0)
	for i, l := range links {
		if err := v.Ctx.Err(); err != nil {
			return nil, err
		}
		text := ""
		if l.Entry != nil {
			var ok bool
			if text, ok, err = texts.Text(l.Entry, patch.IsText); err != nil || !ok {
				return nil, err
			}
		}
		if w == nil {
			w = weave.NewText(text)
			continue
		}
		if taken := v.done.TakenBy(links, i); taken != nil {
			err = w.AddWithout(linediff.Lines(text), i, *taken)
		} else {
			if back := work.StateOf(links, i); back != nil {
				w.ReturnsTo(*back)
			}
			err = w.AddText(text, i)
		}
		if err != nil {
			return nil, nil // too many
		}
	}
	return w, nil
}
