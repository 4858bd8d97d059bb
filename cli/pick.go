package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/project"
)

// newPick is what rewind without a command does at a terminal.
func newPick() *command {
	return &command{
		name:  "pick",
		usage: "",
		short: "choose a checkpoint and restore it",
		long: "Shows the checkpoints and what a restore would do. Type to filter, move with the arrow\n" +
			"keys, restore with enter (it asks first), quit with q or escape.",
		exits: []int{exitPartial, exitBusy, exitDamaged, exitRefused},
		run:   runPick,
	}
}

// pickable bounds the list: older ones are reached by rewind list --all.
const pickable = 2000

func runPick(ctx context.Context, c *call) error {
	if !c.out.interactive() {
		return &usageError{msg: "the picker needs a terminal", hint: "rewind list"}
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	items, err := p.List(ctx, project.ListOptions{Limit: pickable})
	if err != nil {
		return err
	}
	if len(items) == 0 {
		c.out.hint("no checkpoints yet; take one with rewind save")
		return nil
	}
	m := screen.NewPicker(pickColumns(), pickRows(items, c.out.now()), c.out.errColor)
	preview := func(ctx context.Context, row int) []string {
		plan, err := engine.Restore(ctx, p, engine.RestoreOptions{Checkpoint: items[row].Checkpoint, DryRun: true})
		return pickPreview(c.out.errColor, plan, err)
	}
	c.out.fullScreen(true)
	what, err := screen.Show(ctx, c.out.stdin.(*os.File), c.out.stderr.(*os.File), m, preview)
	c.out.fullScreen(false)
	if err != nil || what == screen.Quit {
		return err
	}
	if what == screen.Interrupt {
		return context.Canceled
	}
	chosen, _ := m.Selected()
	done, err := engine.Restore(ctx, p, engine.RestoreOptions{Checkpoint: items[chosen].Checkpoint})
	if err != nil {
		return err
	}
	return reportRestored(c, done, restoreCheckpoint)
}

func pickColumns() []screen.Column {
	return []screen.Column{{Title: "#", Right: true}, {Title: "AGE", Right: true}, {Title: "WHY", Style: screen.Cyan}, {Title: "TEXT", Flex: true}, {Title: "CHANGES"}}
}

// pickRows are the checkpoints as the picker shows and filters them.
func pickRows(items []project.Listed, now time.Time) []screen.Row {
	rows := make([]screen.Row, len(items))
	for i, l := range items {
		rows[i] = screen.Row{
			ID:    l.ID.String(),
			Cells: []string{utoa(uint64(l.N)), formatAge(now.Sub(l.Time)), reason(l), checkpointText(l), changeCounts(l.Added, l.Modified, l.Deleted)},
			Text:  strings.Join([]string{l.ID.String(), l.Name, string(l.Kind), l.Tool, l.Description, l.Prompt}, " "),
		}
	}
	return rows
}

// pickPreview says what a restore would do, or why that is not known.
func pickPreview(p screen.Painter, plan *engine.Restored, err error) []string {
	if err != nil {
		return []string{p.Paint(screen.Red, "error: ") + escape(explain(err).message)}
	}
	lines := []string{"Restore: " + restoredLine(plan)}
	for _, g := range []struct {
		word  string
		style screen.Style
		paths []string
	}{{"delete", screen.Red, plan.Delete}, {"replace", screen.Yellow, plan.Replace}, {"mode", screen.Yellow, plan.Mode}, {"create", screen.Green, plan.Create}} {
		for _, path := range g.paths {
			if len(lines) == screen.PreviewLines {
				return lines
			}
			lines = append(lines, "  "+p.Paint(g.style, pad(g.word, 8))+escape(path))
		}
	}
	return lines
}
