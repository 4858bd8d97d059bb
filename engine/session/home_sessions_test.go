package session_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// Where agents keep their sessions is known through links, whether it exists or not, and nothing beside it is taken for it.
func TestSessionPaths(t *testing.T) {
	l := newLab(t)
	l.Init()
	base := filepath.Dir(l.Root)
	for _, dir := range []string{"moved", "dot/claude"} {
		if err := os.MkdirAll(filepath.Join(l.Root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		filepath.Join(base, "link"):         l.Root,
		filepath.Join(l.Root, ".claude"):    "dot/claude",
		filepath.Join(base, "sessions"):     "project/moved",
		filepath.Join(l.Root, ".linked"):    "moved",
		filepath.Join(l.Root, ".elsewhere"): base,
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(base, name))
		}
		return paths
	}
	l.Do(func(_ context.Context, p *project.Project) error {
		for _, c := range []struct{ kept, want []string }{
			{in("elsewhere", "project", "project-2/x", "home/.claude/projects"), nil},
			{in("project/.claude/projects", "link/.claude/projects"), []string{"dot/claude/projects"}},
			{in("link/not/there", "link/.codex/state_*"), []string{".codex/state_*", "not/there"}},
			{in("sessions"), []string{"moved"}},
			{in("link/.linked", "link/.elsewhere"), []string{".elsewhere", ".linked", "moved"}},
		} {
			if got := rules.SessionPaths(p, c.kept); !slices.Equal(got, c.want) {
				t.Errorf("%q: %q, want %q", c.kept, got, c.want)
			}
		}
		kept := rules.Sessions(p, in("project/a", "project/.codex/state_*"))
		for path, want := range map[string]bool{"a": true, "a/b": true, "ab": false, ".codex": false, ".codex/state_5/x": true, ".codex/stat": false, "": false} {
			if kept(path) != want {
				t.Errorf("%q: %v", path, !want)
			}
		}
		return nil
	})
}

// The transcript of a session that a hook told of stays as it is wherever it lies: the agent was started with variables that
// this process does not have.
func TestRestoreBesideATranscript(t *testing.T) {
	l := newLab(t)
	l.Write("file", "0")
	l.Write("conf/projects/p/other.jsonl", "0")
	l.Init()
	file := filepath.Join(l.Root, "conf", "projects", "p", sessionID(1)+".jsonl")
	tell := func(text string) manifest.Checkpoint {
		l.Write("conf/projects/p/"+sessionID(1)+".jsonl", text)
		l.Write("file", text)
		var saved *checkpoint.Saved
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			record := &manifest.Session{ID: sessionID(1), Agent: "claude", TranscriptPath: file, Time: p.Env.Time().UTC()}
			saved, err = checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: checkpoint.Options{Kind: manifest.Prompt}, Session: record})
			return err
		})
		return saved.Checkpoint
	}
	first := tell("1")
	tell("2")
	l.Write("conf/projects/p/other.jsonl", "3")
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first, Half: conversation.CodeOnly})
		if err == nil && len(problem.FailedOf(done.Skip)) > 0 {
			t.Errorf("%+v", done.Skip)
		}
		return err
	})
	for name, want := range map[string]string{"file": "1", "conf/projects/p/other.jsonl": "0", "conf/projects/p/" + sessionID(1) + ".jsonl": "2"} {
		if got, err := os.ReadFile(filepath.Join(l.Root, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}
