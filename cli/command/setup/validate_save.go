package setup

import (
	"fmt"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// saveFindings are what the next save would fail at.
func saveFindings(p *project.Project) (out []finding) {
	if p.ReadOnly != nil {
		return nil // which is said of the whole store
	}
	for _, o := range p.Obstacles() {
		f := finding{Severity: registration.Severe, Area: "store"}
		kind, mode := "file", "u+rw"
		if o.Dir {
			kind, mode = "directory", "u+rwx"
		}
		path := app.ShellQuote(o.Path)
		what := "no save works"
		if o.Apart {
			f.Severity, what = registration.Mild, "what agents do is not noted"
		}
		switch {
		case o.Err != nil:
			f.Message = fmt.Sprintf("%s: %s cannot be written: %s", what, o.Path, problem.Text(o.Err))
			f.Cure = "chmod " + mode + " " + path + ", if it is yours; else check its owner"
		case o.Derived:
			f.Message, f.Cure = fmt.Sprintf("%s: %s is not a %s", what, o.Path, kind), "rm -r "+path+"; rewind save makes it anew"
		default:
			f.Message, f.Cure = fmt.Sprintf("%s: %s is not a %s", what, o.Path, kind), "move it away, then rewind verify --repair"
		}
		out = append(out, f)
	}
	return out
}
