package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/work"
)

// completedPrompts is how many of a session's last prompts are offered.
const completedPrompts = 10

// completePrompts offers prompt~N of the session that would be meant.
func completePrompts(ctx context.Context, root, session string, env account.Env, emit func(value, text string)) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return
	}
	defer p.Close()
	s, err := conversation.ChooseSession(ctx, p, session)
	if err != nil {
		return
	}
	for n := 1; n <= completedPrompts; n++ {
		l, err := conversation.ResolvePrompt(ctx, p, fmt.Sprintf("prompt~%d", n), n, s.ID)
		if err != nil {
			return
		}
		emit(fmt.Sprintf("prompt~%d", n), app.FirstLine(l.Prompt))
	}
}

// completeSubagents offers the subagents of a session, or of all.
func completeSubagents(ctx context.Context, root, session string, env account.Env, emit func(value, text string)) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return
	}
	defer p.Close()
	if session != "" {
		s, err := conversation.ChooseSession(ctx, p, session)
		if err != nil {
			return
		}
		session = s.ID
	}
	list, err := work.Subagents(ctx, p, session)
	if err != nil {
		return
	}
	for _, id := range app.FirstN(list, completedCheckpoints) {
		emit(id, "")
	}
}

// completeCalls offers the newest tool calls by the agents' ids.
func completeCalls(ctx context.Context, root string, env account.Env, emit func(value, text string)) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return
	}
	defer p.Close()
	list, err := p.List(ctx, project.ListOptions{Limit: 4 * completedCheckpoints})
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for _, l := range list {
		if id := l.ToolUseID; id != "" && !seen[id] && len(seen) < completedCheckpoints {
			seen[id] = true
			emit(id, strings.TrimSpace(app.Escape(l.Tool)+" "+rows.CheckpointText(l)))
		}
	}
}
