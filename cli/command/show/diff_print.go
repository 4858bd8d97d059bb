package show

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
)

// printPatch prints one file's diff. To a terminal control characters of the
// content are shown escaped; elsewhere the patch keeps its bytes, so that it applies.
func printPatch(o *app.Output, d inspect.FileDiff) {
	if d.Patch == "" {
		switch {
		case d.Binary:
			o.Line("%s", o.Color.Paint(screen.Bold, "Binary file "+app.EscapePath(d.Path)+" differs"))
		default:
			o.Line("%s", o.Color.Paint(screen.Bold, rows.ModeLine(d)))
		}
		return
	}
	if !o.OutTerm {
		o.Buf.WriteString(d.Patch)
		return
	}
	o.Buf.WriteString(rows.PaintPatch(o.Color, d.Patch))
}
