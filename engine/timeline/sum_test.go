package timeline_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// anyDone are words of does, and of undoes, at random: edits, saves and operations, and those of sessions, if any.
func anyDone(rnd *rand.Rand, n int, sessions string) (words []string) {
	path := func() string { return []string{"a", "b", "c", "d"}[rnd.IntN(4)] }
	for range n {
		session := ""
		if sessions != "" {
			session = sessions[rnd.IntN(len(sessions)):][:1]
		}
		switch k := rnd.IntN(16); {
		case k < 4:
			words = append(words, fmt.Sprintf("w:%s=%d", path(), rnd.IntN(5)))
		case k < 5:
			words = append(words, "d:"+path())
		case k < 7:
			words = append(words, "save:")
		case k < 8:
			words = append(words, "undo --")
		case k < 9:
			words = append(words, "undo -- "+path())
		case k < 11:
			words = append(words, "redo --")
		case k < 12:
			words = append(words, fmt.Sprintf("restore %d -- %s", 1+rnd.IntN(3), path()))
		case k < 13:
			words = append(words, fmt.Sprintf("restore %d --", 1+rnd.IntN(3)))
		case session == "":
		case k < 14:
			words = append(words, fmt.Sprintf("%s/prompt:%d", session, len(words)))
		case k < 15 && session == "s":
			words = append(words, "s/tool:Bash")
		case k < 15:
			words = append(words, fmt.Sprintf("%s/pre:%d", session, len(words)), "w:"+path()+"=5", fmt.Sprintf("%s/post:%d", session, len(words)))
		default:
			words = append(words, session+"/stop")
		}
	}
	return words
}

// goes runs one word of anyDone.
func (l *lab) goes(word string) {
	l.T.Helper()
	before, path, isGoing := strings.Cut(word, " --")
	if !isGoing {
		if strings.HasPrefix(word, "d:") {
			l.Write(word[2:], "0")
		}
		l.Does(word)
		return
	}
	verb, target, _ := strings.Cut(before, " ")
	l.Try(func(ctx context.Context, p *project.Project) error {
		o := restore.Options{Paths: strings.Fields(path)}
		var err error
		switch verb {
		case "undo":
			_, err = restore.Undo(ctx, p, o)
		case "redo":
			_, err = restore.Redo(ctx, p, o)
		default:
			var c project.Listed
			if c, err = inspect.Resolve(ctx, p, target); err == nil {
				o.Checkpoint = c.Checkpoint
				_, err = restore.Restore(ctx, p, o)
			}
		}
		return err // nothing to undo, too few checkpoints, a path that was changed since: none is an error here
	})
}

// TestRowsAddUp: nothing that happened is in no row. What a person did adds up exactly: each row begins where
// the one before it ends, and the last is the project as it is now. Of an agent's rows, a turn has those of its calls in it: there, each step
// between two states is in some row.
func TestRowsAddUp(t *testing.T) {
	for seed := uint64(0); seed < 72; seed += testlab.Every(uint64(13)) {
		sessions := []string{"", "s", "gh"}[seed%3]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			words := anyDone(rand.New(rand.NewPCG(seed, 7)), 4+int(seed)/3, sessions)
			l := newLab(t)
			l.Write("a", "1")
			l.Init()
			for _, word := range words {
				l.goes(word)
			}
			rows, all, changes := l.rowsAndChanges()
			if t.Failed() {
				return
			}
			if sessions != "" {
				everyStepHasARow(t, rows, all)
			} else {
				changesChain(t, rows, changes)
			}
			if t.Failed() {
				t.Logf("%s", strings.Join(words, ", "))
				seen, _ := l.tells(0, timeline.Options{})
				t.Logf("rows:\n%s", strings.Join(seen, "\n"))
				seen, _ = l.tells(0, timeline.Options{Safety: true, Folded: true})
				t.Logf("all:\n%s", strings.Join(seen, "\n"))
			}
		})
	}
}

