package attribution

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

func entryOf(letter string) *manifest.Entry {
	if letter == "-" {
		return nil
	}
	return &manifest.Entry{Kind: manifest.File, Mode: 0o644, Size: 1, ID: oid.ID{letter[0]}}
}

// TestTouches: a path is followed over checkpoints (their contents of it after "=") and touches of it:
// "5 before a#1 X" and "6 after a#1 Y @5.5", of which the file system says when it was written.
func TestTouches(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []string
		want string
	}{
		{"an edit between two looks of its own", []string{"0:=A", "5 before a#1 B", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=5.9 =C"},
			"B outside: you; C declared: a Edit#1"},
		{"nothing in front of it: it was as in the checkpoint", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=5.9 =C"}, "C declared: a Edit#1"},
		{"another's shell runs meanwhile", []string{"0:=A", "6 after a#1 C", "10: b+Bash#2@1 a+Edit#1(f)@4.9 a-Edit#1(f)@6 b-Bash#2@9 | f=5.9 =C"}, "C declared: a Edit#1"},
		{"the person writes over it", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=8 =D"}, "C declared: a Edit#1; D outside: you"},
		{"a formatter does", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=6.5 =D"}, "C declared: a Edit#1; D shell: a Edit#1 or you"},
		{"somebody does, in the same tick of the clock", []string{"0:=A", "6.001 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=6.002 =D"}, "C declared: a Edit#1; D shell: a Edit#1 or you"},
		{"a shell before it, and then the person", []string{"0:=A", "8 before a#2 B @7", "9 after a#2 C @8.5", "10: a+Bash#1@3 a-Bash#1@5 a+Edit#2(f)@7.9 a-Edit#2(f)@9 | f=8.5 =C"},
			"B shared: you or a Bash#1; C declared: a Edit#2"},
		{"the person, and then a shell", []string{"0:=A", "8 before a#2 B @2", "9 after a#2 C @8.5", "10: a+Bash#1@3 a-Bash#1@5 a+Edit#2(f)@7.9 a-Edit#2(f)@9 | f=8.5 =C"},
			"B outside: you; C declared: a Edit#2"},
		{"a shell before it, and no time", []string{"0:=A", "8 before a#2 B", "9 after a#2 C", "10: a+Bash#1@3 a-Bash#1@5 a+Edit#2(f)@7.9 a-Edit#2(f)@9 | f=8.5 =C"},
			"B shell: a Bash#1 or you; C declared: a Edit#2"},
		{"the clock was set back before it", []string{"100:=A", "8 before a#2 B @7", "9 after a#2 C @8.5", "10: a+Bash#1@103 a-Bash#1@5 a+Edit#2(f)@7.9 a-Edit#2(f)@9 | f=8.5 =C"},
			"B shell: a Bash#1 or you; C declared: a Edit#2"},
		{"another edit behind it", []string{"0:=A", "6 after a#1 C @5.9", "8 before b#2 C @5.9", "9 after b#2 D @8.5", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 b+Edit#2(f)@8 b-Edit#2(f)@9 | f=8.5 =D"},
			"C declared: a Edit#1; D declared: b Edit#2"},
		{"taken back before the checkpoint", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6", "20:"}, "C declared: a Edit#1; A outside: you"},
		{"two edits, one after the other", []string{"0:=A", "6 after a#1 C", "7 before b#2 C", "8 after b#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 b+Edit#2(f)@7 b-Edit#2(f)@8 =D"},
			"C declared: a Edit#1; D declared: b Edit#2"},
		{"the next call of the session, right behind the look", []string{"0:=A", "6.002 after a#1 C", "6.01 before a#2 C", "6.02 after a#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 a+Edit#2(f)@6.007 a-Edit#2(f)@6.015 =D"},
			"C declared: a Edit#1; D declared: a Edit#2"},
		{"another's edit begins in front of the look, and behind the last write", []string{"0:=A", "6.03 after a#1 C @5.99", "6.05 after b#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 b+Edit#2(f)@6.02 b-Edit#2(f)@6.04 =D"},
			"C declared: a Edit#1; D declared: b Edit#2"},
		{"and in front of the last write, as far as that can be told", []string{"0:=A", "6.03 after a#1 C @6.012", "6.05 after b#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6.015 b+Edit#2(f)@6.02 b-Edit#2(f)@6.04 =D"},
			"C shared: a Edit#1 or b Edit#2; D declared: b Edit#2"},
		{"the file system's clock is behind", []string{"0:=A", "6.03 after a#1 C @4.2", "6.05 after b#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 b+Edit#2(f)@6.02 b-Edit#2(f)@6.04 =D"},
			"C shared: a Edit#1 or b Edit#2; D declared: b Edit#2"},
		{"two at once, of one turn", []string{"0:=A", "6 before a#1 A", "6 before a#2 A", "7 after a#1 C @6.5", "8 after a#2 D @7.5", "10: a+Edit#1(f)@5.9 a+Edit#2(f)@5.95 a-Edit#1(f)@6.9 a-Edit#2(f)@7.9 =D"},
			"C declared: a Edit#1 or a Edit#2; D declared: a Edit#2 or a Edit#1"},
		{"the look in front of the second could not be taken", []string{"0:=A", "6 after a#1 C", "9 after b#2 D", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 b+Edit#2(f)@8 b-Edit#2(f)@9 =D"},
			"C declared: a Edit#1; D declared: b Edit#2 or you"},
		{"it was written behind the call's end, before the look at it", []string{"0:=A", "9 after b#2 D @8.9", "10: b+Edit#2(f)@8 b-Edit#2(f)@8.8 =D"}, "D declared: b Edit#2 or you"},
		{"its line says that it could not be looked at", []string{"0:=A", "9 after b#2 D", "10: b+Edit#2(f)@8 b?Edit#2@8 b-Edit#2(f)@9 =D"}, "D declared: b Edit#2 or you"},
		{"another file could not be", []string{"0:=A", "9 after b#2 D", "10: b+Edit#2(f)@8 b?Edit#2(g)@8 b-Edit#2(f)@9 =D"}, "D declared: b Edit#2"},
		{"more changed than it says", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 a?Edit#1(f)@6 =C"}, "C declared: a Edit#1 or you"},
		{"and another's shell runs meanwhile", []string{"0:=A", "6 after a#1 C", "10: b+Bash#2@1 a+Edit#1(f)@4.9 a-Edit#1(f)@6 a?Edit#1(f)@6 b-Bash#2@9 | f=5.9 =C"}, "C shared: a Edit#1 or b Bash#2 or you"},
		{"of another file more changed", []string{"0:=A", "6 after a#1 C", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 a?Edit#1(g)@6 =C"}, "C declared: a Edit#1"},
		{"taken back before the checkpoint that lies in front of the second", []string{"0:=A", "6 after a#1 C", "7: a+Edit#1(f)@4.9 a-Edit#1(f)@6", "9 after b#2 D", "10: b+Edit#2(f)@8 b-Edit#2(f)@9 =D"},
			"C declared: a Edit#1; A outside: you; D declared: b Edit#2"},
		{"its beginning is not known", []string{"0:=A", "6 after a#1 C", "10: =C"}, "C declared: a Edit#1 or you"},
		{"its beginning is not known, and another's shell ran", []string{"0:=A", "6 after a#1 C", "10: b+Bash#2@1 b-Bash#2@8 =C"}, "C shared: a Edit#1 or b Bash#2 or you"},
		{"a checkpoint that looked before the edit, and was committed behind it", []string{"0:=A", "6 after a#1 C", "5: a+Edit#1(f)@4.9", "20: a-Edit#1(f)@6 | f=5.9 =C"},
			"C declared: a Edit#1"},
		{"the checkpoint in front of it was removed", []string{"0:=A", "6 after a#1 C", "10 removed: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=5.9 =C"}, "C declared: a Edit#1 or you"},
		{"and another had edited it", []string{"0:=A", "6 after a#1 C", "10 removed: b+Edit#2(f)@2 b-Edit#2(f)@3 a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=5.9 =C"}, "C shared: a Edit#1 or b Edit#2 or you"},
		{"it was, and the edit had looked", []string{"0:=A", "5 before a#1 B", "6 after a#1 C", "10 removed: a+Edit#1(f)@4.9 a-Edit#1(f)@6 | f=5.9 =C"}, "B outside: you; C declared: a Edit#1"},
		{"a deletion", []string{"0:=A", "6 after a#1 -", "10: a+Edit#1(f)@4.9 a-Edit#1(f)@6 =-"}, "- declared: a Edit#1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Attribution{}
			h := &tracer{a: a, path: "f"}
			var looks []*point
			entries := map[uint64]*manifest.Entry{}
			changed := map[uint64]bool{}
			for i, text := range c.log {
				seq := uint64(10 * (i + 1))
				head, content, known := strings.Cut(text, "=")
				if j := strings.LastIndexByte(text, '='); known && strings.Contains(text, ":") && j > 0 {
					if head, content = text[:j], text[j+1:]; strings.HasSuffix(head, " f") {
						head, known = text, false
					}
				}
				var at, when, who, now, written string
				if strings.Contains(head, ":") {
					pt := checkpointOf(t, seq, head)
					a.points = append(a.points, pt)
					if known {
						looks, entries[seq], changed[seq] = append(looks, pt), entryOf(content), true
					}
					continue
				}
				fmt.Sscan(text, &at, &when, &who, &now, &written)
				session, call, _ := strings.Cut(who, "#")
				touch := manifest.Touch{Seq: seq, Time: clock(at), Agent: "x", Session: session, Tool: "Edit", Call: call, Path: "f", After: when == "after"}
				if written != "" {
					touch.Changed = clock(written[1:])
				}
				looks = append(looks, touchPoint(touch))
				entries[seq] = entryOf(now)
			}
			a.build()
			for _, pt := range looks {
				if n := a.index(pt.seq); n > 0 {
					h.rest(a.points[n-1])
				}
				h.see(pt, entries[pt.seq])
			}
			h.rest(a.points[len(a.points)-1])
			var got []string
			for _, s := range h.steps[1:] {
				letter := "-"
				if e := s.To.Entry; e != nil {
					letter = string(e.ID[:1])
				}
				got = append(got, letter+" "+says(s.Owner))
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}
