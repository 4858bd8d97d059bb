package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/restore"
)

// A plan before a question names some of many paths, and says how all are seen; a dry run names all.
func TestPlanIsBounded(t *testing.T) {
	r := &restore.Restored{}
	for i := range app.MaxNamed + 5 {
		r.Create = append(r.Create, fmt.Sprint("f", i))
	}
	for most, want := range map[int]int{0: app.MaxNamed + 5, app.MaxNamed: app.MaxNamed + 1} {
		var out strings.Builder
		o := app.NewOutput(app.Stdio{Out: &out, Err: io.Discard}, account.Env{}, false)
		printRestoredPaths(o, r, most)
		o.Buf.Flush()
		if n := strings.Count(out.String(), "\n"); n != want || (most > 0) != strings.HasSuffix(out.String(), "  and 5 more; --dry-run lists all\n") {
			t.Errorf("%d lines of at most %d:\n%s", n, most, &out)
		}
	}
}