// rowsAndChanges are the rows that are shown, all rows, and the changes of the shown ones.
func (l *lab) rowsAndChanges() (rows, all []*timeline.Row, changes map[*timeline.Row][]manifest.Change) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		present, err := timeline.Look(ctx, p)
		if err != nil {
			return err
		}
		if rows, err = timeline.New(p, timeline.Options{Present: present}).Next(ctx, 0); err != nil {
			return err
		}
		if all, err = timeline.New(p, timeline.Options{Present: present, Safety: true, Folded: true}).Next(ctx, 0); err != nil {
			return err
		}
		changes = map[*timeline.Row][]manifest.Change{}
		for _, r := range rows {
			err := r.Changes(ctx, p, present, func(c manifest.Change) error {
				changes[r] = append(changes[r], c)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	now := l.Save().Checkpoint
	l.Do(func(ctx context.Context, p *project.Project) error {
		changes[nil] = nil
		return manifest.Diff(p.LoadDir, [32]byte{}, now.Root, func(c manifest.Change) error {
			changes[nil] = append(changes[nil], c)
			return nil
		})
	})
	return rows, all, changes
}

// changesChain applies the changes of rows, the oldest first: what they lead to is the project as it is now.
func changesChain(t *testing.T, rows []*timeline.Row, changes map[*timeline.Row][]manifest.Change) {
	t.Helper()
	tree := map[string]string{}
	text := func(e *manifest.Entry) string {
		if e == nil {
			return ""
		}
		return fmt.Sprint(e.Kind, e.Mode, e.ID)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Then != nil {
			t.Errorf("row %d (%s) has what a row of its own has", i, rows[i].Kind)
		}
		for _, c := range changes[rows[i]] {
			if text(c.Old) != tree[c.Path] {
				t.Errorf("row %d (%s) begins elsewhere than the rows below it end: %s", i, rows[i].Kind, c.Path)
			}
			if tree[c.Path] = text(c.New); c.New == nil {
				delete(tree, c.Path)
			}
		}
	}
	for _, c := range changes[nil] {
		if tree[c.Path] != text(c.New) {
			t.Errorf("what is at %s is in no row", c.Path)
		}
		delete(tree, c.Path)
	}
	for path := range tree {
		t.Errorf("that %s went is in no row", path)
	}
}

// everyStepHasARow checks that what differs between two states is in some row that is shown, or in an operation
// that another one took back.
func everyStepHasARow(t *testing.T, rows, all []*timeline.Row) {
	t.Helper()
	type state struct {
		seq  uint64
		root [32]byte
	}
	var states []state // newest first
	for _, r := range all {
		switch {
		case r.Kind == timeline.Now:
			states = append(states, state{math.MaxUint64, r.To.Root})
		case r.Checkpoint != nil:
			states = append(states, state{r.Seq, r.Checkpoint.Root})
		case r.To != nil:
			states = append(states, state{r.Seq, r.To.Root})
		}
	}
	var parts []*timeline.Row
	for _, r := range append(rows, all...) {
		if r.Kind == timeline.Operation && r.Folded != "" {
			parts = append(parts, r)
		}
	}
	for _, r := range rows {
		if parts = append(parts, r); r.Then != nil {
			parts = append(parts, r.Then)
		}
	}
	for i := 0; i+1 < len(states); i++ {
		to, from := states[i], states[i+1]
		if to.root == from.root {
			continue
		}
		in := false
		for _, r := range parts {
			switch {
			case r.To == nil:
			case r.Kind == timeline.Operation:
				in = in || r.Seq == to.seq
			default:
				var low uint64
				if r.From != nil {
					low = r.From.Seq
				}
				high := r.To.Seq
				if r.To.Now {
					high = math.MaxUint64
				}
				in = in || low <= from.seq && to.seq <= high
			}
		}
		if !in {
			t.Errorf("what came between %d and %d is in no row", from.seq, to.seq)
		}
	}
}
