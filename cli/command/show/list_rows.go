package show

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// print prints the rows as a table.
func (l *listing) print(ctx context.Context) error {
	o := l.c.Out
	t := screen.Table{
		Width: o.Width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true}, {Title: "WHY", Style: screen.Cyan},
			{Title: "SESSION"}, {Title: "TEXT", Flex: true}, {Title: "MADE OR SAVED"}},
	}
	whose := rows.SessionLabels(l.rows)
	others, err := l.others(ctx, whose)
	if err != nil {
		return err
	}
	for _, r := range l.rows {
		n, known, err := r.Count(ctx, l.p, l.present)
		if project.IsDamage(err) {
			n, known = timeline.Counts{}, false // verify tells of that
		} else if err != nil {
			return err
		}
		age := app.FormatAge(o.Now().Sub(r.Time))
		cells := []string{rows.RowNumber(r), rows.RowID(r), age, screen.Clip(rows.RowWhy(r), rows.MaxWhy), whose[rows.SessionOf(r)], rows.RowText(r, n), rows.JoinNonEmpty(strings.TrimSpace(rows.RowChanges(r, n, known)+others(r)), strings.TrimSpace(rows.ThenChanges(r)+others(r.Then)))}
		if r.Kind == timeline.Now {
			if cells[1], cells[2] = "now", ""; t.Width > 0 && t.Width < rows.Narrow {
				cells[2] = "now"
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	if l.unseen != "" && !l.filtered {
		t.Rows = append([][]string{{"@", "now", "", "", "", "not compared: " + app.Escape(l.unseen), ""}}, t.Rows...)
	}
	if t.Width > 0 && t.Width < rows.Narrow {
		for i := range t.Rows {
			t.Rows[i][1] = ""
		}
	}
	l.release() // the person may read for as long as they like
	return l.c.Page(ctx, func() {
		o.Table(t)
		l.printRest()
	})
}

// printRest says what is not shown.
func (l *listing) printRest() {
	var parts []string
	if l.folded > 0 {
		parts = append(parts, app.Plural(l.folded, "row without changes", "rows without changes"))
	}
	if l.older > 0 {
		parts = append(parts, app.Plural(l.older, "older checkpoint", "older checkpoints"))
	}
	if len(parts) > 0 {
		l.c.Out.Summary("%s", l.c.Out.Color.Paint(screen.Dim, "Not shown: "+strings.Join(parts, ", ")+". All: "+l.c.Out.Typed("rewind list --all")))
	}
}
