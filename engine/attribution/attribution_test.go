package attribution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
)

// owners are the steps of a path, a line each: what it became and whose that is.
func (l *lab) owners(path string) string {
	l.T.Helper()
	var lines []string
	l.Do(func(ctx context.Context, p *project.Project) error {
		a, err := attribution.New(ctx, p, attribution.Options{})
		if err != nil {
			return err
		}
		steps, err := a.Steps(path)
		for _, s := range steps {
			text := "gone"
			if s.To.Entry != nil {
				data, err := p.ReadObject(s.To.Entry.ID)
				if err != nil {
					return err
				}
				text = string(data)
			}
			lines = append(lines, text+" "+ownerText(s.Owner))
		}
		return err
	})
	return strings.Join(lines, "\n")
}

func ownerText(o attribution.Owner) string {
	text := string(o.Class)
	name := func(w *attribution.Work) string {
		return strings.Trim(fmt.Sprintf("%s/%s", w.Session, w.Tool), "/")
	}
	if o.By != nil {
		text += " " + name(o.By)
	}
	for _, w := range o.Also {
		text += " also " + name(w)
	}
	if o.AlsoOutside {
		text += " or you"
	}
	return text
}

// TestOwnersWithoutWindows: of checkpoints that have no windows the owner is the call in front of the change.
func TestOwnersWithoutWindows(t *testing.T) {
	l := newLab(t)
	l.Write("f", "0")
	l.Init()
	l.Does("a/prompt:do", "a/tool:Bash", "w:f=1", "a/stop", "w:f=2", "save", "a/prompt:more", "w:f=3", "a/stop", "w:f=4",
		"b/prompt:too", "w:f=5", "restore:last",
		"a/prompt:both", "b/tool:Bash", "w:f=6", "a/stop", "b/stop", "restore:9", "undo-restore")
	want := strings.TrimSpace(`
0 outside
1 shell a/Bash or you
2 outside
3 shell a or you
4 outside
5 shell b or you
4 operation restore
6 shared b/Bash also a or you
1 operation restore
6 operation undo-restore
`)
	if got := l.owners("f"); got != want {
		t.Errorf("owners are\n%s\nnot\n%s", got, want)
	}
}
