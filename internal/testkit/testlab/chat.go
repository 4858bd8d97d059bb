package testlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Chat is a project in which an agent works: before each prompt a checkpoint is taken as its hook does, then the agent
// answers and changes a file.
type Chat struct {
	*Lab
	Transcript *TranscriptFile
}

// NewChat makes a chat with a store, and a file that holds "0".
func NewChat(t *testing.T) *Chat {
	l := New(t)
	l.Write("file", "0")
	l.Init()
	return &Chat{l, l.TranscriptFile()}
}

// Turn is one prompt: its text, and what the agent then writes into the file. It gives the checkpoint before it.
func (c *Chat) Turn(prompt, content string) manifest.Checkpoint {
	c.T.Helper()
	by := c.Transcript.Trigger()
	by.Prompt, by.PromptID = prompt, fmt.Sprintf("p%d", c.Transcript.N+1)
	saved := c.SaveBy(by)
	c.Transcript.Say(prompt, "answer to "+prompt)
	c.Write("file", content)
	return saved.Checkpoint
}

// Restore restores, and ends the test on an error.
func (c *Chat) Restore(o restore.Options) *restore.Restored {
	c.T.Helper()
	done, err := c.Run(restore.Restore, o)
	if err != nil {
		c.T.Fatal(err)
	}
	return done
}

// TakeBack calls one of the restore family, and ends the test on an error.
func (c *Chat) TakeBack(call RestoreCall, o restore.Options) *restore.Restored {
	c.T.Helper()
	done, err := c.Run(call, o)
	if err != nil {
		c.T.Fatal(err)
	}
	return done
}

// Prompts reads a transcript as the agent does: its prompts, the oldest first.
func (c *Chat) Prompts(file string) string {
	c.T.Helper()
	f, err := os.Open(file)
	if err != nil {
		c.T.Fatal(err)
	}
	defer f.Close()
	x, err := transcript.Read(transcript.Claude, f)
	if err != nil {
		c.T.Fatal(err)
	}
	said, err := x.Prompts(x.Leaf())
	if err != nil {
		c.T.Fatal(err)
	}
	var texts []string
	for i := len(said) - 1; i >= 0; i-- {
		texts = append(texts, x.Lines[said[i]].Text)
	}
	return strings.Join(texts, ", ")
}

// Content fails the test if the file does not hold want.
func (c *Chat) Content(want string) {
	c.T.Helper()
	data, err := os.ReadFile(filepath.Join(c.Root, "file"))
	if err != nil || string(data) != want {
		c.T.Errorf("the file holds %q (%v), want %q", data, err, want)
	}
}

// SessionFiles are the names in the directory of the agent.
func (c *Chat) SessionFiles() (names []string) {
	c.T.Helper()
	entries, err := os.ReadDir(filepath.Dir(c.Transcript.File))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.T.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
