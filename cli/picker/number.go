package picker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
)

// byNumber is the picker of a terminal that can only print lines: a list, a number, the plan, y.
func byNumber(ctx context.Context, s *picking) error {
	const most = 20
	c := s.C
	s.plans.Keyless = true
	list := s.answer(ctx, screen.Ask{What: screen.AskAll})
	if list.Err != "" {
		return fmt.Errorf("%s", list.Err)
	}
	rows := list.Rows.List
	byNumber := map[int]screen.Row{}
	c.Out.EndProgress()
	for _, r := range rows {
		if len(byNumber) == most {
			break
		}
		if n, err := strconv.Atoi(r.N); err == nil {
			byNumber[n] = r
		}
		text := strings.TrimRight(fmt.Sprintf("%4s  %4s  %s  %s", r.N, r.Age, app.Pad(screen.Clip(r.Why, 10), 10), r.Text), " ")
		if r.Note != "" {
			text += "  " + r.Note
		}
		fmt.Fprintln(c.Out.Stderr, text)
	}
	if len(byNumber) == 0 {
		c.Out.Hint("no checkpoints yet; take one with rewind save")
		return nil
	}
	in := bufio.NewReader(c.Out.Stdin)
	here := strings.NewReplacer(" with u here, or", "", "? u takes it back", "? rewind undo takes it back") // there are no keys
	for {
		word, err := askWord(ctx, c, in, "Restore which? Number, or q: ")
		if err != nil || word == "" || word == "q" {
			return err
		}
		n, _ := strconv.Atoi(word)
		r, ok := byNumber[n]
		if !ok {
			fmt.Fprintf(c.Out.Stderr, "%s is no number of the list\n", app.Escape(word))
			continue
		}
		plan := s.answer(ctx, screen.Ask{What: screen.AskPlan, ID: r.ID})
		for plan.Plan != nil {
			if plan.Summary != "" {
				fmt.Fprintln(c.Out.Stderr, plan.Summary)
			}
			for _, l := range plan.Plan.Facts {
				fmt.Fprintln(c.Out.Stderr, l.String())
			}
			for _, f := range plan.Plan.Files {
				fmt.Fprintln(c.Out.Stderr, "  "+app.Pad(f.Status, 8)+f.Path)
			}
			for _, l := range plan.Plan.Notes {
				fmt.Fprintln(c.Out.Stderr, here.Replace(l.String()))
			}
			if plan.Plan.Question == "" {
				break
			}
			if word, err = askWord(ctx, c, in, here.Replace(plan.Plan.Question)+" [y/N] "); err != nil || word != "y" && word != "yes" {
				break
			}
			plan = s.answer(ctx, screen.Ask{What: screen.AskDo, Plan: plan.Plan.Token})
			if plan.Plan == nil && plan.Err == "" {
				return s.report()
			}
		}
		if plan.Err != "" {
			return fmt.Errorf("%s", plan.Err)
		}
		if err != nil {
			return err
		}
	}
}

// askWord asks for one word; "" at the end of the input.
func askWord(ctx context.Context, c *app.Call, in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(c.Out.Stderr, question)
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-got:
		if r.err == io.EOF {
			r.err = nil
		}
		return strings.ToLower(strings.TrimSpace(r.line)), r.err
	}
}
