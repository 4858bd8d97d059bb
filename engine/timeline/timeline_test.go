package timeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// tells reads the timeline, pages of the given size, and gives a line for each row.
func (l *lab) tells(page int, o timeline.Options) (lines []string, folded int) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		lines = nil
		if o.Present, err = timeline.Look(ctx, p); err != nil {
			return err
		}
		t := timeline.New(p, o)
		for {
			rows, err := t.Next(ctx, page)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				folded = t.FoldedAway()
				return nil
			}
			for _, r := range rows {
				known, ok := r.Known()
				n, _, err := r.Count(ctx, p, o.Present)
				if err != nil {
					return err
				}
				// What the log has must be what the trees say.
				var seen int
				if err := r.Changes(ctx, p, o.Present, func(c manifest.Change) error {
					if !inspect.ImpliedDir(c) {
						seen++
					}
					return nil
				}); err != nil {
					return err
				}
				if ok && (known != n || uint64(seen) != n.Added+n.Modified+n.Deleted) {
					l.T.Errorf("%s: the log has %v, the trees %v, %d changes", r.Kind, known, n, seen)
				}
				line := string(r.Kind)
				switch {
				case r.Operation != nil && r.Kind == timeline.Operation:
					line = string(r.Operation.Kind)
				case r.Checkpoint != nil:
					line = fmt.Sprintf("%d %s", r.Checkpoint.N, line)
				}
				for _, s := range []string{r.Session, r.Tool, r.Text} {
					if s != "" {
						line += " " + s
					}
				}
				if r.Ends != "" {
					line += " ends " + r.Ends
				}
				if !n.None() {
					line += fmt.Sprintf(" %s +%d~%d-%d", r.Side, n.Added, n.Modified, n.Deleted)
				}
				if r.Claimed {
					line += " told"
				}
				if r.Then != nil {
					n, _ := r.Then.Known()
					line += fmt.Sprintf(" then +%d~%d-%d", n.Added, n.Modified, n.Deleted)
				}
				if r.Folded != "" {
					line += " (" + string(r.Folded) + ")"
				}
				lines = append(lines, line)
			}
		}
	})
	return lines, folded
}

