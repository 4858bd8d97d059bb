package gitrestore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loseHeld removes an object from what is held, and from the repository.
func (b *box) loseHeld(id string) {
	b.t.Helper()
	for _, dir := range []string{b.held, filepath.Join(b.dir, ".git", "objects")} {
		if err := os.Remove(filepath.Join(dir, id[:2], id[2:])); err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
	}
}

// unable are the lines of a plan about what cannot return.
func unable(p *Plan) (list []string) {
	for i, text := range lines(p) {
		if p.Lines[i].Change == Unable {
			list = append(list, text)
		}
	}
	return list
}

// TestHeldNowhere: one object that is held nowhere is named, and all else returns, in each mode.
func TestHeldNowhere(t *testing.T) {
	for _, mode := range []Mode{Missing, Exact} {
		for name, test := range map[string]struct {
			object string
			lines  []string
		}{
			"a file":                 {"topic~1:b", []string{"objects unable refs/heads/topic^:b"}},
			"a directory":            {"topic~2:d", []string{"objects unable refs/heads/topic~2:d/"}},
			"a commit":               {"topic~1", []string{"objects unable refs/heads/topic^"}},
			"all files of a commit":  {"topic~1^{tree}", []string{"objects unable refs/heads/topic^:"}},
			"the commit of a branch": {"topic", []string{"ref unable refs/heads/topic"}},
			"the file of a stash":    {"stash:a", []string{"objects unable refs/stash:a"}},
		} {
			t.Run([]string{"missing ", "exact "}[mode]+name, func(t *testing.T) {
				b := started(t)
				b.git("branch", "whole")
				b.git("checkout", "-q", "whole")
				b.commit("w", "whole")
				b.git("checkout", "-qb", "topic", "main")
				b.write("d/e", "below")
				b.git("add", "d")
				b.commit("b", "first")
				b.git("rm", "-rq", "d")
				b.commit("b", "second")
				b.commit("b", "third")
				b.git("checkout", "-q", "main")
				b.stash("a", "stashed")
				s, was, id := b.save(), b.look(b.dir), b.git("rev-parse", test.object)
				b.git("branch", "-qD", "topic", "whole")
				b.git("stash", "clear")
				b.forget()
				b.loseHeld(id)
				p := b.plan(s, b.target(), mode)
				if len(p.Refusals) > 0 {
					t.Fatalf("refused: %q", p.Refusals)
				}
				if got := unable(p); !slices.Equal(got, test.lines) {
					t.Errorf("lines\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(test.lines, "\n"))
				}
				if _, err := p.Apply(t.Context()); err != nil {
					t.Fatal(err)
				}
				is := b.look(b.dir)
				if test.object == "topic" {
					was["refs"] = strings.Replace(was["refs"], "refs/heads/topic "+id+" \n", "", 1)
				}
				b.same(was, is, "refs", "stash", "status")
				b.git("rev-list", "--objects", "whole")
				again := b.plan(s, b.target(), mode)
				if len(again.Lines) != len(unable(again)) {
					t.Errorf("a second plan has %+v", again.Lines)
				}
			})
		}
	}
}

// TestReflogThatIsNotWhole: lines of reflogs do not return if commits that they alone lead to are not whole, since git's gc fails then.
func TestReflogThatIsNotWhole(t *testing.T) {
	for _, object := range []string{"HEAD~1:b", "HEAD~1"} {
		b := started(t)
		b.git("branch", "gone")
		b.git("checkout", "-q", "--detach")
		b.commit("b", "first")
		b.commit("b", "second")
		b.commit("b", "third")
		id := b.git("rev-parse", object)
		b.git("checkout", "-q", "main")
		s := b.save()
		b.git("branch", "-qD", "gone")
		b.forget()
		b.loseHeld(id)
		p := b.restore(s, b.target(), Missing)
		b.wantLines(p, "ref returns refs/heads/gone", "reflog returns")
		b.git("gc", "-q")
	}
}
