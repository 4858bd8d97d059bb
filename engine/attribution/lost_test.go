package attribution

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/manifest"
)

// TestLost: of a log whose first checkpoint stands for removed ones, too, what session a did in front of it.
func TestLost(t *testing.T) {
	const later = "30: | z=25" // times are known
	for _, c := range []struct {
		name string
		log  []string
		want string
	}{
		{"nothing was written", []string{"10: a+Bash#1@4 a-Bash#1@6", later}, ""},
		{"it was not there yet", []string{"10: b+Edit#1(f)@4 b-Edit#1(f)@6 | f=5", "20: a+Edit#2(g)@14 a-Edit#2(g)@16 | g=15"}, ""},
		{"a turn of talk", []string{"10: a>p@1 a.@3 b+Edit#1(f)@4 b-Edit#1(f)@6 | f=5", "20: a>q@12 a+Edit#2(g)@14 a-Edit#2(g)@16 | g=15"}, ""},
		{"an edit", []string{"10: a+Edit#1(f)@4 a-Edit#1(f)@6 | f=5", later}, "f a Edit#1"},
		{"an edit, and another's of the same path", []string{"10: a+Edit#1(f)@4 a-Edit#1(f)@6 b+Edit#2(f)@7 b-Edit#2(f)@9 | f=8", later}, "f a Edit#1"},
		{"another's edit was before it, and it did nothing", []string{"10: b+Edit#2(f)@1 b-Edit#2(f)@3 a+Edit#1(f)@4 a-Edit#1(f)@6 | f=2", later}, ""},
		{"an edit that was refused, made by hand", []string{"10: a+Edit#1(g)@1 a-Edit#1(g)@2 a+Edit#2(f)@4 a>q@9 | f=7", later}, "f maybe a Edit#2"},
		{"an edit of what no state holds", []string{"10: a+Edit#1(x)@4 a-Edit#1(x)@6 | f=2", later}, ""},
		{"a command", []string{"10: a+Bash#1@4 a-Bash#1@6 | f=5", later}, "f a Bash#1"},
		{"a command, and the person behind it", []string{"10: a+Bash#1@4 a-Bash#1@6 | f=8", later}, "f maybe a Bash#1"},
		{"the person before a command", []string{"10: a+Bash#1@4 a-Bash#1@6 | f=2", later}, ""},
		{"commands of two", []string{"10: a+Bash#1@4 b+Bash#2@4 a-Bash#1@6 b-Bash#2@6 | f=5", later}, "f maybe a Bash#1"},
		{"the command that the checkpoint is in front of", []string{"10 pre#1: a+Bash#1@9.5 | f=9.8", later}, ""},
		{"several", []string{"10: a+Edit#1(f)@2 a-Edit#1(f)@3 a+Bash#2@4 a-Bash#2@6 | f=2.5 g=5", later}, "f a Edit#1; g a Bash#2"},
		{"no times are known", []string{"10: a>p@1 a+Bash#1@4 a-Bash#1@6", "30:"}, "? a Bash#1"},
		{"no times are known, and it had not ended", []string{"10: a>p@1 a+Bash#1@4", "30: a-Bash#1@20"}, ""},
		{"some were left out", []string{"10: x~@1 a+Bash#1@4 a-Bash#1@6 | f=2", later}, "? a Bash#1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Attribution{}
			for i, text := range c.log {
				a.points = append(a.points, checkpointOf(t, uint64(10*(i+1)), text))
			}
			a.points[0].c.Parent = manifest.CheckpointID{1}
			a.build()
			ofA := func(w *Work) bool { return w.Session == "a" }
			lost, err := a.lost(a.points[0], a.callsBefore(a.points[0], ofA), nil, nil, ofA)
			var got []string
			for _, l := range lost {
				path, maybe := l.Path, "maybe "
				if path == "" {
					path = "?"
				}
				if l.Sure {
					maybe = ""
				}
				got = append(got, fmt.Sprintf("%s %s%s %s#%s", path, maybe, l.Work.Session, l.Work.Tool, l.Work.Call))
			}
			if got := strings.Join(got, "; "); got != c.want || err != nil {
				t.Errorf("%q, %v\nnot %q", got, err, c.want)
			}
		})
	}
}
