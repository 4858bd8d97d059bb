package hook_test

import (
	"context"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// lookingAt is a save that calls do each time that it has looked at the tree, with how often that was.
func (l *lab) lookingAt(o checkpoint.Options, do func(look int)) (saved *checkpoint.Saved) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		look := 0
		saved, err = checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: o, Preimages: func() []checkpoint.Preimage {
			look++
			do(look)
			return nil
		}})
		return err
	})
	return saved
}

// behindScan calls do once, when the detached process has looked at the tree.
func behindScan(p *project.Project, do func()) {
	p.Progress = func(i project.ProgressInfo) {
		if i.Files > 0 && do != nil {
			now := do
			do = nil
			now()
		}
	}
}

// counts are what a checkpoint has that the one before had not, and so on.
func counts(c manifest.Checkpoint) [3]uint64 { return [3]uint64{c.Added, c.Modified, c.Deleted} }

// While a save has looked at the tree and has not committed, others change it and save. In the log the one that was
// committed last takes nothing back.
func TestSaveOvertakenBySaves(t *testing.T) {
	for _, others := range []int{1, 3} {
		l := newLab(t)
		l.Write("a", "one")
		l.Write("gone", "one")
		l.Write("mine", "one")
		l.Init()
		l.Write("mine", "two")
		looks := 0
		l.lookingAt(checkpoint.Options{Description: "overtaken"}, func(n int) {
			if looks = n; n > others {
				return
			}
			l.Write("a", string(rune('a'+n)))
			l.Write("dir/new", string(rune('a'+n)))
			l.Remove("gone")
			if n == others {
				l.Write("mine", "three")
			}
			if got := l.Save(); got.Unchanged {
				t.Error("the save beside it has nothing new")
			}
		})
		newest := l.Newest(2)
		c := newest[0].Checkpoint
		if c.Description != "overtaken" || c.Root != newest[1].Root || counts(c) != [3]uint64{} {
			t.Errorf("%q has %v beside the one before", c.Description, counts(c))
		}
		if looks != others+1 {
			t.Errorf("%d saves came between, and the tree was looked at %d times", others, looks)
		}
		if got := l.Save(); !got.Unchanged {
			t.Errorf("the next save has something new: %v", counts(got.Checkpoint))
		}
	}
}

// What the overtaken save alone has seen is in it.
func TestOvertakenSaveKeepsWhatItSaw(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one")
	l.Write("dir/c", "one")
	l.Init()
	l.lookingAt(checkpoint.Options{}, func(n int) {
		if n == 1 {
			l.Write("a", "two")
			l.Save()
			l.Write("dir/b", "new") // behind both looks
			l.Write("a", "three")
		}
	})
	c := l.Newest(1)[0].Checkpoint
	if l.at(c, "a") != "three" || counts(c) != [3]uint64{0, 1, 0} {
		t.Errorf("a is %q; %v", l.at(c, "a"), counts(c))
	}
	if got := l.Save(); counts(got.Checkpoint) != [3]uint64{1, 0, 0} {
		t.Errorf("the next save: %v", counts(got.Checkpoint))
	}
}

// A save that is asked for changes alone has none where another one has taken them.
func TestOvertakenSaveHasNothingNew(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one")
	l.Init()
	l.Write("b", "new")
	saved := l.lookingAt(checkpoint.Options{OnlyIfChanged: true, Description: "nothing new"}, func(n int) {
		if n == 1 {
			l.Write("a", "two")
			l.Save()
			l.Write("a", "one") // as it looked
			l.Save()
			l.Write("a", "two")
			l.Save()
		}
	})
	if !saved.Skipped {
		t.Errorf("%+v", saved)
	}
	if c := l.Newest(1)[0].Checkpoint; c.Description != "" {
		t.Errorf("%q: %v", c.Description, counts(c))
	}
}

// The same of a capture that a hook has left to the detached process, which looks at all again: it says what is late.
func TestDetachedCaptureIsOvertaken(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one")
	l.Init()
	l.Report(hook.Event{Time: time.Unix(1, 0), Kind: manifest.Prompt, Moment: settings.Prompt, By: conversation.Trigger{Prompt: "left"}})
	l.Do(func(ctx context.Context, p *project.Project) error {
		behindScan(p, func() {
			l.Write("a", "two")
			l.Save()
		})
		return hook.Work(ctx, p, hook.WorkOptions{})
	})
	c := l.Newest(1)[0].Checkpoint
	if c.Prompt != "left" || counts(c) != [3]uint64{} || l.at(c, "a") != "two" {
		t.Errorf("%q: %v", c.Prompt, counts(c))
	}
}

// A detached capture holds no lock of the tree while it looks at it, and commits nothing while a restore changes it.
func TestDetachedCaptureWaitsForARestore(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one")
	l.Init()
	l.Report(hook.Event{Time: time.Unix(1, 0), Kind: manifest.Prompt, Moment: settings.Prompt, By: conversation.Trigger{Prompt: "left"}})
	before := l.Newest(1)[0].Seq
	l.Do(func(ctx context.Context, p *project.Project) error {
		done := make(chan error, 1)
		behindScan(p, func() {
			other := l.Open()
			lock, err := other.Lock(ctx, account.TreeLockName)
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				defer other.Close()
				defer lock.Release()
				time.Sleep(100 * time.Millisecond) // a capture that does not wait has committed by then
				newest, err := other.NewestCheckpoint()
				if err == nil && newest.Seq != before {
					t.Errorf("%q was committed", newest.Prompt)
				}
				done <- err
			}()
		})
		err := hook.Work(ctx, p, hook.WorkOptions{})
		if err == nil {
			err = <-done
		}
		return err
	})
	if c := l.Newest(1)[0].Checkpoint; c.Prompt != "left" {
		t.Errorf("the newest is %q", c.Prompt)
	}
}

// A look at one path that a look of others has overtaken is taken again: what they saw was not taken back.
func TestTouchIsOvertaken(t *testing.T) {
	for name, other := range map[string]func(*lab, context.Context, *project.Project) error{
		"by a checkpoint": func(l *lab, _ context.Context, _ *project.Project) error {
			l.Save()
			return nil
		},
		"by a touch": func(_ *lab, ctx context.Context, p *project.Project) error {
			_, err := checkpoint.Touch(ctx, p, checkpoint.TouchOptions{
				Paths: []string{"a"}, Touch: manifest.Touch{Agent: "claude", Session: "other", Tool: "Edit", Call: "d", After: true},
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "one")
			l.Init()
			l.Write("a", "two")
			l.Do(func(ctx context.Context, p *project.Project) error {
				n := 0
				_, err := checkpoint.Touch(ctx, p, checkpoint.TouchOptions{
					Paths: []string{"a"}, Touch: manifest.Touch{Agent: "claude", Session: "s", Tool: "Edit", Call: "c", After: true},
					Explains: func(_, after []byte) bool {
						if n++; n == 1 {
							l.Write("a", "three")
							if err := other(l, ctx, p); err != nil {
								t.Error(err)
							}
						}
						return true
					},
				})
				return err
			})
			l.Do(func(_ context.Context, p *project.Project) error {
				r, err := p.ReplayEnd(10)
				if err != nil {
					return err
				}
				for _, touch := range r.Touches() {
					data, err := p.ReadObject(touch.Entry.ID)
					if err != nil || string(data) == "two" {
						t.Errorf("%s has %q, %v", touch.Session, data, err)
					}
				}
				return nil
			})
		})
	}
}
