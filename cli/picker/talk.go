package picker

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// talk is the conversation up to the end of a row's turn, and the number of the line where that turn begins.
func (s *picking) talk(ctx context.Context, r *timeline.Row) ([]screen.Line, int) {
	l := TalkOf(ctx, s.P, r)
	if l == nil || l.Transcript == nil {
		return nil, 0
	}
	messages, err := conversation.LastMessages(ctx, s.P, l.Checkpoint, 80)
	if err != nil {
		return []screen.Line{screen.Text(screen.Dim, app.Escape(app.Explain(err).Message))}, 0
	}
	if r.Kind == timeline.Prompt && r.Checkpoint != nil {
		for i := len(messages) - 1; i > 0; i-- {
			if messages[i].Person && samePromptText(messages[i].Text, r.Checkpoint.Prompt) {
				before := talkLines(messages[:i], s.P.Root())
				return append(append(before, nil), talkLines(messages[i:], s.P.Root())...), len(before) + 1
			}
		}
	}
	return talkLines(messages, s.P.Root()), 0
}

// samePromptText compares a prompt of a transcript with that of a checkpoint, which can be cut.
func samePromptText(messages, prompt string) bool {
	messages, prompt = strings.TrimSpace(messages), strings.TrimSpace(prompt)
	return prompt != "" && (messages == prompt || len(prompt) > 100 && strings.HasPrefix(messages, strings.TrimSuffix(prompt, "…")))
}

// BelowRoot names the files in what a call was given relative to the project's root.
func BelowRoot(text, root string) string { return strings.ReplaceAll(" "+text, " "+root+"/", " ")[1:] }

// talkLines are the messages as lines, the oldest first.
func talkLines(messages []conversation.LastMessage, root string) (out []screen.Line) {
	for _, what := range messages {
		style, before := screen.Plain, ""
		switch {
		case what.Person:
			style, before = screen.Bold, "> "
		case what.Tool != "":
			style = screen.Dim
			out = append(out, screen.Text(style, "  "+app.Escape(what.Tool)+" "+app.FirstLine(BelowRoot(what.Text, root))))
			continue
		}
		if len(out) > 0 {
			out = append(out, nil)
		}
		code := false // within a block of it
		for text := range strings.SplitSeq(what.Text, "\n") {
			text = screen.Ordered(screen.Untab(app.EscapeLine(strings.TrimSuffix(text, "\r"))))
			switch fence := strings.HasPrefix(strings.TrimLeft(text, " "), "```"); {
			case what.Person:
				out = append(out, screen.Text(style, before+text))
			case fence:
				code = !code
				out = append(out, screen.Text(screen.Dim, text))
			case code:
				out = append(out, screen.Text(style, text))
			default:
				out = append(out, emphasised(text))
			}
		}
	}
	return out
}

const (
	TalkPage  = 60
	nextTalk  = 200      // records after a turn, in which its conversation is looked for
	MostSince = 400      // messages that no checkpoint has
	MaxSaid   = 20 << 10 // bytes of one text
)

// TalkOf is the checkpoint whose conversation a row shows: of what a prompt or a call did, the state after it,
// which has what was said meanwhile.
func TalkOf(ctx context.Context, p *project.Project, r *timeline.Row) *project.Listed {
	l := r.Checkpoint
	if l == nil {
		return r.Target
	}
	if r.Side != timeline.Did || r.To == nil {
		return l
	}
	if r.To.ID == (manifest.CheckpointID{}) { // the working tree; a checkpoint can have come since the rows were read
		if l.Session == "" {
			return l
		}
		err := p.Query(ctx, func(db *manifest.DB) error {
			for c, err := range db.Checkpoints(manifest.Query{Session: l.Session}) {
				if err != nil || c.Seq <= r.Checkpoint.Seq {
					return err
				}
				if c.Transcript != nil {
					found := project.Listed{Checkpoint: c}
					l = &found
				}
			}
			return nil
		})
		if err != nil {
			return r.Checkpoint
		}
		return l
	}
	if after, err := app.Resolve(ctx, p, r.To.ID.String()); err == nil && after.ID != l.ID && after.Transcript != nil && after.Session == l.Session {
		return &after
	}
	// An end that changed no file has none, or none of its own: what the session has next holds it.
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Before: r.To.Seq + nextTalk, Session: l.Session}) {
			if err != nil || c.Seq <= max(l.Seq, r.To.Seq) {
				return err
			}
			if c.Transcript != nil {
				found := project.Listed{Checkpoint: c}
				l = &found
			}
		}
		return nil
	})
	if err != nil {
		return r.Checkpoint // it is gone; the messages before it are still there
	}
	return l
}
