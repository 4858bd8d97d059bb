package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// trees are how many of the newest checkpoints give theirs again; turn is how many checkpoints a prompt has, of which
// the last is of the end of the turn.
const (
	trees = 20
	turn  = 10
)

// repeat appends checkpoints to the log whose trees are those of the newest ones.
func repeat(args []string) error {
	from, to, err := interval(args)
	if err != nil {
		return err
	}
	ctx := context.Background()
	p, err := project.Open(ctx, project.OpenOptions{Env: account.Environment(), Root: args[0]})
	if err != nil {
		return err
	}
	defer p.Close()
	var held []manifest.Checkpoint // the newest first
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if held = append(held, c); len(held) == trees {
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return fmt.Errorf("%s: there is no checkpoint", args[0])
	}
	last := held[0]
	at := time.Now().Add(-time.Duration(to-from) * time.Second).UTC()
	if at.Before(last.Time) {
		at = last.Time
	}
	for i := from; i < to; i++ {
		id, err := manifest.NewCheckpointID(rand.Reader)
		if err != nil {
			return err
		}
		from := held[len(held)-1-i%len(held)] // the oldest first
		n := i / turn
		c := manifest.Checkpoint{ID: id, Time: at.Add(time.Duration(i) * time.Millisecond), Kind: manifest.PreTool, Root: from.Root, Files: from.Files, Bytes: from.Bytes,
			Counts: manifest.Counts{Modified: 1}, Parent: last.ID, StoredBytes: 300 + uint64(i%7)*40, Agent: "claude", Session: fmt.Sprintf("be0c4a00-page-%d", n/20%2),
			PromptID: fmt.Sprintf("prompt-%06d", n), Coverage: from.Coverage, Rules: from.Rules}
		w := manifest.Window{Time: c.Time, Agent: c.Agent, Session: c.Session, PromptID: c.PromptID}
		call := func(i int, edge manifest.WindowEdge) manifest.Window {
			w := w
			w.Call, w.Tool, w.Summary, w.Class, w.Edge = fmt.Sprintf("toolu_%08d", i), "Edit", fmt.Sprintf("file%02d.go", i%40), manifest.WindowEdit, edge
			return w
		}
		var windows []manifest.Window // what the hooks since the checkpoint before have noted, and this one
		if i%turn > 1 {
			windows = append(windows, call(i-1, manifest.WindowClose))
		}
		switch i % turn {
		case 0:
			c.Kind, c.Prompt = manifest.Prompt, fmt.Sprintf("turn %d: make the %s of file %d faster", n, []string{"parser", "walk", "index", "lock"}[n%4], i%40)
			w.Edge = manifest.WindowPrompt
		case turn - 1:
			c.Kind = manifest.Stop
			w.Edge = manifest.WindowStop
		default:
			w = call(i, manifest.WindowOpen)
			c.Tool, c.ToolUseID, c.ToolSummary = w.Tool, w.Call, w.Summary
		}
		c.Windows = string(manifest.AppendWindows(nil, append(windows, w)))
		if _, err := commit.Commit(ctx, p, manifest.Record{Checkpoint: &c}); err != nil {
			return err
		}
		last = c
	}
	return hook.Work(ctx, p, hook.WorkOptions{Fold: true})
}
