package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"rewind/engine"
	"rewind/engine/project"
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
	m := newPicker(items, c.out.now(), c.out.errColor)
	c.out.fullScreen(true)
	what, err := showPicker(ctx, c.out, p, m)
	c.out.fullScreen(false)
	if err != nil || what == quit {
		return err
	}
	if what == interrupt {
		return context.Canceled
	}
	l, _ := m.selected()
	done, err := engine.Restore(ctx, p, engine.RestoreOptions{Checkpoint: l.Checkpoint})
	if err != nil {
		return err
	}
	return reportRestored(c, done, restoreCheckpoint)
}

const (
	// previewAfter keeps fast scrolling from starting a scan per line.
	previewAfter = 120 * time.Millisecond
	// escapeWait is how long the rest of an escape sequence may take to come.
	escapeWait = 50 * time.Millisecond
)

// showPicker draws m on the terminal until a key ends it. The terminal is then
// as it was.
func showPicker(ctx context.Context, o *output, p *project.Project, m *picker) (action, error) {
	in, out := o.stdin.(*os.File), o.stderr.(*os.File)
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return quit, err
	}
	defer term.Restore(int(in.Fd()), state)
	io.WriteString(out, "\x1b[?1049h\x1b[?25l")
	defer io.WriteString(out, "\x1b[?25h\x1b[?1049l")

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input := readInput(ctx, in)
	resized, stop := resizes()
	defer stop()
	results := make(chan struct {
		id string
		preview
	})
	var (
		pending []byte
		asked   string // the checkpoint whose preview was asked for
		wait    = time.NewTimer(previewAfter)
		lone    = time.NewTimer(time.Hour)
	)
	defer wait.Stop()
	defer lone.Stop()
	for {
		m.w, m.h = 80, 24
		if w, h, err := term.GetSize(int(out.Fd())); err == nil && w > 0 && h > 0 {
			m.w, m.h = w, h
		}
		draw(out, m.view())
		var keys []string
		select {
		case <-ctx.Done():
			return interrupt, nil
		case b, ok := <-input:
			if !ok {
				return quit, nil
			}
			keys, pending = decodeKeys(append(pending, b...), false)
			lone.Reset(escapeWait)
		case <-lone.C:
			keys, pending = decodeKeys(pending, true)
		case <-resized:
		case r := <-results:
			m.previews[r.id] = r.preview
			asked = ""
			wait.Reset(0)
		case <-wait.C:
			l, ok := m.selected()
			if _, have := m.previews[l.ID.String()]; !ok || have || asked != "" {
				break
			}
			asked = l.ID.String()
			go func() {
				plan, err := engine.Restore(ctx, p, engine.RestoreOptions{Checkpoint: l.Checkpoint, DryRun: true})
				select {
				case results <- struct {
					id string
					preview
				}{l.ID.String(), preview{plan, err}}:
				case <-ctx.Done():
				}
			}()
		}
		for _, k := range keys {
			if a := m.key(k); a != stay {
				return a, nil
			}
			wait.Reset(previewAfter)
		}
	}
}

// readInput reads until the process ends: a blocked read of a terminal cannot be
// called back, and nothing else reads it after the picker.
func readInput(ctx context.Context, in *os.File) <-chan []byte {
	input := make(chan []byte)
	go func() {
		defer close(input)
		for {
			b := make([]byte, 256)
			n, err := in.Read(b)
			if err != nil {
				return
			}
			select {
			case input <- b[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return input
}

// draw paints the whole picture in one write.
func draw(w io.Writer, lines []string) {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l)
		b.WriteString("\x1b[K")
	}
	b.WriteString("\x1b[J")
	io.WriteString(w, b.String())
}
