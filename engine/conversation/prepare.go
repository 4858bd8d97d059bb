package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Half says what a restore moves.
type Half uint8

const (
	Both             Half = iota // code and conversation, or the code alone where there is no conversation
	CodeOnly                     // the files
	ConversationOnly             // the conversation
)

// Moved is what became of a conversation.
type Moved struct {
	Agent, Session string // the session to continue; "" after a fork was removed
	From           string // session that a fork was made of
	File           string // its transcript
	Resume         string // shell command that opens it, "" where there is nothing to open
	Again          string // command that writes its transcript anew, which is gone; Resume has it; else ""
	Backup         string // plain copy of what the transcript was, "" for none
	InPlace        bool   // the session's own file was rewritten
	There          bool   // with InPlace: it held what it was to hold: nothing was written
	Removed        bool   // an undo took a fork away, or with InPlace the session's own file, which had been gone
	Prompts        []string
	Until          time.Time // of the newest message that it holds; zero where an operation is taken back
	Notes          []string  // what the person should know
}

// BackupName is the directory of the store that holds plain copies.
const BackupName = "transcript-backup"

// Move is a conversation on its way: its new files lie beside their places
// until the code is where it should be.
type Move struct {
	r      *mover
	line   project.MovedLine
	staged []*transcript.Staged // by file; nil: the file goes
	copied *transcript.Staged   // a transcript that clients of a project's new path look for; nil for none
	done   int                  // files that are in place
	kept   bool                 // the operation is recorded
	answer *Moved
}

// Answer is what becomes of the conversation; nil without a move.
func (m *Move) Answer() *Moved {
	if m == nil {
		return nil
	}
	return m.answer
}

// Line is the line for the operation's list of paths; empty without a move, or where the conversation is there already.
func (m *Move) Line() []byte {
	if m == nil || m.line.Action == "" {
		return nil
	}
	b, err := json.Marshal(m.line)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return append(b, '\n')
}

// MoveOptions say what a restore wants of a conversation.
type MoveOptions struct {
	Target  manifest.Checkpoint
	Before  *PromptPlace    // nil: to the end of Target
	Session *session.Chosen // whose conversation, where Target holds none of it; nil: Target's
	InPlace bool            // rewrite the session's own transcript, after a copy, instead of forking it
	DryRun  bool
	Force   bool
	Shorter bool // no move where the conversation has the same messages now
	// Op is the operation that the move is part of: forks and backups are recorded in it.
	Op *manifest.Operation
}

// mover prepares moves for one restore.
type mover struct {
	*project.Project
	ctx context.Context
	MoveOptions
	then map[string]project.MovedFile // files that newer operations, which are taken back first, leave in another state
}

// PrepareMove finds the place in the conversation and prepares its files: a fork, or the
// session's own transcript. It touches nothing that is there. The caller holds the users lock, and closes the
// move. Errors: *NoConversationError, *AgentRunningError, *RefusedError.
func PrepareMove(ctx context.Context, p *project.Project, o MoveOptions) (*Move, error) {
	r := &mover{Project: p, ctx: ctx, MoveOptions: o}
	at, err := r.cutPoint()
	var none *NoConversationError
	if errors.As(err, &none) {
		none.Captured = r.understood()
	}
	if err != nil {
		return nil, err
	}
	if o.Shorter && at.isNow() {
		return nil, nil
	}
	if o.InPlace {
		return r.prepareInPlace(at)
	}
	return r.prepareFork(at)
}

// understood reports whether the move is about a session of an agent whose conversations can be captured.
func (r *mover) understood() bool {
	agent := r.Target.Agent
	switch {
	case r.Before != nil:
		agent = r.Before.Session.Agent
	case r.Session != nil:
		agent = r.Session.Agent
	case r.Target.Transcript != nil:
		agent = r.Target.Transcript.Agent
	case r.Target.Session == "":
		return false
	}
	return transcript.Supported(transcript.Agent(agent))
}

// cutPoint is where the conversation is to go.
func (r *mover) cutPoint() (*cutPoint, error) {
	if before := r.Before; before != nil {
		return before.at, before.failed
	}
	if s := r.Session; s != nil && (r.Target.Transcript == nil || r.Target.Session != s.ID) {
		return placeAt(r.ctx, r.Project, &s.Info, r.Target.Time)
	}
	return placeOf(r.ctx, r.Project, r.Target)
}

