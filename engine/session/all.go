package session

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Info is what is known of an agent's session in the project.
type Info struct {
	Agent, ID  string
	Path       string // of the transcript, also if it is gone
	OnDisk     bool   // the transcript is there
	Size       int64  // of the transcript in bytes, 0 if it is gone
	Dir        string // working directory, "" if unknown
	Title      string
	First      string // label of its first own prompt near the transcript's beginning
	Own        bool   // First is its own, not that of the session that it came from
	Last       string // label of the newest prompt that is known
	Source     string // how it began, as the agent reported it: startup, resume, clear, compact, fork
	Parent     string // session that it came from, "" for none
	Ancestors  []string
	Forks      []string // sessions that came from it
	Seen       time.Time
	LastPrompt time.Time // its newest own prompt; zero where none is known
	// Checkpoints of the session itself, newest first.
	Checkpoints []project.Listed

	root  string    // first event of its transcript
	early string    // the last prompt near the transcript's beginning
	said  time.Time // of the newest prompt near its ends
}

// AgentHome is where agents keep their files.
func AgentHome(p *project.Project) transcript.Home {
	return transcript.Home{Dir: p.Env.Home, Getenv: p.Env.Variable}
}

// Kept are the files and directories in which agents keep their sessions (see transcript.Kept). They are not part of a project.
func Kept(p *project.Project) []string { return transcript.Kept(AgentHome(p)) }

// Transcripts are the files that hooks reported as transcripts, without those that cannot be read.
func Transcripts(ctx context.Context, p *project.Project) (files []string) {
	_ = p.Query(ctx, func(db *manifest.DB) error {
		for s, err := range db.Sessions() {
			if err != nil {
				return err
			}
			// The path comes from an agent: only a file that can be a transcript is taken.
			if file := s.TranscriptPath; filepath.IsAbs(file) && filepath.Ext(file) == ".jsonl" && !account.IsDir(file) {
				files = append(files, file)
			}
		}
		return nil
	})
	return files
}

// List lists the agents' sessions of the project, the newest first: those
// that a hook reported, those that checkpoints name, and those whose transcripts
// lie in the agents' own directories.
func List(ctx context.Context, p *project.Project) ([]Info, error) {
	r := roster{checkpoints: true}
	if err := r.gather(ctx, p); err != nil {
		return nil, err
	}
	if err := r.describeAll(p); err != nil {
		return nil, err
	}
	var list []Info
	for _, s := range r.list {
		s.sayNewest()
		list = append(list, s.Info)
	}
	findParents(list)
	parents := map[string]string{}
	for _, s := range list {
		parents[s.ID] = s.Parent
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Or(b.Seen.Compare(a.Seen), strings.Compare(a.ID, b.ID)) })
	forks := map[string][]string{}
	for _, s := range list {
		forks[s.Parent] = append(forks[s.Parent], s.ID)
	}
	for i := range list {
		s := &list[i]
		s.Ancestors, s.Forks = transcript.Ancestors(parents, s.ID), forks[s.ID]
	}
	return list, nil
}

// describeAll looks into the transcripts that restores made, those in the agents' directories, and those whose paths the log
// has.
func (r *roster) describeAll(p *project.Project) error {
	describe := func(s *member, d transcript.Session) {
		s.describe(d)
		s.sign(d.ModTime, r.wall)
	}
	for _, file := range r.forks {
		agent := transcript.AgentOf(file)
		file = Here(p, agent, file)
		if d, err := transcript.Describe(agent, file); err == nil {
			describe(r.get(string(agent), d.ID), d)
		}
	}
	for _, agent := range transcript.Agents() {
		onDisk, err := transcript.Sessions(agent, AgentHome(p), p.Root())
		if err != nil {
			return err
		}
		for _, d := range onDisk {
			describe(r.get(string(agent), d.ID), d)
		}
	}
	for _, s := range r.list {
		agent := transcript.Agent(s.Agent)
		if s.OnDisk || s.Path == "" || !transcript.Supported(agent) {
			continue
		}
		// It can lie where another working directory's sessions are.
		s.Path = Here(p, agent, s.Path)
		if d, err := transcript.Describe(agent, s.Path); err == nil {
			describe(s, d)
		}
	}
	return nil
}

