package conversation_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// A link in a transcript's place is followed to a transcript of that session alone, whatever else it leads to.
func TestInPlaceFollowsALinkToTheTranscriptAlone(t *testing.T) {
	for name, lead := range map[string]func(c *testlab.Chat, to string) error{
		"a file of settings": func(c *testlab.Chat, to string) error { return os.WriteFile(to, []byte("user = me\n"), 0o644) },
		"JSON that is no transcript": func(c *testlab.Chat, to string) error {
			return os.WriteFile(to, []byte("{\"token\":\"t\"}\n"), 0o644)
		},
		"another session": func(c *testlab.Chat, to string) error {
			other := strings.ReplaceAll(c.Transcript.Bytes(), testlab.Session, strings.Replace(testlab.Session, "1", "2", 1))
			return os.WriteFile(to, []byte(other), 0o644)
		},
		"another agent's form": func(c *testlab.Chat, to string) error {
			return os.WriteFile(to, []byte(`{"sessionId":"`+testlab.Session+`","projectHash":"h","kind":"main"}`+"\n"), 0o644)
		},
		"an empty file": func(c *testlab.Chat, to string) error { return os.WriteFile(to, nil, 0o644) },
		"a directory":   func(c *testlab.Chat, to string) error { return os.Mkdir(to, 0o755) },
		"a FIFO":        func(c *testlab.Chat, to string) error { return syscall.Mkfifo(to, 0o644) },
		"a link to a file of settings": func(c *testlab.Chat, to string) error {
			if err := os.WriteFile(to+"2", []byte("user = me\n"), 0o644); err != nil {
				return err
			}
			return os.Symlink(to+"2", to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := testlab.NewChat(t)
			c.Turn("one", "1")
			second := c.Turn("two", "2")
			to := filepath.Join(c.Home, "victim")
			if err := errors.Join(lead(c, to), os.Remove(c.Transcript.File), os.Symlink(to, c.Transcript.File)); err != nil {
				t.Fatal(err)
			}
			before, had := os.Stat(to)
			data := contentOf(to)
			var refused *project.RefusedError
			for _, half := range []conversation.Half{conversation.Both, conversation.ConversationOnly} {
				for _, force := range []bool{false, true} {
					_, err := c.Run(restore.Restore, restore.Options{Checkpoint: second, Half: half, InPlace: true, Force: force})
					if !errors.As(err, &refused) || !strings.Contains(refused.What, c.Transcript.File) || !strings.Contains(refused.What, filepath.Base(to)) {
						t.Errorf("%v", err)
					}
				}
			}
			if after, err := os.Stat(to); had != nil || err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) || contentOf(to) != data {
				t.Errorf("what the link leads to was changed: %v, %q", err, contentOf(to))
			}
			if link, err := os.Readlink(c.Transcript.File); err != nil || link != to {
				t.Errorf("the link is %q (%v)", link, err)
			}
			c.Content("2")
		})
	}
}

// contentOf is what a regular file has, "" for anything else.
func contentOf(file string) string {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// What is rewritten keeps its mode, behind a link or not, and so do the copy of it, the undo and the redo.
func TestInPlaceKeepsTheMode(t *testing.T) {
	for _, linked := range []bool{false, true} {
		c := testlab.NewChat(t)
		c.Turn("one", "1")
		second := c.Turn("two", "2")
		file := c.Transcript.File
		if linked {
			file = filepath.Join(c.Home, "kept.jsonl")
			if err := errors.Join(os.Rename(c.Transcript.File, file), os.Symlink(file, c.Transcript.File)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		before := contentOf(file)
		same := func(when, file string) {
			t.Helper()
			if info, err := os.Lstat(file); err != nil || info.Mode() != 0o644 {
				t.Errorf("%s: %v, %v", when, info, err)
			}
		}
		done := c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly, InPlace: true})
		same("after the restore", file)
		same("the copy", done.Conversation.Backup)
		if got := c.Prompts(file); got != "one" {
			t.Errorf("in place there is %q", got)
		}
		c.TakeBack(restore.UndoRestore, restore.Options{})
		same("after the undo", file)
		if contentOf(file) != before {
			t.Error("the undo did not put the transcript back")
		}
		c.TakeBack(restore.RedoRestore, restore.Options{})
		same("after the redo", file)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		c.TakeBack(restore.UndoRestore, restore.Options{Force: true})
		same("after an undo that writes it again", file)
		if link, err := os.Readlink(c.Transcript.File); linked && (err != nil || link != file) {
			t.Errorf("the link is %q (%v)", link, err)
		}
	}
}

// The undo does not write where a link leads that came since.
func TestUndoInPlaceOfWhatIsALinkNow(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly, InPlace: true})
	moved := filepath.Join(c.Home, "moved.jsonl")
	if err := errors.Join(os.Rename(c.Transcript.File, moved), os.Symlink(moved, c.Transcript.File)); err != nil {
		t.Fatal(err)
	}
	before := contentOf(moved)
	var refused *project.RefusedError
	for _, force := range []bool{false, true} {
		if _, err := c.Run(restore.UndoRestore, restore.Options{Force: force}); !errors.As(err, &refused) || !strings.Contains(refused.What, moved) {
			t.Errorf("%v", err)
		}
	}
	if link, err := os.Readlink(c.Transcript.File); err != nil || link != moved || contentOf(moved) != before {
		t.Errorf("the link is %q (%v)", link, err)
	}
}

// A second name of a transcript keeps what it had: in place means a new file under the transcript's name.
func TestInPlaceLeavesAHardLinkAlone(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	before := c.Transcript.Bytes()
	other := filepath.Join(c.Home, "other")
	if err := os.Link(c.Transcript.File, other); err != nil {
		t.Fatal(err)
	}
	c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly, InPlace: true})
	if contentOf(other) != before || c.Prompts(c.Transcript.File) != "one" {
		t.Error("the second name was written through")
	}
	c.TakeBack(restore.UndoRestore, restore.Options{})
	if contentOf(other) != before || c.Transcript.Bytes() != before {
		t.Error("the undo wrote through the second name")
	}
}

// A directory on the way that is a link is used where it is the person's own, for what is put in place and for forks.
func TestTranscriptsDirectoryIsALink(t *testing.T) {
	for _, owner := range []int{os.Getuid(), 12345} {
		for _, place := range []bool{false, true} {
			if owner != os.Getuid() && os.Getuid() != 0 {
				continue // only root can give a directory to another account
			}
			c := testlab.NewChat(t)
			c.Turn("one", "1")
			second := c.Turn("two", "2")
			before := c.Transcript.Bytes()
			dir, to := filepath.Dir(c.Transcript.File), filepath.Join(c.Home, "elsewhere")
			if err := errors.Join(os.Rename(dir, to), os.Symlink(to, dir), os.Chown(to, owner, -1)); err != nil {
				t.Fatal(err)
			}
			done, err := c.Run(restore.Restore, restore.Options{Checkpoint: second, InPlace: place})
			if owner == os.Getuid() {
				if err != nil || c.Prompts(done.Conversation.File) != "one" {
					t.Errorf("in place %v: %v", place, err)
				}
				continue
			}
			var refused *project.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.What, to) {
				t.Errorf("in place %v: %v", place, err)
			}
			if c.Transcript.Bytes() != before || len(c.SessionFiles()) != 1 {
				t.Errorf("in place %v: the directory has %v", place, c.SessionFiles())
			}
			c.Content("2")
		}
	}
}
