package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// maxDescribed bounds how many transcripts that no hook reported are read
// for a choice, the newest first: with more sessions at work than that, the person has to name one.
const maxDescribed = 64

// candidates returns the sessions that had prompts and were active lately, of one agent if that is named. Those of
// projects below this one are left out; nested is the root of one of these projects.
func (r *roster) candidates(ctx context.Context, p *project.Project, agent string) (list []*candidate, nested string, err error) {
	var of []*member
	described := 0
	for _, s := range r.list {
		if !s.active {
			continue
		}
		if !s.recorded() {
			if s.Size == 0 || described >= maxDescribed {
				continue
			}
			if s.look(); !s.forked && !(transcript.Session{Dir: s.Dir}).In(p.Root()) {
				continue
			}
			if len(s.prompts) > 0 {
				described++
			}
		}
		if err := r.findPrompts(ctx, p, s); err != nil {
			return nil, "", err
		}
		if s.LastPrompt.IsZero() && !(s.reported && len(s.prompts) > 0) || agent != "" && s.Agent != agent {
			continue
		}
		if root := s.nested(p); root != "" {
			nested = cmp.Or(nested, root)
			continue
		}
		of = append(of, s)
	}
	lineage := r.lineages(of)
	for _, s := range of {
		list = append(list, &candidate{member: *s, lineage: lineage(s.ID)})
	}
	return list, nested, nil
}

// lineages gives each session the name of its lineage. Sessions are of one lineage if hooks or transcripts say that one
// came from the other, or if their transcripts begin with the same event.
func (r *roster) lineages(of []*member) func(id string) string {
	up := map[string]string{}
	find := func(id string) string {
		for up[id] != "" {
			id = up[id]
		}
		return id
	}
	join := func(a, b string) {
		if a, b = find(a), find(b); a != b {
			up[a] = b
		}
	}
	for _, s := range of {
		seen := map[string]bool{s.ID: true}
		for a := s; a != nil && a.Parent != "" && !seen[a.Parent]; a = r.byID[a.Parent] {
			seen[a.Parent] = true
			join(a.ID, a.Parent)
		}
		if s.root != "" {
			join(s.ID, "\x00"+s.root)
		}
	}
	return find
}

// findPrompts finds out when the person spoke in a session: by the checkpoints of its prompts, else by its transcript.
func (r *roster) findPrompts(ctx context.Context, p *project.Project, s *member) error {
	s.look()
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: s.ID, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			if c.Agent != s.Agent || !transcript.Typed(transcript.Agent(s.Agent), c.Prompt) {
				continue
			}
			if s.LastPrompt.IsZero() {
				s.LastPrompt = c.Time
				s.Last = cmp.Or(s.Last, transcript.Label(c.Prompt))
			}
			s.first = c.Time
			if s.First == "" || !s.OnDisk {
				text, _, _ := strings.Cut(strings.TrimSpace(c.Prompt), "\n")
				s.First = strings.TrimSpace(text)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !s.LastPrompt.IsZero() {
		s.recent = s.LastPrompt.After(r.since)
		return nil
	}
	for _, prompt := range s.prompts {
		if prompt.Copy || s.reported && prompt.Time.Before(s.opened.Add(-time.Second)) {
			continue
		}
		if s.first.IsZero() {
			s.first = prompt.Time
		}
		s.LastPrompt, s.fromFile = prompt.Time, true
	}
	if s.reported && !s.fromFile && len(s.prompts) > 0 && s.Parent == "" && !slices.Contains([]string{"", "fork", "resume"}, s.Source) {
		s.LastPrompt = s.prompts[len(s.prompts)-1].Time // its own, from before its first hook
	}
	s.recent = s.LastPrompt.After(r.wall)
	return nil
}
