package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/manifest"
)

func formatScore(f inspect.FileDiff) string { return fmt.Sprintf("%c%03d", f.Status, f.Score) }

// statRow is a file's line of --stat.
type statRow struct {
	name           string
	added, deleted int
	instead        string // text in place of the bar, for content without lines
}

// statRows leaves out directories, which have no content, and what differs in nothing under the flags.
func statRows(files []inspect.FileDiff) (rows []statRow) {
	size := func(e *manifest.Entry) uint64 {
		switch {
		case e == nil || e.Kind == manifest.Subdir:
			return 0
		case e.Kind == manifest.Symlink:
			return uint64(len(e.Target))
		}
		return e.Size
	}
	dir := func(e *manifest.Entry) bool { return e == nil || e.Kind == manifest.Subdir }
	for _, d := range files {
		if d.Patch == "" || dir(d.Old) && dir(d.New) {
			continue
		}
		r := statRow{name: app.EscapePath(d.Path), added: d.Added, deleted: d.Deleted}
		if d.From != "" {
			r.name = patch.Between(app.EscapePath(d.From), app.EscapePath(d.Path))
		}
		switch {
		case d.Hidden:
			r.instead = "precious"
		case d.Large:
			r.instead = fmt.Sprintf("too large for lines, %d -> %d bytes", size(d.Old), size(d.New))
		case d.Binary:
			r.instead = fmt.Sprintf("Bin %d -> %d bytes", size(d.Old), size(d.New))
		}
		rows = append(rows, r)
	}
	return rows
}

// statWidths are the columns that names, numbers and bars get of a line, as git shares them out: a long
// name is cut before a bar is shorter than three eighths of the line.
func statWidths(rows []statRow, width int) (name, number, bar int) {
	instead := 0
	for _, r := range rows {
		name = max(name, displaywidth.String(r.name))
		if r.instead == "" {
			bar = max(bar, r.added+r.deleted)
			continue
		}
		instead = max(instead, len(r.instead))
		number = max(number, 3)
	}
	number = max(number, len(strconv.Itoa(bar)))
	bar = max(bar, instead-4)
	const between = 6 // " ", " | ", " ", and one to spare
	width = max(width, 16+between+number)
	if name+number+between+bar > width {
		bar = min(bar, max(width*3/8-number-between, 6))
		if most := width - number - between - bar; name > most {
			name = most
		} else {
			bar = width - number - between - name
		}
	}
	return name, number, bar
}

// printStat prints lines per file with a bar, as git does.
func printStat(o *app.Output, files []inspect.FileDiff) {
	rows := statRows(files)
	width := cmp.Or(o.Width(), 80)
	name, number, bar := statWidths(rows, width)
	most, added, deleted := 0, 0, 0
	for _, r := range rows {
		if r.instead == "" {
			most = max(most, r.added+r.deleted)
			added, deleted = added+r.added, deleted+r.deleted
		}
	}
	for _, r := range rows {
		shown := clipFront(r.name, name)
		shown += strings.Repeat(" ", name-displaywidth.String(shown))
		if r.instead != "" {
			o.Line(" %s | %*s", shown, number, r.instead)
			continue
		}
		plus, minus := r.added, r.deleted
		if bar <= most {
			plus, minus = scaleBar(plus, minus, bar, most)
		}
		line := fmt.Sprintf(" %s | %*d", shown, number, r.added+r.deleted)
		if plus+minus > 0 {
			line += " " + o.Color.Paint(screen.Green, strings.Repeat("+", plus)) + o.Color.Paint(screen.Red, strings.Repeat("-", minus))
		}
		o.Line("%s", line)
	}
	if len(files) == 0 {
		return
	}
	total := fmt.Sprintf(" %s changed", app.Plural(len(rows), "file", "files"))
	if added > 0 || deleted == 0 && len(rows) > 0 {
		total += ", " + app.Plural(added, "insertion(+)", "insertions(+)")
	}
	if deleted > 0 || added == 0 && len(rows) > 0 {
		total += ", " + app.Plural(deleted, "deletion(-)", "deletions(-)")
	}
	o.Line("%s", total)
}

// scaleBar fits both parts of a bar into width, the longest bar being most: what is there at all is seen.
func scaleBar(plus, minus, width, most int) (int, int) {
	scale := func(n int) int {
		if n == 0 {
			return 0
		}
		return 1 + n*(width-1)/most
	}
	total := scale(plus + minus)
	if total < 2 && plus > 0 && minus > 0 {
		total = 2
	}
	if plus < minus {
		plus = scale(plus)
		return plus, total - plus
	}
	minus = scale(minus)
	return total - minus, minus
}

// clipFront cuts a path at its front, best after a slash, as the end says more.
func clipFront(path string, width int) string {
	if displaywidth.String(path) <= width {
		return path
	}
	const dots = "..."
	rest := path
	for rest != "" && displaywidth.String(rest) > width-len(dots) {
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest = rest[i:]
	}
	return dots + rest
}
