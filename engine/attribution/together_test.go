package attribution

import (
	"fmt"
	"strings"
	"testing"
)

// TestTogether: steps of f, and of other paths that are named, as "who what": a letter is a session, me the person, op an
// operation; what it left is a letter, or - for nothing. Each path begins with A.
func TestTogether(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"one", "a B", "declared: a Edit"},
		{"one's", "a B, a C", "declared: a Edit and a Edit"},
		{"two's", "a B, b C", "shared: b Edit and a Edit"},
		{"an undo between one's", "a B, op A, a C", "declared: a Edit"},
		{"of another's", "b B, op A, a C", "declared: a Edit"},
		{"of the newer one", "a B, b C, op B, a D", "declared: a Edit and a Edit"},
		{"an undo that was taken back", "a B, op A, op B, a C", "declared: a Edit and a Edit"},
		{"and again", "a B, op A, op B, op A, b C", "declared: b Edit"},
		{"of a removal", "a -, op A, b C", "declared: b Edit"},
		{"of what was made under another name", "a g B, a -, op A, b C", "shared: b Edit and a Edit"},
		{"an operation that brings what was not there meanwhile", "a B, op X, a C", "shared: a Edit and operation and a Edit"},
		{"an operation", "a B, op X", "operation: operation and a Edit"},
		{"nothing is left", "a B, op A", "operation: operation and a Edit"},
		{"of several that are equal, the one that an operation goes back to", "a B, op A, b B, op A, op@1 B", "declared: a Edit"},
		{"one that two could have made", "a B, a|b C", "shared: a Edit or b Edit or a Edit"},
		{"one that you could have made, too", "a B, b? C", "shared: b Edit or you or a Edit"},
		{"yours last", "a B, me C", "shared: you and a Edit"},
		{"you go back by hand", "a B, me A, a C", "shared: a Edit and you and a Edit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var steps []Step
			now := map[string]string{}
			for i, text := range strings.Split(c.steps, ", ") {
				words := strings.Fields(text)
				path := "f"
				if len(words) == 3 {
					path = words[1]
				}
				is := words[len(words)-1]
				was := now[path]
				if was == "" {
					was = "A"
				}
				now[path] = is
				s := Step{Path: path, From: Version{Entry: entryOf(was)}, To: Version{Seq: uint64(i + 1), Entry: entryOf(is)}}
				who, back, _ := strings.Cut(words[0], "@")
				if back != "" {
					s.Back = uint64(back[0] - '0')
				}
				switch who {
				case "me":
					s.Owner = Owner{Class: Outside}
				case "op":
					s.Owner = Owner{Class: Operation, By: &Work{Tool: "undo", Operation: uint64(i + 1)}}
				default:
					one, other, several := strings.Cut(words[0], "|")
					one, orYou := strings.CutSuffix(one, "?")
					s.Owner = Owner{Class: Declared, By: &Work{Agent: "x", Session: one, Tool: "Edit"}, AlsoOutside: orYou}
					if several {
						s.Class, s.Also = Shared, []*Work{{Agent: "x", Session: other, Tool: "Edit"}}
					}
				}
				steps = append(steps, s)
			}
			if got := saysWorks(Several(steps)); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
		})
	}
}

// saysWorks is says, in which operations are named so.
func saysWorks(o Owner) string {
	var names []string
	for _, w := range o.Works() {
		name := fmt.Sprint(w.Session, " ", w.Tool)
		if w.Operation != 0 {
			name = "operation"
		}
		names = append(names, name)
	}
	switch {
	case o.AlsoOutside:
		names = append(names[:1:1], append([]string{"you"}, names[1:]...)...)
	case o.By == nil:
		names = append([]string{"you"}, names...)
	}
	if o.Each {
		return string(o.Class) + ": " + strings.Join(names, " and ")
	}
	return string(o.Class) + ": " + strings.Join(names, " or ")
}
