package plan

import (
	"context"

	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
)

// reverting is a revert.
type reverting struct{ options revert.Options }

// Revert plans to take work back and to keep the rest.
func (s *Plans) Revert(ctx context.Context, o revert.Options) (*Plan, error) {
	return s.make(ctx, &reverting{o})
}

func (a *reverting) carryOut(ctx context.Context, p *project.Project) (*Done, error) {
	r, err := revert.Revert(ctx, p, a.options)
	if err != nil {
		return nil, err
	}
	return &Done{Restored: r.Restored, Reverted: r}, nil
}

func (a *reverting) plan(ctx context.Context, s *Plans, p *Plan) error {
	o := a.options
	o.DryRun, o.Expect = true, nil
	r, err := revert.Revert(ctx, s.p, o)
	if err != nil {
		return err
	}
	a.options.Expect, p.Restored, p.Reverted = &r.Expected, r.Restored, r
	p.what, p.did = "revert", "Reverted"
	if report.Changed(r.Restored) {
		if len(r.Turns) > 0 {
			p.what += " " + report.TurnsText(r, false)
		}
		p.Title = upper(p.what)
		p.fact("Files: " + withDirectories(r.Restored))
	} else {
		p.Title = report.NothingReverted(r, a.work())
	}
	for _, text := range report.RevertFacts(s.c, r, false) {
		p.fact(text)
	}
	if text := report.GitFact(r.Restored, true); text != "" {
		p.fact(text)
	}
	if n := len(r.Delete) + len(r.Replace) + len(r.Mode) + len(r.Create); n > 0 {
		p.Notes = []string{p.howBack() + " The conversation stays."}
	}
	return nil
}

// work is what goes, in a sentence.
func (a *reverting) work() string {
	switch w := a.options.Work; {
	case w.Call != "":
		return "this call"
	case w.Session != nil && !w.Since:
		return "this session"
	}
	return "this turn"
}