func TestTimeline(t *testing.T) {
	for name, c := range map[string]struct {
		does   []string
		filter timeline.Filter
		all    bool
		want   []string
		folded int
	}{
		"saves only": {
			does: []string{"w:b=1", "save:one", "w:b=2", "w:c=1"},
			want: []string{"now since +1~1-0", "1 manual one since +1~0-0", "2 manual first checkpoint since +1~0-0"},
		},
		"a turn": {
			does:   []string{"s/start", "s/prompt:add tz", "s/tool:Edit", "w:b=1", "w:c=1", "s/tool:Bash", "d:a", "w:b=2", "s/stop", "s/end"},
			want:   []string{"now", "3 tool s Bash did +0~1-1", "4 tool s Edit did +2~0-0", "5 prompt s add tz did +2~0-1", "7 manual first checkpoint since +1~0-0"},
			folded: 3,
		},
		"all of it": {
			does: []string{"s/start", "s/prompt:add tz", "s/tool:Read", "w:b=1", "s/stop", "s/end"},
			all:  true,
			want: []string{"now", "1 session-end s (boundary)", "2 stop s ends add tz (turn-end)", "3 tool s Read did +1~0-0", "4 prompt s add tz did +1~0-0", "5 session-start s (boundary)", "6 manual first checkpoint since +1~0-0"},
		},
		"a person edits after the turn": {
			does: []string{"s/prompt:one", "w:b=1", "s/stop", "w:a=2", "s/prompt:two", "w:c=1"},
			want: []string{"now since +1~0-0", "1 prompt s two did +1~0-0", "2 stop s ends one after +0~1-0", "3 prompt s one did +1~0-0", "4 manual first checkpoint since +1~0-0"},
		},
		"a person edits between a save and a turn": {
			does: []string{"save:one", "w:b=1", "s/prompt:two", "w:c=1"},
			want: []string{"now since +1~0-0", "1 prompt s two did +1~0-0", "2 manual one then +1~0-0", "3 manual first checkpoint since +1~0-0"},
		},
		"a person edits between a save and a session": {
			does:   []string{"w:b=1", "s/start", "s/prompt:two", "w:c=1", "s/stop"},
			want:   []string{"now ends two", "2 prompt s two did +1~0-0", "4 manual first checkpoint since +1~0-0 then +1~0-0"},
			folded: 2,
		},
		"a save in a turn": {
			does:   []string{"s/prompt:one", "w:b=1", "save:half", "w:c=1", "s/tool:Bash", "w:d=1", "s/stop"},
			want:   []string{"now ends one", "2 tool s Bash did +1~0-0", "3 manual half since +1~0-0", "4 prompt s one did +3~0-0", "5 manual first checkpoint since +1~0-0"},
			folded: 1,
		},
		"a person edits after the turn, and saves": {
			does: []string{"s/prompt:one", "w:b=1", "s/stop", "w:a=2", "save:mine"},
			want: []string{"now", "1 manual mine since +0~1-0", "2 stop s ends one after +0~1-0 told", "3 prompt s one did +1~0-0", "4 manual first checkpoint since +1~0-0"},
		},
		"a person edits once a session began, and saves": {
			does:   []string{"s/start", "w:b=1", "save:mine"},
			want:   []string{"now", "1 manual mine since +1~0-0", "3 manual first checkpoint since +1~0-0"},
			folded: 1,
		},
		"two sessions in turns": {
			does:   []string{"s/prompt:one", "w:b=1", "t/prompt:other", "w:c=1", "t/stop", "s/tool:Bash", "w:d=1", "s/stop"},
			want:   []string{"now ends one", "2 tool s Bash did +1~0-0", "4 prompt t other did +1~0-0", "5 prompt s one did +3~0-0", "6 manual first checkpoint since +1~0-0"},
			folded: 2,
		},
		"one session": {
			does:   []string{"s/prompt:one", "w:b=1", "t/prompt:other", "w:c=1", "t/stop"},
			filter: timeline.Filter{Sessions: map[string]bool{"t": true}},
			want:   []string{"2 prompt t other did +1~0-0"},
			folded: 1,
		},
		"a turn that was interrupted and restored": {
			does: []string{"s/prompt:one", "w:b=1", "d:a", "restore:last", "s/prompt:two", "w:c=1"},
			want: []string{"now since +1~0-0", "1 prompt s two did +1~0-0", "restore did +1~0-1", "2 prompt s one did +1~0-1", "3 manual first checkpoint since +1~0-0"},
		},
		"a save after a restore and its undo": {
			does:   []string{"w:b=1", "save:one", "restore:2", "undo-restore", "save:two"},
			want:   []string{"now", "1 manual two", "2 manual one since +1~0-0", "3 manual first checkpoint since +1~0-0"},
			folded: 2,
		},
		"an edit after a restore": {
			does: []string{"w:b=1", "save:one", "restore:2", "w:a=7"},
			want: []string{"now since +0~1-0", "restore did +0~0-1", "1 manual one since +1~0-0", "2 manual first checkpoint since +1~0-0"},
		},
		"the conversation alone went back": {
			does: []string{"s/prompt:one", "w:b=1", "s/stop", "talk:1", "talk:1", "w:b=2", "save:two"},
			want: []string{"now", "1 manual two since +0~1-0", "restore ends one", "restore ends one", "2 stop s ends one after +0~1-0 told", "3 prompt s one did +1~0-0", "4 manual first checkpoint since +1~0-0"},
		},
		"the conversation alone went back, and nothing since": {
			does:   []string{"s/prompt:one", "w:b=1", "s/stop", "talk:1"},
			want:   []string{"now ends one", "restore ends one", "2 prompt s one did +1~0-0", "3 manual first checkpoint since +1~0-0"},
			folded: 1,
		},
		"what only a safety checkpoint has, and no operation": {
			does:   []string{"w:b=1", "d:a", "restore:1", "undo-restore", "save:two"},
			want:   []string{"now", "1 manual two", "0 safety before restore since +1~0-1", "2 manual first checkpoint since +1~0-0"},
			folded: 2,
		},
		"what came after a save, before a turn": {
			does:   []string{"w:b=1", "save:one", "w:a=2", "s/prompt:two", "w:c=1", "s/stop"},
			want:   []string{"now ends two", "2 prompt s two did +1~0-0", "3 manual one since +1~0-0 then +0~1-0", "4 manual first checkpoint since +1~0-0"},
			folded: 1,
		},
		"a stop without a prompt, then an edit": {
			does: []string{"h/stop", "w:b=1", "h/prompt:one"},
			want: []string{"now", "1 prompt h one", "2 manual first checkpoint since +1~0-0 then +1~0-0"},
		},
		"a restore in a turn that ends without a checkpoint, then an edit": {
			does: []string{"h/prompt:one", "w:b=1", "restore:1", "h/pre:t1", "w:c=1", "save:half", "h/post:t1", "h/stop", "w:a=2", "h/prompt:two"},
			want: []string{"now", "1 prompt h two", "2 manual h half since +1~0-0 then +0~1-0", "3 tool h Bash did +1~0-0", "restore did +0~0-1", "4 prompt h one did +1~0-0", "5 manual first checkpoint since +1~0-0"},
		},
		"an edit between a restore and a call": {
			does: []string{"h/prompt:one", "w:b=1", "restore:1", "w:a=2", "h/pre:t1", "w:c=1"},
			want: []string{"now since +1~0-0", "1 tool h Bash did +1~0-0", "restore did +0~0-1 then +0~1-0", "2 prompt h one did +1~0-0", "3 manual first checkpoint since +1~0-0"},
		},
		"an edit after a turn, and a call of a session without a prompt": {
			does: []string{"g/prompt:one", "g/end", "w:a=2", "h/pre:t1", "w:c=1"},
			want: []string{"now since +1~0-0", "1 tool h Bash did +1~0-0", "2 prompt g one then +0~1-0", "3 manual first checkpoint since +1~0-0"},
		},
		"an edit after a call": {
			does:   []string{"g/stop", "w:c=1", "h/pre:t1", "w:a=2", "h/post:t1", "w:b=1", "h/prompt:two"},
			want:   []string{"now", "1 prompt h two", "3 tool h Bash did +0~1-0 then +1~0-0", "4 manual first checkpoint since +1~0-0 then +1~0-0"},
			folded: 1,
		},
		"a path": {
			does:   []string{"s/prompt:one", "w:b=1", "s/tool:Edit", "w:c=1", "s/stop", "save:x", "w:b=2", "restore:last", "w:b=3"},
			filter: timeline.Filter{Paths: []string{"b"}},
			want:   []string{"now since +0~1-0", "restore did +0~1-0", "0 safety before restore since +0~1-0", "4 prompt s one did +2~0-0"},
		},
		"a glob below a directory": {
			does:   []string{"w:d/x.go=1", "save:one", "w:d/y=1", "save:two", "w:d/x.go=2", "save:three"},
			filter: timeline.Filter{Paths: []string{"d/*.go"}},
			want:   []string{"1 manual three since +0~1-0", "3 manual one since +1~0-0"},
		},
		"a directory": {
			does:   []string{"w:d/x.go=1", "save:one", "w:e=1", "save:two", "w:d/x.go=2", "save:three"},
			filter: timeline.Filter{Paths: []string{"d"}},
			want:   []string{"1 manual three since +0~1-0", "3 manual one since +1~0-0"},
		},
		"a text": {
			does:   []string{"s/prompt:Fix IT", "w:b=1", "s/tool:Bash", "s/stop", "save:fix"},
			filter: timeline.Filter{Text: "fix"},
			want:   []string{"1 manual fix", "4 prompt s Fix IT did +1~0-0"},
		},
		"a text with capitals": {
			does:   []string{"s/prompt:Fix IT", "w:b=1", "s/stop", "save:fix"},
			filter: timeline.Filter{Text: "IT"},
			want:   []string{"3 prompt s Fix IT did +1~0-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			l.Init()
			l.Does(c.does...)
			for _, page := range []int{0, 1, 2} {
				lines, folded := l.tells(page, timeline.Options{Folded: c.all, Filter: c.filter})
				if got, want := strings.Join(lines, "\n"), strings.Join(c.want, "\n"); got != want {
					t.Errorf("pages of %d:\n%s\nwant\n%s", page, got, want)
				}
				if folded != c.folded {
					t.Errorf("pages of %d: %d folded, want %d", page, folded, c.folded)
				}
			}
		})
	}
}
