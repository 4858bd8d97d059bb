package show

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
)

func NewSessions() *app.Command {
	return &app.Command{
		Name:  "sessions",
		Usage: "",
		Short: "show the agents' sessions, their origin and their checkpoints",
		Long: "Shows the agents' sessions in the project, newest first: those reported by hooks and\n" +
			"those found in the agents' own directories. A session that began as a fork, resume or\n" +
			"clear of another one is shown with it, and can restore its checkpoints too.",
		Examples: []app.Example{
			{Line: "rewind sessions", Does: "all of them"},
			{Line: "rewind list --session 5db0d5f6-0000-4000-8000-000000000001", Does: "the checkpoints of one"},
			{Line: "rewind back --session 5db0", Does: "choose one by the beginning of its id"},
		},
		Answers: app.Answers{"sessions": sessionsView{}},
		Exits:   []int{app.ExitDamaged},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			sessions, err := conversation.Sessions(ctx, p)
			if err != nil {
				return err
			}
			if len(sessions) == 0 && !c.JSON {
				c.Out.Hint("no agent sessions yet")
				return nil
			}
			return c.Answer(ctx, func() any { return sessionsView{app.Map(sessions, viewSession)} }, func() { printSessions(c.Out, sessions) })
		},
	}
}

func printSessions(o *app.Output, sessions []session.Info) {
	t := screen.Table{Columns: []screen.Column{
		{Title: "SESSION", Style: screen.Yellow}, {Title: "AGENT", Style: screen.Cyan}, {Title: "AGE", Right: true},
		{Title: "CHECKPOINTS", Right: true}, {Title: "CHAT", Right: true}, {Title: "FROM", Flex: true}, {Title: "TEXT", Flex: true},
	}}
	shown := func(id string) string { return screen.Clip(app.Escape(id), maxShownID) }
	if w := o.Width(); w > 0 && w < wholeIDs { // the beginning of an id names a session, too
		shown = func(id string) string { return app.Escape(report.ShortSession(id)) }
	}
	for _, s := range sessions {
		chat := "-" // there never was one
		switch {
		case s.OnDisk:
			chat = app.FormatSize(s.Size)
		case s.Path != "" && transcript.Supported(transcript.Agent(s.Agent)):
			chat = "gone"
		}
		from := app.Escape(s.Source)
		if s.Parent != "" {
			from = strings.TrimSpace(from + " " + app.Escape(report.ShortSession(s.Parent)))
		}
		t.Rows = append(t.Rows, []string{shown(s.ID), app.Escape(s.Agent), app.FormatAge(o.Now().Sub(s.Seen)),
			app.Utoa(uint64(len(s.Checkpoints))), chat, from, app.FirstLine(s.Label())})
	}
	o.Table(t)
}

// maxShownID is how many columns of a session's id are shown: the agents' own have 36, and the beginning names it.
const maxShownID = 64

// wholeIDs is how many columns a terminal has at least where ids are shown whole.
const wholeIDs = 110

type sessionsView struct {
	Sessions []sessionView `json:"sessions"`
}

type sessionView struct {
	SessionID   string                  `json:"session_id"`
	Agent       string                  `json:"agent"`
	Path        string                  `json:"path"`
	OnDisk      bool                    `json:"on_disk"`
	Bytes       int64                   `json:"bytes"`
	Dir         string                  `json:"dir"`
	Title       string                  `json:"title"`
	LastPrompt  string                  `json:"last_prompt"`
	Source      string                  `json:"source"`
	Parent      *string                 `json:"parent"`
	Ancestors   []string                `json:"ancestors"`
	Forks       []string                `json:"forks"`
	Time        string                  `json:"time"`
	Checkpoints []sessionCheckpointView `json:"checkpoints"`
}

type sessionCheckpointView struct {
	ID   string `json:"id"`
	Seq  uint64 `json:"seq"`
	N    int    `json:"n"`
	Time string `json:"time"`
	Kind string `json:"kind"`
}

func viewSession(s session.Info) sessionView {
	return sessionView{
		SessionID: s.ID, Agent: s.Agent, Path: s.Path, OnDisk: s.OnDisk, Bytes: s.Size, Dir: s.Dir, Title: s.Title,
		LastPrompt: s.Last, Source: s.Source, Parent: app.OrNull(s.Parent), Ancestors: append([]string{}, s.Ancestors...),
		Forks: append([]string{}, s.Forks...), Time: app.ViewTime(s.Seen),
		Checkpoints: app.Map(s.Checkpoints, func(l project.Listed) sessionCheckpointView {
			return sessionCheckpointView{ID: l.ID.String(), Seq: l.Seq, N: l.N, Time: app.ViewTime(l.Time), Kind: string(l.Kind)}
		}),
	}
}
