package timeline

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/manifest"
)

// Filter selects rows by what they say. Its zero value selects all.
type Filter struct {
	Paths        []string                     // paths and globs as package pathspec has them: rows whose own changes have one
	Text         string                       // in name, description, prompt, tool or its argument, or in what git did; see fits
	GitText      func(gitevents.Event) string // how that is shown; nil: it is not searched
	Since, Until time.Time                    // zero: no bound
	Sessions     map[string]bool              // session ids; nil: all
	Agents       func(string) bool            // nil: all
}

// passes reports whether a finished row is selected.
func (t *Timeline) passes(ctx context.Context, r *Row) (bool, error) {
	f := &t.o.Filter
	switch {
	case r.Kind == Now && (f.Text != "" || f.Sessions != nil || f.Agents != nil || !f.Until.IsZero() && r.Time.After(f.Until)):
		return false, nil
	case !f.Since.IsZero() && r.Time.Before(f.Since), !f.Until.IsZero() && r.Time.After(f.Until):
		return false, nil
	case f.Sessions != nil && !f.Sessions[r.Session]:
		return false, nil
	case f.Agents != nil && !f.Agents(r.Agent):
		return false, nil
	case f.Text != "" && !r.says(f.Text):
		if f.GitText == nil || t.matching != nil {
			return false, nil
		}
		if ok, err := t.tellsGit(r); err != nil || !ok || len(f.GitSaying(r.Git())) == 0 {
			return false, err
		}
	}
	if t.matching == nil {
		return true, nil
	}
	ok, err := t.matching.touched(ctx, r)
	if !ok && err == nil && r.Then != nil {
		return t.matching.touched(ctx, r.Then)
	}
	return ok, err
}

// says reports whether a row has the text. An end is not searched by its prompt, which has a row.
func (r *Row) says(text string) bool {
	fields := []string{r.Text, r.Tool, r.Summary}
	if c := r.Checkpoint; c != nil {
		fields = append(fields, c.Name, c.Description, c.Prompt)
	}
	if o := r.Operation; o != nil {
		fields = append(fields, string(o.Kind), o.Verb)
	}
	return slices.ContainsFunc(fields, func(s string) bool { return fits(s, text) })
}

// GitSaying are the events that have the text; none where none has.
func (f *Filter) GitSaying(events []gitevents.Event) (list []gitevents.Event) {
	for _, e := range events {
		if f.Text != "" && fits(f.GitText(e), f.Text) {
			list = append(list, e)
		}
	}
	return list
}

// fits reports whether s contains text: whatever the case, unless text has a capital letter.
func fits(s, text string) bool {
	if strings.IndexFunc(text, unicode.IsUpper) >= 0 {
		return strings.Contains(s, text)
	}
	if len(s) < len(text) && utf8.RuneCountInString(s) < utf8.RuneCountInString(text) {
		return false
	}
	return strings.Contains(strings.ToLower(s), strings.ToLower(text))
}

// pathMatcher knows which checkpoints changed the paths that are asked for.
type pathMatcher struct {
	t       *Timeline
	chosen  pathspec.Selection
	changed []uint64 // sequence numbers, ascending
}

var errFound = errors.New("found")

// prepare finds the checkpoints that changed the filter's paths.
func (t *Timeline) prepare(db *manifest.DB) error {
	if len(t.o.Paths) == 0 {
		return nil
	}
	chosen, err := pathspec.Select(t.o.Paths)
	if err != nil {
		return err
	}
	m := &pathMatcher{t: t, chosen: chosen}
	if chosen.All() {
		return nil
	}
	seqs := map[uint64]bool{}
	all := false
	for _, pattern := range t.o.Paths {
		path, plain := pathspec.PlainPath(pattern)
		if !plain {
			all = true
			break
		}
		// A file's history is in the database. A directory's is that of all below it.
		files := false
		for v, err := range db.History(strings.TrimSuffix(path, "/")) {
			if err != nil {
				return err
			}
			dir := v.Old != nil && v.Old.Kind == manifest.Subdir || v.New != nil && v.New.Kind == manifest.Subdir
			files = files || !dir
			all = all || dir
			seqs[v.Seq] = true
		}
		all = all || !files
	}
	if all {
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			for change, err := range db.Changes(c.Seq) {
				if err != nil {
					return err
				}
				if chosen.Match(change.Path) {
					seqs[c.Seq] = true
					break
				}
			}
		}
	}
	m.changed = slices.Sorted(maps.Keys(seqs))
	t.matching = m
	return nil
}

// touched reports whether a row's own changes have one of the paths.
func (m *pathMatcher) touched(ctx context.Context, r *Row) (bool, error) {
	if r.To == nil {
		return false, nil
	}
	if r.To.ID != (manifest.CheckpointID{}) && (r.From == nil || r.From.ID != (manifest.CheckpointID{})) {
		var from uint64
		if r.From != nil {
			from = r.From.Seq
		}
		i, _ := slices.BinarySearch(m.changed, from+1)
		return i < len(m.changed) && m.changed[i] <= r.To.Seq, nil
	}
	err := r.changes(ctx, m.t.p, m.t.o.Present, m.t.p.LoadDir, m.chosen.Filter(func(manifest.Change) error { return errFound }))
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
