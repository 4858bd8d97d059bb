package attempts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// tried tells of a fork in a line: the base's prompt, then each attempt's prompt with how many prompts and, in brackets, what its
// end has of file "a"; * marks where the tree stands.
func (l *lab) tried(of string) string {
	l.T.Helper()
	var out string
	l.Do(func(ctx context.Context, p *project.Project) error {
		f, err := attempts.Newest(ctx, p)
		if of != "" {
			c, rerr := inspect.Resolve(ctx, p, of)
			if rerr != nil {
				return rerr
			}
			f, err = attempts.Of(ctx, p, c.Checkpoint)
		}
		if err != nil || f == nil {
			out = "none"
			return err
		}
		parts := []string{f.Base.Prompt + ":"}
		for _, a := range f.Attempts {
			s := fmt.Sprintf("%d %s/%d", a.N, a.Prompt.Prompt, a.Prompts)
			if a.Open {
				s = "*" + s
			}
			if a.Mixed {
				s += " mixed"
			}
			if a.End == nil {
				s += " gone"
			} else {
				e, err := inspect.EntryAt(p.LoadDir, a.End.Root, "a")
				if err != nil {
					return err
				}
				content := "-"
				if e != nil {
					data, err := p.Store.Get(nil, e.ID)
					if err != nil {
						return err
					}
					content = string(data)
				}
				s += " [" + content + "]"
			}
			parts = append(parts, s)
		}
		out = strings.Join(parts, " ")
		return nil
	})
	return out
}

// TestAttempts: what is an attempt at a prompt, and what became of it.
func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name, does, want string
	}{
		{"nothing happened", "", "none"},
		{"one after the other", "A/prompt:one w:a=1 A/stop A/prompt:two w:a=2 A/stop", "none"},
		{"back to before the prompt, in the same session",
			"A/prompt:one w:a=1 A/stop restore:prompt A/prompt:again w:a=2 A/stop", "one: 1 one/1 [1] *2 again/1 [2]"},
		{"unsaved work is in the safety checkpoint",
			"A/prompt:one w:a=1 A/stop w:a=1b restore:prompt A/prompt:again w:a=2", "one: 1 one/1 [1b] *2 again/1 [-]"},
		{"back, and nothing typed yet", "A/prompt:one w:a=1 A/stop restore:prompt", "none"},
		{"another session is as good", "A/prompt:one w:a=1 A/stop restore:prompt B/prompt:other w:a=2 B/stop", "one: 1 one/1 [1] *2 other/1 [2]"},
		{"but not one that was there before",
			"B/prompt:its w:a=0 B/stop A/prompt:one w:a=1 A/stop restore:prompt B/prompt:goeson w:a=2 B/stop", "none"},
		{"the state before a prompt is that of the stop before it",
			"A/prompt:one w:a=1 A/stop A/prompt:two w:a=2 A/stop restore:3 A/prompt:again w:a=3 A/stop", "two: 1 two/1 [2] *2 again/1 [3]"},
		{"turns that follow belong to it",
			"A/prompt:one w:a=1 A/stop A/prompt:more w:a=2 A/stop restore:4 A/prompt:again w:a=3 A/stop", "one: 1 one/2 [2] *2 again/1 [3]"},
		{"three of them, and forks of forks",
			"A/prompt:one w:a=1 A/stop restore:prompt A/prompt:b w:a=2 A/stop A/prompt:b2 w:a=3 A/stop restore:prompt A/prompt:b3 w:a=4 A/stop",
			"b2: 1 b2/1 [3] *2 b3/1 [4]"},
		{"what was undone and taken back is no other attempt",
			"A/prompt:one w:a=1 A/stop restore:prompt undo-restore A/prompt:more w:a=2 A/stop", "none"},
		{"back at the first", "A/prompt:one w:a=1 A/stop restore:prompt A/prompt:again w:b=2 A/stop undo-restore", "one: *1 one/1 [1] 2 again/1 [-]"},
		{"a restore within an attempt, undone: it ends as before",
			"A/prompt:one w:a=1 A/stop restore:prompt A/prompt:again w:a=2 A/tool:x w:a=3 A/stop restore:2 undo-restore", "one: 1 one/1 [1] *2 again/1 [3]"},
		{"a restore within an attempt: it ends there", "A/prompt:one w:a=1 A/stop restore:prompt A/prompt:again w:a=2 A/tool:x w:a=3 A/stop restore:2", "one: 1 one/1 [1] *2 again/1 [2]"},
		{"a visit to the middle of another, undone: that ends as before",
			"A/prompt:one w:a=1 A/tool:x w:a=2 A/stop restore:prompt A/prompt:again w:b=2 A/stop restore:4 undo-restore", "one: 1 one/1 [2] *2 again/1 [-]"},
		{"a part is no way back", "w:b=0 A/prompt:one w:a=1 w:b=1 A/stop part:2=b A/prompt:more w:a=2 A/stop", "none"},
		{"within a turn: two of them have the same place",
			"A/prompt:one w:a=1 A/tool:x w:a=2 A/stop restore:2 A/prompt:p w:a=3 A/stop restore:4 A/prompt:q w:a=4 A/stop", "p: 1 p/1 [3] *2 q/1 [4]"},
		{"what another session is asked meanwhile is not asked in it",
			"A/prompt:one w:a=1 A/stop restore:prompt A/prompt:again w:a=2 A/stop B/prompt:other w:b=1 B/stop B/prompt:more w:a=3 B/stop A/prompt:on w:b=2 A/stop", "one: 1 one/1 [1] *2 again/2 [3]"},
		{"both at work in one tree",
			"A/prompt:one w:a=1 A/stop restore:prompt B/prompt:other w:a=2 B/stop A/tool:x w:b=1 A/stop", "one: *1 one/1 mixed [2] 2 other/1 mixed [2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.Init()
			for _, word := range strings.Fields(c.does) {
				what, arg, _ := strings.Cut(word, ":")
				switch {
				case word == "restore:prompt": // the newest prompt's
					l.Do(func(ctx context.Context, p *project.Project) error {
						list, err := p.List(ctx, project.ListOptions{})
						for _, at := range list {
							if at.Kind == manifest.Prompt {
								_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: at.Checkpoint})
								return err
							}
						}
						return err
					})
				case what == "part":
					n, path, _ := strings.Cut(arg, "=")
					l.Do(func(ctx context.Context, p *project.Project) error {
						at, err := inspect.Resolve(ctx, p, n)
						if err == nil {
							_, err = restore.Restore(ctx, p, restore.Options{Checkpoint: at.Checkpoint, Paths: []string{path}})
						}
						return err
					})
				default:
					l.Does(word)
				}
			}
			if got := l.tried(""); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.does, got, c.want)
			}
		})
	}
}
