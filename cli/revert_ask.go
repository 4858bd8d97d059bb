package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// conflictKeys are what can be answered to a conflict.
var conflictKeys = []struct {
	key    byte
	word   string // in the question
	choice work.ConflictChoice
	text   string
}{
	{'k', "keep", work.KeepBlock, "keep the block as it is now"},
	{'f', "file", work.KeepFile, "keep the whole file as it is now"},
	{'u', "undo", work.UndoBlock, "undo it: as before the work; what others made of it goes, too (a safety checkpoint has it)"},
	{'m', "markers", work.MarkConflict, "write both, between markers"},
	{'q', "quit", "", "quit: nothing is changed"},
	{'?', "", "", "this help"},
}

// askConflicts makes the plan, and asks what becomes of each of its conflicts.
func (c *call) askConflicts(ctx context.Context, p *project.Project, o revert.Options) (map[string]work.ConflictChoice, error) {
	o.DryRun, o.Conflicts = true, work.KeepBlock
	plan, err := revert.Revert(ctx, p, o)
	if err != nil || len(plan.Conflicts) == 0 {
		return nil, err
	}
	c.out.endProgress()
	in := bufio.NewReader(c.out.stdin)
	choices := map[string]work.ConflictChoice{}
	kept := "" // the file that stays as a whole
	for i, k := range plan.Conflicts {
		if k.Path == kept {
			choices[k.Key] = work.KeepFile
			continue
		}
		c.showConflict(k)
		choice, err := c.askConflict(ctx, in, k, i+1, len(plan.Conflicts))
		if err != nil {
			return nil, err
		}
		if choice == "" {
			return nil, &restore.DeclinedError{}
		}
		if choices[k.Key] = choice; choice == work.KeepFile {
			kept = k.Path
		}
	}
	return choices, nil
}

// showConflict prints both texts, and who wrote when and for which prompt.
func (c *call) showConflict(k revert.RevertConflict) {
	o := c.out
	o.line("%s", o.color.Paint(screen.Bold, placeText(k.Path, k.From, k.To)+": "+k.Reason))
	for _, w := range k.Own {
		o.line("  %s %s", o.color.Paint(screen.Red, "goes: "), c.workText(w))
	}
	for _, w := range k.By {
		o.line("  %s %s", o.color.Paint(screen.Yellow, "since:"), c.workText(w))
	}
	if k.Whole() || k.Now == nil && k.Before == nil {
		return
	}
	for _, side := range []struct {
		title, sign string
		style       screen.Style
		lines       []string
	}{{"now", "-", screen.Red, k.Now}, {"before the work", "+", screen.Green, k.Before}} {
		o.line("  %s", o.color.Paint(screen.Dim, side.title+":"))
		for _, line := range firstN(side.lines, conflictLines) {
			o.line("%s", o.color.Paint(side.style, side.sign+escape(strings.TrimRight(line, "\r\n"))))
		}
		if n := len(side.lines) - conflictLines; n > 0 {
			o.line("  and %d more lines", n)
		}
	}
}

// conflictLines is how many lines of each text are shown.
const conflictLines = 40

// askConflict gives the choice, "" to end without a change; the end of the input is that, too.
func (c *call) askConflict(ctx context.Context, in *bufio.Reader, k revert.RevertConflict, n, of int) (work.ConflictChoice, error) {
	var keys, words []string
	for _, a := range conflictKeys {
		if a.choice == work.MarkConflict && k.Whole() || a.choice == work.KeepFile && k.Whole() {
			continue
		}
		keys = append(keys, string(a.key))
		words = append(words, strings.TrimSpace(string(a.key)+" "+a.word))
	}
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		c.out.buf.Flush()
		fmt.Fprint(c.out.stderr, c.out.errColor.Paint(screen.Blue, fmt.Sprintf("(%d/%d) What becomes of it [%s]?", n, of, strings.Join(words, ", ")))+" ")
		line, err := c.out.readLineFrom(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		if answer == "q" || answer == "" && err != nil {
			return "", nil
		}
		for _, a := range conflictKeys {
			if answer == string(a.key) && a.choice != "" && strings.Contains(strings.Join(keys, ""), answer) {
				return a.choice, nil
			}
		}
		for _, a := range conflictKeys {
			if strings.Contains(strings.Join(keys, ""), string(a.key)) {
				fmt.Fprintf(c.out.stderr, "%c - %s\n", a.key, a.text)
			}
		}
	}
}