// findParents gives a parent to sessions of unknown origin. Of sessions whose transcripts begin with the same event, it is the
// oldest one.
func findParents(list []Info) {
	oldest := map[string]*Info{}
	for i := range list {
		s := &list[i]
		if o := oldest[s.root]; s.root != "" && (o == nil || s.older(o)) {
			oldest[s.root] = s
		}
	}
	for i := range list {
		s := &list[i]
		if o := oldest[s.root]; s.Parent == "" && o != nil && o.ID != s.ID && o.Parent == "" {
			s.Parent = o.ID
		}
	}
}

// older orders sessions by their first checkpoint, or by their last sign of life if they have none.
func (s *Info) older(o *Info) bool {
	born := func(s *Info) time.Time {
		if n := len(s.Checkpoints); n > 0 {
			return s.Checkpoints[n-1].Time
		}
		return s.Seen
	}
	return cmp.Or(born(s).Compare(born(o)), strings.Compare(s.ID, o.ID)) < 0
}

// describe adds what the transcript itself says.
func (s *Info) describe(d transcript.Session) {
	s.OnDisk, s.Path, s.Size, s.Dir, s.Title, s.Last = true, d.File, d.Size, d.Dir, d.Title, d.Last
	if s.root = d.Root; d.Parent == s.ID {
		s.Parent = ""
	} else if d.Parent != "" {
		s.Parent = d.Parent
	}
	s.First, s.Own, s.early, s.said = "", false, "", time.Time{}
	if n := len(d.Prompts); n > 0 {
		s.early, s.said = d.Prompts[n-1].Text, d.Prompts[n-1].Time
	}
	for _, prompt := range d.Prompts {
		if s.First == "" || !prompt.Copy {
			s.First = prompt.Text
		}
		if !prompt.Copy {
			s.Own = true
			break
		}
	}
}

// sayNewest finds the newest prompt where the transcript has none near its end, or is gone: the checkpoints have it, else what
// was said early is all that is known.
func (s *Info) sayNewest() {
	if s.Last != "" {
		return
	}
	for i := range s.Checkpoints {
		l := &s.Checkpoints[i]
		if l.Kind == manifest.Prompt && l.Agent == s.Agent && transcript.Typed(transcript.Agent(s.Agent), l.Prompt) {
			if s.Last = transcript.Label(l.Prompt); s.Last != "" {
				return
			}
		}
	}
	s.Last = s.early
}

// MayLack reports whether the transcript can lack the newest prompt that the session's checkpoints have, as far as its ends
// show. It needs the list of checkpoints.
func (s *Info) MayLack() bool {
	i := slices.IndexFunc(s.Checkpoints, func(l project.Listed) bool {
		return l.Kind == manifest.Prompt && l.Agent == s.Agent && l.Subagent == "" && transcript.Typed(transcript.Agent(s.Agent), l.Prompt)
	})
	return i >= 0 && s.Checkpoints[i].Transcript != nil && s.said.Before(s.Checkpoints[i].Time) &&
		(s.Last == "" || s.Last != transcript.Label(s.Checkpoints[i].Prompt))
}

// Label names the session for a person, "" if nothing is known. The title that a restore gave to a fork counts until the
// fork's first message, because clients keep it in sessions that have nothing to do with that prompt.
func (s *Info) Label() string {
	forked := strings.HasPrefix(s.Title, transcript.ForkPrefix)
	switch {
	case forked && s.Own:
		return s.First
	case s.Title == "", s.Last != "" && !forked && transcript.TitledByFirstPrompt(transcript.Agent(s.Agent)):
		return s.Last
	}
	return s.Title
}

// Lineage is the session and those that it came from, the nearest first. It can go back to points of all of them.
func (s *Info) Lineage() []string { return append([]string{s.ID}, s.Ancestors...) }
