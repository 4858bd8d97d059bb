package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// hang makes every open of a file wait in the kernel, as on a network file
// system that does not answer, until the test is over or release is called.
func hang(t *testing.T, file string) (release func()) {
	t.Helper()
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_CONTENT|unix.FAN_CLOEXEC, 0)
	if err == nil {
		err = unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_OPEN_PERM, unix.AT_FDCWD, file)
	}
	if err != nil {
		t.Skip("NOT TESTED HERE: nothing can be made to hang without root and fanotify: ", err)
	}
	closed := false
	release = func() {
		if !closed {
			closed = true
			unix.Close(fd) // lets all go on
		}
	}
	t.Cleanup(release)
	return release
}

// A save that hangs in a system call is left to the detached process in time,
// and puts nothing into the log afterwards.
func TestHookSaveThatHangs(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		edits []string
	}{
		"in the scan":                       {file: "big.txt"},
		"in the file that the tool changes": {file: "big.txt", edits: []string{"big.txt"}},
		"in the conversation":               {file: "../session.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.init()
			p, root := l.open(), l.root
			file := filepath.Join(root, c.file)
			if err := os.WriteFile(file, []byte(strings.Repeat("{}\n", 100)), 0o644); err != nil {
				t.Fatal(err)
			}
			release := hang(t, file)
			detached := 0
			count := func(p *project.Project) int {
				all, err := p.List(context.Background(), project.ListOptions{All: true})
				if err != nil {
					t.Fatal(err)
				}
				return len(all)
			}
			o := saveOptions{
				Options:  checkpoint.Options{Kind: manifest.Prompt, By: conversation.Trigger{Agent: "claude", Session: "s", Prompt: "what hangs", PromptID: "p", Transcript: filepath.Join(root, "../session.jsonl")}},
				Deadline: time.Now().Add(300 * time.Millisecond),
				Detach:   func() error { detached++; return nil },
			}
			for _, e := range c.edits {
				o.Edits = append(o.Edits, filepath.Join(root, e))
			}
			saved, err := save(context.Background(), p, o) // without the watch it returns when the test times out
			if saved == nil || !saved.Left || detached != 1 || len(c.edits) == 0 && err != nil {
				t.Fatalf("%+v, %v, %d processes", saved, err, detached)
			}
			if n := len(checkpoint.Notes(p, "r")); n != 1 {
				t.Fatalf("%d requests", n)
			}
			before := count(p)
			release()
			time.Sleep(100 * time.Millisecond) // the save finds that it was given up
			if after := count(p); after != before {
				t.Errorf("%d checkpoints, then %d", before, after)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			// The process that takes over finds the file readable again.
			next := l.open()
			defer next.Close()
			if err := Work(context.Background(), next, WorkOptions{}); err != nil {
				t.Error(err)
			}
			if after := count(next); after != before+1 {
				t.Errorf("%d checkpoints after the detached process, want %d", after, before+1)
			}
		})
	}
}
