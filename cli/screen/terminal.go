package screen

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	// previewAfter keeps fast scrolling from starting a scan per line.
	previewAfter = 120 * time.Millisecond
	// escapeWait is how long the rest of an escape sequence may take to come.
	escapeWait = 50 * time.Millisecond
)

// Show draws m on the terminal until a key ends it. The terminal is then as it was. preview
// says what choosing a row would do; it is called beside the drawing, once a row is rested on,
// and one at a time.
func Show(ctx context.Context, in, out *os.File, m *Picker, preview func(ctx context.Context, row int) []string) (Action, error) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return Quit, err
	}
	defer term.Restore(int(in.Fd()), state)
	io.WriteString(out, "\x1b[?1049h\x1b[?25l")
	defer io.WriteString(out, "\x1b[?25h\x1b[?1049l")

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input := readInput(ctx, in)
	resized, stop := resizes()
	defer stop()
	type result struct {
		id    string
		lines []string
	}
	results := make(chan result)
	var (
		pending []byte
		asked   string // the row whose preview was asked for
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
			return Interrupt, nil
		case b, ok := <-input:
			if !ok {
				return Quit, nil
			}
			keys, pending = decodeKeys(append(pending, b...), false)
			lone.Reset(escapeWait)
		case <-lone.C:
			keys, pending = decodeKeys(pending, true)
		case <-resized:
		case r := <-results:
			m.previews[r.id] = r.lines
			asked = ""
			wait.Reset(0)
		case <-wait.C:
			row, ok := m.Selected()
			if !ok || asked != "" {
				break
			}
			id := m.rows[row].ID
			if _, have := m.previews[id]; have {
				break
			}
			asked = id
			go func() {
				select {
				case results <- result{id, preview(ctx, row)}:
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
