package timeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// What the rows that are shown brought into the store is all that checkpoints did: bytes of one that is left out are its turn's,
// or the row's before it.
func TestRowsHaveAllThatWasStored(t *testing.T) {
	l := newLab(t)
	l.Init()
	for _, word := range []string{"s/start", "s/prompt:one", "w:b=1", "s/stop", "s/prompt:two", "w:d=3", "t/prompt:other", "w:c=2", "t/stop", "s/stop", "s/end"} {
		l.Does(word)
	}
	l.goes("restore 1 --") // with a safety checkpoint
	l.Do(func(ctx context.Context, p *project.Project) error {
		var want uint64
		err := p.Query(ctx, func(db *manifest.DB) error {
			for c, err := range db.Checkpoints(manifest.Query{All: true}) {
				if err != nil {
					return err
				}
				want += c.StoredBytes
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, page := range []int{0, 1, 3} {
			r := timeline.New(p, timeline.Options{})
			var got uint64
			var of []string
			for {
				rows, err := r.Next(ctx, page)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					break
				}
				for _, row := range rows {
					got += row.Stored
					if row.Stored > 0 {
						of = append(of, fmt.Sprintf("%s %s", row.Kind, row.Text))
					}
				}
			}
			if text := strings.Join(of, ", "); got != want || !strings.Contains(text, "prompt one") || !strings.Contains(text, "prompt other") {
				t.Errorf("pages of %d: %d of %d bytes, of %s", page, got, want, text)
			}
		}
		return nil
	})
}
