package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/transcript"
	"rewind/manifest"
)

// SessionInfo is what is known of an agent's session in the project.
type SessionInfo struct {
	Agent, ID string
	Path      string // of the transcript, also if it is gone
	OnDisk    bool   // the transcript is there
	Size      int64  // of the transcript in bytes, 0 if it is gone
	Dir       string // working directory, "" if unknown
	Title     string
	Last      string // label of a late prompt
	Source    string // how it began, as the agent said: startup, resume, clear, compact, fork
	Parent    string // session that it came from, "" for none
	Ancestors []string
	Forks     []string // sessions that came from it
	Seen      time.Time
	Told      bool // a hook told of it
	// Checkpoints of the session itself, newest first.
	Checkpoints []Listed
}

// agentHome is where agents keep their files.
func (p *Project) agentHome() transcript.Home {
	return transcript.Home{Dir: p.env.Home, Getenv: p.env.getenv}
}

// Sessions lists the agents' sessions of the project, the newest first: those
// that a hook told of, those that checkpoints name, and those whose transcripts
// lie in the agents' own directories.
func (p *Project) Sessions(ctx context.Context) ([]SessionInfo, error) {
	type key struct{ agent, id string }
	found := map[key]*SessionInfo{}
	get := func(agent, id string) *SessionInfo {
		k := key{agent, id}
		if found[k] == nil {
			found[k] = &SessionInfo{Agent: agent, ID: id}
		}
		return found[k]
	}
	seen := func(s *SessionInfo, t time.Time) {
		if t.After(s.Seen) {
			s.Seen = t
		}
	}
	var forks []string
	err := p.query(ctx, func(db *manifest.DB) error {
		for r, err := range db.Sessions() {
			if err != nil {
				return err
			}
			s := get(r.Agent, r.ID)
			s.Path, s.Parent, s.Source, s.Told = r.TranscriptPath, r.Parent, r.Source, true
			seen(s, r.Time)
		}
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if c.Session == "" {
				continue
			}
			s := get(c.Agent, c.Session)
			s.Checkpoints = append(s.Checkpoints, Listed{Checkpoint: c, N: db.Position(c.Seq)})
			if s.Path == "" && c.Transcript != nil {
				s.Path = c.Transcript.Path
			}
			seen(s, c.Time)
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Fork != "" {
				forks = append(forks, op.Fork)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, file := range forks { // of ours, which can lie elsewhere than the project's sessions
		agent := agentOfPath(file)
		if d, err := transcript.Describe(agent, file); err == nil {
			s := get(string(agent), d.ID)
			s.describe(d)
			seen(s, d.ModTime)
		}
	}
	for _, agent := range []transcript.Agent{transcript.Claude, transcript.Droid} {
		onDisk, err := transcript.Sessions(agent, p.agentHome(), p.place.root)
		if err != nil {
			return nil, err
		}
		for _, d := range onDisk {
			s := get(string(agent), d.ID)
			s.describe(d)
			seen(s, d.ModTime)
		}
	}
	var list []SessionInfo
	parents := map[string]string{}
	for _, s := range found {
		if !s.OnDisk && s.Path != "" && transcript.Supported(transcript.Agent(s.Agent)) {
			// It can lie where another working directory's sessions are.
			if d, err := transcript.Describe(transcript.Agent(s.Agent), s.Path); err == nil {
				d.ID = s.ID
				s.describe(d)
				seen(s, d.ModTime)
			}
		}
		if s.Parent == s.ID {
			s.Parent = ""
		}
		parents[s.ID] = s.Parent
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b SessionInfo) int {
		if c := b.Seen.Compare(a.Seen); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	for i := range list {
		s := &list[i]
		s.Ancestors = transcript.Ancestors(parents, s.ID)
		for _, other := range list {
			if other.Parent == s.ID {
				s.Forks = append(s.Forks, other.ID)
			}
		}
	}
	return list, nil
}

// describe adds what the transcript itself says.
func (s *SessionInfo) describe(d transcript.Session) {
	s.OnDisk, s.Path, s.Size, s.Dir, s.Title, s.Last = true, d.File, d.Size, d.Dir, d.Title, d.Last
	if d.Parent != "" {
		s.Parent = d.Parent
	}
}

// activeFor is how long after its last sign of life a session counts as active.
const activeFor = time.Hour

// unused reports a fork that nobody has opened yet.
func (s *SessionInfo) unused() bool {
	return s.Parent != "" && !s.Told && len(s.Checkpoints) == 0 && strings.HasPrefix(s.Title, transcript.ForkPrefix)
}

// ChosenSession is the session that a command works on.
type ChosenSession struct {
	SessionInfo
	How string // how it was found, for the person
}

// ChooseSession finds the session that a command means: the one that is named
// (its id, or an unambiguous beginning of at least four characters), else that
// of REWIND_SESSION_ID, else that of REWIND_TRANSCRIPT_PATH, else the only one
// that was active in the last hour. Errors: *NoSessionError.
func (p *Project) ChooseSession(ctx context.Context, named string) (*ChosenSession, error) {
	all, err := p.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	if named != "" {
		s, err := findSession(all, named)
		if err != nil {
			return nil, err
		}
		return &ChosenSession{s, "named"}, nil
	}
	file := p.env.getenv("REWIND_TRANSCRIPT_PATH")
	if id := p.env.getenv("REWIND_SESSION_ID"); id != "" {
		if s, err := findSession(all, id); err == nil {
			return &ChosenSession{s, "REWIND_SESSION_ID"}, nil
		}
		if file == "" {
			return nil, &NoSessionError{Named: id}
		}
	}
	if file != "" {
		for _, s := range all {
			if s.Path == file {
				return &ChosenSession{s, "REWIND_TRANSCRIPT_PATH"}, nil
			}
		}
		s := SessionInfo{Agent: p.env.getenv("REWIND_AGENT"), ID: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Path: file}
		if s.Agent == "" {
			s.Agent = string(agentOfPath(file))
		}
		if d, err := transcript.Describe(transcript.Agent(s.Agent), file); err == nil {
			s.describe(d)
		}
		return &ChosenSession{s, "REWIND_TRANSCRIPT_PATH"}, nil
	}
	var active []SessionInfo
	for _, s := range all {
		if p.env.now().Sub(s.Seen) <= activeFor && !s.unused() {
			active = append(active, s)
		}
	}
	if len(active) == 1 {
		return &ChosenSession{active[0], "the only one that was active in the last hour"}, nil
	}
	return nil, &NoSessionError{Choices: active}
}

func findSession(all []SessionInfo, named string) (SessionInfo, error) {
	var matches []SessionInfo
	for _, s := range all {
		if s.ID == named {
			return s, nil
		}
		if len(named) >= 4 && strings.HasPrefix(s.ID, named) {
			matches = append(matches, s)
		}
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	return SessionInfo{}, &NoSessionError{Named: named, Choices: matches}
}

// agentOfPath tells the agent from where a transcript lies.
func agentOfPath(file string) transcript.Agent {
	if strings.Contains(filepath.ToSlash(file), "/.factory/sessions/") {
		return transcript.Droid
	}
	return transcript.Claude
}

// lineage is the session and what it came from: whose points it can restore.
func (s *SessionInfo) lineage() []string { return append([]string{s.ID}, s.Ancestors...) }

// PromptPlace is the place before one of a session's last prompts.
type PromptPlace struct {
	Session    *ChosenSession
	Checkpoint *Listed  // that of the prompt, else the newest before it; nil for none
	Exact      bool     // Checkpoint is that of the prompt
	Prompts    []string // that lie behind the place, the newest first

	at     *talkPlace
	failed error // why there is no place
}

// beforePrompt finds the place before the n-th last prompt of a session, and its
// checkpoint. The caller holds the users lock. Errors: *NoConversationError,
// *FewPromptsError of package transcript.
func (p *Project) beforePrompt(ctx context.Context, s *ChosenSession, n int) (*PromptPlace, error) {
	if !transcript.Supported(transcript.Agent(s.Agent)) {
		return nil, &NoConversationError{Reason: "conversations of this agent are not understood"}
	}
	v, err := p.conversationOf(ctx, s.Agent, s.ID, s.Path, nil)
	if err != nil {
		return nil, err
	}
	source, err := v.best()
	if err != nil {
		return nil, noPlace("", err)
	}
	x := source.index
	said, err := x.Prompts(x.Leaf())
	if err != nil {
		return nil, noPlace("", err)
	}
	if n < 1 || n > len(said) {
		return nil, &transcript.FewPromptsError{Asked: n, Have: len(said)}
	}
	found := &PromptPlace{Session: s}
	for _, i := range said[:n] {
		found.Prompts = append(found.Prompts, x.Lines[i].Text)
	}
	if leaf, err := x.PromptBefore(x.Leaf(), n); err != nil {
		found.failed = noPlace("", err)
	} else {
		found.at = &talkPlace{v, source, leaf}
	}
	line := &x.Lines[said[n-1]]
	var same *transcript.Line // the prompt before, where both have one id
	if n < len(said) {
		same = &x.Lines[said[n]]
	}
	found.Checkpoint, found.Exact, err = p.promptCheckpoint(ctx, s.lineage(), line, same)
	return found, err
}

// promptCheckpoint finds the checkpoint that was taken at a prompt, else the
// newest of the lineage before it.
func (p *Project) promptCheckpoint(ctx context.Context, lineage []string, line, before *transcript.Line) (best *Listed, exact bool, err error) {
	byID := line.PromptID != "" && (before == nil || before.PromptID != line.PromptID)
	text := strings.TrimSpace(line.Text)
	far := promptSlack
	err = p.query(ctx, func(db *manifest.DB) error {
		for _, session := range lineage {
			for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
				if err != nil {
					return err
				}
				l := &Listed{Checkpoint: c, N: db.Position(c.Seq)}
				switch {
				case c.Kind == manifest.Prompt && byID && c.PromptID == line.PromptID:
					// A prompt typed into a running turn has its id too: the first is it.
					best, exact, far = l, true, -1
				case c.Kind == manifest.Prompt && far >= 0 && text != "" && strings.TrimSpace(c.Prompt) == text &&
					(line.Time.Sub(c.Time).Abs() < far || exact && samePrompt(c, best.Checkpoint)):
					best, exact, far = l, true, line.Time.Sub(c.Time).Abs()
				case !exact && !line.Time.IsZero() && !c.Time.After(line.Time) && (best == nil || c.Seq > best.Seq):
					best = l
				}
			}
		}
		return nil
	})
	return best, exact, err
}
