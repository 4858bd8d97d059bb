package rows

import (
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/problem"
)

// InsteadText names what stands where files were that a checkpoint has, and that no checkpoint can hold; "" for nothing.
func InsteadText(found []problem.Problem) string {
	var names []string
	for _, p := range app.FirstN(found, app.MaxNamed) {
		names = append(names, app.EscapePath(p.Path)+" ("+app.Escape(p.Reason)+")")
	}
	switch n := len(found) - app.MaxNamed; {
	case len(found) == 0:
		return ""
	case n > 0:
		names = append(names, app.Plural(n, "more path", "more paths"))
	}
	return "cannot be captured: " + strings.Join(names, ", ")
}
