package page

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
)

// A row that was pulled is called by its machine: in the list, above its change, and in the command that is copied.
func TestPagePulled(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	name := pulled(t, l.env, func(env account.Env, args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := commandLine(context.Background(), args, env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut}); code != 0 {
			t.Fatalf("rewind %v: %d\n%s%s", args, code, &out, &errOut)
		}
		return out.String()
	})
	l.serve()
	l.look()
	l.ok(l.Eval(fmt.Sprintf(`(() => { const s = document.querySelector("select[aria-label=Project]");
		s.value = [...s.options].find((o) => o.textContent.endsWith(" of %s")).value; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, name), nil))
	l.until(fmt.Sprintf(`(() => { const rows = [...document.querySelectorAll(".row")].filter((r) => r.querySelector(".n").textContent);
		return rows.length > 0 && rows.every((r) => /^%[1]s\/\d+$/.test(r.querySelector(".n").textContent)) && document.querySelector(".right h2").textContent.startsWith("%[1]s/") &&
			[...document.querySelectorAll(".right .buttons [title]")].some((b) => b.title.includes("rewind show %[1]s/")); })()`, name))
	l.picture("pulled")
}
