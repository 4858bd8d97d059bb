package testlab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Session is the id of the session that TranscriptFile writes.
const Session = "11111111-2222-4333-8444-555555555555"

// TranscriptFile is a made-up conversation of Claude Code, in a file that only grows.
type TranscriptFile struct {
	T    testing.TB
	File string
	Last string // id of the newest event
	N    int
}

// TranscriptFile is the conversation of Session, which is not written yet.
func (l *Lab) TranscriptFile() *TranscriptFile {
	return &TranscriptFile{T: l.T, File: filepath.Join(l.Home, ".claude", "projects", "-project", Session+".jsonl")}
}

// Trigger names the conversation, as a hook does.
func (k *TranscriptFile) Trigger() conversation.Trigger {
	return conversation.Trigger{Agent: "claude", Session: Session, Transcript: k.File}
}

// Say appends a prompt and an answer.
func (k *TranscriptFile) Say(prompt, answer string) {
	k.T.Helper()
	for _, role := range []string{"user", "assistant"} {
		k.N++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", k.N)
		parent, text := "null", prompt
		if k.Last != "" {
			parent = `"` + k.Last + `"`
		}
		if role == "assistant" {
			text = answer
		}
		k.Add(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%q},"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","promptId":"p%d","sessionId":%q,"version":"2.1.329"}`+"\n",
			parent, role, role, text, id, k.N, Session))
		k.Last = id
	}
}

// Add appends text as it is.
func (k *TranscriptFile) Add(text string) {
	k.T.Helper()
	if err := os.MkdirAll(filepath.Dir(k.File), 0o700); err != nil {
		k.T.Fatal(err)
	}
	f, err := os.OpenFile(k.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		k.T.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		k.T.Fatal(err)
	}
}

// Bytes reads the file.
func (k *TranscriptFile) Bytes() string {
	data, err := os.ReadFile(k.File)
	if err != nil {
		k.T.Fatal(err)
	}
	return string(data)
}

// Conversation reads the conversation that a checkpoint holds.
func (l *Lab) Conversation(c manifest.Checkpoint) string {
	l.T.Helper()
	var out bytes.Buffer
	l.Do(func(ctx context.Context, p *project.Project) error {
		held, err := transcript.Open(conversation.StoreIn(ctx, p.Store.Get, nil), c.Transcript.Content)
		if err != nil {
			return err
		}
		r := held.Reader()
		defer r.Close()
		_, err = io.Copy(&out, r)
		return err
	})
	return out.String()
}