func (r *mover) prepareFork(at *cutPoint) (*Move, error) {
	m := &Move{r: r, answer: &Moved{Agent: string(at.agent), From: at.id, Prompts: r.asked(at.undone()), Until: r.until(at)}}
	if r.Before != nil {
		m.answer.From, m.answer.Prompts = r.Before.Session.ID, r.Before.Prompts
	}
	m.line = project.MovedLine{Action: project.MovedAction, Agent: string(at.agent), From: m.answer.From}
	title := r.forkTitle(at)
	at, err := at.whole()
	if err != nil {
		return nil, err
	}
	x := at.source.index
	if part := x.Base.Part; part != "" && transcript.PartFile(at.agent, session.AgentHome(r.Project), part) == "" {
		m.answer.Notes = append(m.answer.Notes, "the transcript "+part+", which this conversation continues, is gone: the agent may not open the fork")
	}
	if r.DryRun {
		if _, err := x.Cut(at.leaf); err != nil {
			return nil, noPlace(r.targetName(), err)
		}
		return m, nil
	}
	dir, moved := workingDir(r.Project, x.Dir(at.file))
	fork := transcript.Fork{
		Index: x, File: at.file, Leaf: at.leaf, Title: title, Dir: dir,
		Sidecar: at.sidecar, Now: r.Env.Time, Owner: r.agentOwner(),
	}
	if moved {
		fork.Folder = transcript.FolderFor(at.agent, at.file, x.Dir(at.file), dir)
	}
	beside := cmp.Or(fork.Folder, filepath.Dir(at.file))
	for _, folder := range []string{filepath.Dir(at.file), beside, filepath.Dir(transcript.NewFile(at.agent, beside, at.id, r.Env.Time()))} {
		if err := r.makeAgentDir(folder); err != nil {
			return nil, err
		}
	}
	data, err := at.source.open()
	if err != nil {
		return nil, err
	}
	defer data.Close()
	fork.Data = data
	made, staged, err := fork.Prepare()
	if err != nil {
		return nil, noPlace(r.targetName(), err)
	}
	sides, err := r.stageSides(at, func(name string) bool { return path.Base(path.Dir(name)) == transcript.ToolResults })
	if err != nil {
		discardAll(staged)
		return nil, err
	}
	m.staged = append(sides, staged...)
	for _, s := range m.staged {
		m.line.Files = append(m.line.Files, project.MovedFile{File: s.Name, Temp: s.Temp, After: sumOf(s)})
	}
	m.line.Session, m.line.Resume = made.Session, made.Command()
	m.line.Origin = transcript.Command(at.agent, dir, m.answer.From)
	m.answer.Session, m.answer.File, m.answer.Resume = made.Session, made.File, m.line.Resume
	r.Op.Fork = made.File
	return m, nil
}

// forkTitle names a fork by the prompt before which it ends, else by the one in
// whose turn it ends.
func (r *mover) forkTitle(at *cutPoint) string {
	x := at.source.index
	if b := r.Before; b != nil && len(b.Prompts) > 0 {
		return before(b.Prompts[len(b.Prompts)-1])
	}
	if gone := at.reverted(); len(gone) > 0 {
		return before(gone[len(gone)-1])
	}
	if r.Target.Kind == manifest.Prompt {
		return before(r.Target.Prompt)
	}
	if prompts, err := x.Prompts(at.leaf); err == nil && len(prompts) > 0 {
		return x.Lines[prompts[0]].Label()
	}
	return ""
}

// before names what ends in front of a prompt.
func before(prompt string) string {
	if label := transcript.Label(prompt); label != "" {
		return "before " + label
	}
	return ""
}

// workingDir is where a session is to be opened that worked in dir: there, or in
// the project's root where that has moved since.
func workingDir(p *project.Project, dir string) (now string, moved bool) {
	if dir == "" {
		return "", false
	}
	if in, err := os.Stat(dir); err == nil {
		if root, err := os.Stat(p.Root()); err == nil && os.SameFile(in, root) {
			return dir, false
		}
	}
	real := dir
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		real = r
	}
	if (transcript.Session{Dir: real}).In(p.Root()) {
		return dir, false
	}
	return p.Root(), true
}

// targetName names the checkpoint in errors.
func (r *mover) targetName() string {
	if r.Target.ID == (manifest.CheckpointID{}) {
		return ""
	}
	return r.Target.ID.String()
}

// sidecar opens what is held of a file beside the transcript.
func (at *cutPoint) sidecar(suffix string) (io.ReadCloser, error) {
	if at.source.held == nil {
		return nil, fs.ErrNotExist
	}
	name := strings.TrimSuffix(filepath.Base(at.file), ".jsonl") + suffix
	for _, side := range at.source.held.Sides {
		if side.Name != name {
			continue
		}
		held, err := transcript.Open(storeOf(at.ctx, at.p), side.Content)
		if err != nil {
			return nil, err
		}
		return held.Reader(), nil
	}
	return nil, fs.ErrNotExist
}

// refuseRunning refuses to touch the transcript of a session that an agent
// works on.
func (m *Move) refuseRunning(id, file, dir string) error {
	ours, err := m.r.ours(file)
	if err != nil {
		return err
	}
	check := transcript.RunningCheck{
		Agent: transcript.Agent(m.line.Agent), Session: id, File: file, Dir: dir,
		Home: session.AgentHome(m.r.Project), Now: m.r.Env.Time(), Ours: ours,
	}
	run := check.Run()
	switch {
	case run == nil:
		return nil
	case run.PID != 0 && !m.r.Force:
		return &AgentRunningError{Session: id, How: run.How}
	}
	// Without a process to be seen, a fresh file alone proves nothing.
	m.answer.Notes = append(m.answer.Notes, run.How+": if the agent is still running, it continues with what it has in memory")
	return nil
}

// ours reports whether a transcript is as an operation of the last minute wrote it.
func (r *mover) ours(file string) (bool, error) {
	var wrote []manifest.Operation
	err := r.Query(r.ctx, func(db *manifest.DB) error {
		for op, err := range db.Operations() {
			if err != nil || op.Time.Before(r.Env.Time().Add(-time.Minute)) {
				return err
			}
			wrote = append(wrote, op)
		}
		return nil
	})
	if err != nil || len(wrote) == 0 {
		return false, err
	}
	now, err := SumFile(file)
	if err != nil {
		return false, err
	}
	for _, op := range wrote {
		line, err := r.Moved(op)
		if err != nil || line == nil {
			continue // it may have been removed
		}
		for _, f := range line.Files {
			if f.File == file && sameSum(f.After, now) {
				return true, nil
			}
		}
	}
	return false, nil
}
