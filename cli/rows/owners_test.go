package rows

import (
	"testing"

	"github.com/rewind-cli/rewind/engine/attribution"
)

// TestOwnerText: those who each made a change are joined by and, those of whom any could have by or.
func TestOwnerText(t *testing.T) {
	work := func(session, prompt string) *attribution.Work {
		return &attribution.Work{Session: session, Tool: "Edit", Prompt: prompt}
	}
	sessions := map[string]bool{"s1": true, "s2": true}
	for _, c := range []struct {
		owner attribution.Owner
		want  string
	}{
		{attribution.Owner{By: work("s2", "last"), Also: []*attribution.Work{work("s1", "one")}}, `s2 Edit "last", or s1 Edit "one"`},
		{attribution.Owner{By: work("s2", "last"), Also: []*attribution.Work{work("s1", "one")}, Each: true}, `s2 Edit "last" and s1 Edit "one"`},
		{attribution.Owner{By: work("s2", "last"), Also: []*attribution.Work{work("s1", "one")}, AlsoOutside: true, Each: true}, `s2 Edit "last", s1 Edit "one" and you`},
		{attribution.Owner{By: work("s2", "last"), Each: true}, `s2 Edit "last"`},
	} {
		if got := OwnerText(c.owner, "a", sessions); got != c.want {
			t.Errorf("%s\nnot %s", got, c.want)
		}
	}
}
