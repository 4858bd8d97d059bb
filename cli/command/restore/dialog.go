package restore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
)

// answer is a key that a question can be answered with, a word for it in the question, and what it does.
type answer struct{ key, word, does string }

// dialog asks a person several questions. Its reader may hold the next answers already.
type dialog struct {
	*app.Call
	in      *bufio.Reader
	refused map[string]string // the message for a key that is not among the answers
}

// ask gives the key of one of the answers. The end of the input is q.
func (d *dialog) ask(ctx context.Context, question string, answers []answer, n, of int) (string, error) {
	between := ","
	if answers[0].word != "" {
		between = ", "
	}
	answers = append(answers, answer{"?", "", "this help"})
	words := app.Map(answers, func(a answer) string { return strings.TrimSpace(a.key + " " + a.word) })
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		d.Out.Buf.Flush()
		fmt.Fprint(d.Out.Stderr, d.Out.ErrColor.Paint(screen.Blue, fmt.Sprintf("(%d/%d) %s [%s]?", n, of, question, strings.Join(words, between)))+" ")
		line, err := d.Out.ReadLineFrom(d.in)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		typed := strings.ToLower(strings.TrimSpace(line))
		if typed == "" && err != nil {
			return "q", nil
		}
		for _, a := range answers {
			if typed == a.key && typed != "?" {
				return a.key, nil
			}
		}
		if text := d.refused[typed]; text != "" {
			fmt.Fprintln(d.Out.Stderr, text)
			continue
		}
		for _, a := range answers {
			fmt.Fprintf(d.Out.Stderr, "%s - %s\n", a.key, a.does)
		}
	}
}
