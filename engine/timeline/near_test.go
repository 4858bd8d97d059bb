package timeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// TestRowOf: the row of one checkpoint, of which only what is near it is read, is the one that the whole timeline has.
func TestRowOf(t *testing.T) {
	for seed := uint64(0); seed < 24; seed += testlab.Every(uint64(11)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.Write("a", "1")
			l.Init()
			words := anyDone(rand.New(rand.NewPCG(seed, 11)), 60, []string{"gh", "s", "sgh"}[seed%3])
			if seed%2 == 0 { // operations end all turns
				words = withoutOperations(words)
			}
			for _, word := range words {
				l.goes(word)
			}
			l.Do(func(ctx context.Context, p *project.Project) error {
				now, err := timeline.Look(ctx, p)
				if err != nil {
					return err
				}
				all, err := timeline.New(p, timeline.Options{Present: now, Folded: true, Safety: true}).Next(ctx, 0)
				if err != nil {
					return err
				}
				for _, want := range all {
					if want.Kind == timeline.Now {
						continue
					}
					got, err := timeline.RowOf(ctx, p, want.Seq, func() *timeline.Present { return now })
					if err != nil {
						return err
					}
					if g, w := rowText(got), rowText(want); g != w {
						t.Errorf("row of %d:\n%s, and in the timeline\n%s\nof %s", want.Seq, g, w, strings.Join(words, ", "))
						return nil
					}
				}
				return nil
			})
		})
	}
}

func withoutOperations(words []string) (kept []string) {
	for _, w := range words {
		if !strings.Contains(w, " --") {
			kept = append(kept, w)
		}
	}
	return kept
}

// rowText is what a row tells of.
func rowText(r *timeline.Row) string {
	if r == nil {
		return "none"
	}
	state := func(s *timeline.State) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprintf("%d/%v", s.Seq, s.Now)
	}
	text := fmt.Sprintf("%s %d %s %s..%s folded %q ends %q claimed %v", r.Kind, r.Seq, r.Side, state(r.From), state(r.To), r.Folded, r.Ends, r.Claimed)
	if r.Then != nil {
		text += ", then " + rowText(r.Then)
	}
	return text
}
