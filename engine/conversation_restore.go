package engine

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeebo/blake3"

	"rewind/engine/transcript"
	"rewind/manifest"
)

// Half says what a restore moves.
type Half uint8

const (
	Both             Half = iota // code and conversation, or the code alone where there is no conversation
	CodeOnly                     // the files
	ConversationOnly             // the conversation
)

// MovedConversation is what became of a conversation.
type MovedConversation struct {
	Agent, Session string // the session to go on with; "" after a fork was removed
	From           string // session that a fork was made of
	File           string // its transcript
	Resume         string // shell command that opens it, "" where there is nothing to open
	Backup         string // plain copy of what the transcript was, "" for none
	InPlace        bool   // the session's own file was rewritten
	Removed        bool   // an undo took a fork away
	Prompts        []string
	Notes          []string // what the person should know
}

// backupName is the directory of the store that holds plain copies.
const backupName = "transcript-backup"

// contentSum names a file's content.
type contentSum struct {
	Size int64  `json:"size"`
	Sum  string `json:"blake3"` // hexadecimal
}

// movedFile is one file of a moved conversation, in an operation's list of paths.
type movedFile struct {
	File   string      `json:"file"`
	Temp   string      `json:"temp,omitempty"`
	Before *contentSum `json:"before,omitempty"` // nil: there was none
	Backup string      `json:"backup,omitempty"` // name below the store: it holds Before
	After  *contentSum `json:"after,omitempty"`  // nil: there is none
}

// movedLine is the line of an operation's list of paths that tells of the
// conversation.
type movedLine struct {
	Action  string      `json:"action"` // "conversation"
	Agent   string      `json:"agent"`
	Session string      `json:"session"`
	From    string      `json:"from,omitempty"`
	Resume  string      `json:"resume,omitempty"`
	InPlace bool        `json:"in_place,omitempty"`
	Files   []movedFile `json:"files"`
}

const movedAction = "conversation"

// talkMove is a conversation on its way: its new files lie beside their places
// until the code is where it should be.
type talkMove struct {
	r      *restoring
	line   movedLine
	staged []*transcript.Staged // by file; nil: the file goes
	done   int                  // files that are in place
	kept   bool                 // the operation is recorded
	answer *MovedConversation
}

// lineOf is the line for the list of paths; empty without a conversation.
func (m *talkMove) lineOf() []byte {
	if m == nil {
		return nil
	}
	b, err := json.Marshal(m.line)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return append(b, '\n')
}

// parseMoved finds the line in a list of paths; nil for none.
func parseMoved(list []byte) (*movedLine, error) {
	for _, raw := range bytes.Split(list, []byte("\n")) {
		if !bytes.Contains(raw, []byte(`"action":"`+movedAction+`"`)) {
			continue
		}
		var l movedLine
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, &DamagedStoreError{What: "an operation's list of paths", Err: err}
		}
		if l.Action != movedAction { // a path that looks like it
			continue
		}
		return &l, nil
	}
	return nil, nil
}

// prepareTalk finds the place in the conversation and prepares its files. It
// touches nothing that is there. Where only the code can move, it says why.
func (r *restoring) prepareTalk() error {
	if r.o.Half == CodeOnly || r.talk != nil {
		return nil
	}
	at, err := r.talkPlace()
	var none *NoConversationError
	if errors.As(err, &none) {
		none.Captured = r.target.Session != "" || r.target.Transcript != nil || r.o.Session != nil || r.before != nil
	}
	if errors.As(err, &none) && r.o.Half == Both {
		r.without = none
		return nil
	}
	if err != nil {
		return err
	}
	if r.o.InPlace {
		err = r.prepareInPlace(at)
	} else {
		err = r.prepareFork(at)
	}
	if errors.As(err, &none) && r.o.Half == Both {
		r.without, r.talk = none, nil
		return nil
	}
	return err
}

// talkPlace is where the conversation is to go.
func (r *restoring) talkPlace() (*talkPlace, error) {
	if before := r.before; before != nil {
		return before.at, before.failed
	}
	if s := r.o.Session; s != nil && (r.target.Transcript == nil || r.target.Session != s.ID) {
		return r.placeAt(r.ctx, &s.SessionInfo, r.target.Time)
	}
	return r.placeOf(r.ctx, r.target)
}

func (r *restoring) prepareFork(at *talkPlace) error {
	x := at.source.index
	m := &talkMove{r: r, answer: &MovedConversation{Agent: string(at.agent), From: at.id, Prompts: at.reverted()}}
	m.line = movedLine{Action: movedAction, Agent: string(at.agent), From: at.id}
	if r.o.DryRun {
		if _, err := x.Cut(at.leaf); err != nil {
			return noPlace(r.targetName(), err)
		}
		r.talk = m
		return nil
	}
	if err := r.makeAgentDir(filepath.Dir(at.file)); err != nil {
		return err
	}
	data, err := at.source.open()
	if err != nil {
		return err
	}
	defer data.Close()
	fork := transcript.Fork{Index: x, Data: data, File: at.file, Leaf: at.leaf, Sidecar: at.sidecar, Now: r.env.now, Owner: r.agentOwner()}
	made, staged, err := fork.Prepare()
	if err != nil {
		return noPlace(r.targetName(), err)
	}
	m.staged = staged
	for _, s := range staged {
		m.line.Files = append(m.line.Files, movedFile{File: s.Name, Temp: s.Temp, After: sumOf(s)})
	}
	m.line.Session, m.line.Resume = made.Session, made.Command()
	m.answer.Session, m.answer.File, m.answer.Resume = made.Session, made.File, m.line.Resume
	r.op.Fork = made.File
	r.talk = m
	return nil
}

// targetName names the checkpoint in errors.
func (r *restoring) targetName() string {
	if r.target.ID == (manifest.CheckpointID{}) {
		return ""
	}
	return r.target.ID.String()
}

// sidecar opens what is held of a file beside the transcript.
func (at *talkPlace) sidecar(suffix string) (io.ReadCloser, error) {
	if at.source.held == nil {
		return nil, fs.ErrNotExist
	}
	name := strings.TrimSuffix(filepath.Base(at.file), ".jsonl") + suffix
	for _, side := range at.source.held.Sides {
		if side.Name != name {
			continue
		}
		held, err := transcript.Open(at.p.conversations(at.ctx), side.Content)
		if err != nil {
			return nil, err
		}
		return held.Reader(), nil
	}
	return nil, fs.ErrNotExist
}

func (r *restoring) prepareInPlace(at *talkPlace) error {
	if name := strings.TrimSuffix(filepath.Base(at.file), ".jsonl"); name != at.id {
		return &RefusedError{What: fmt.Sprintf("%s is not the transcript of session %s", at.file, at.id)}
	}
	m := &talkMove{r: r, answer: &MovedConversation{Agent: string(at.agent), Session: at.id, File: at.file, InPlace: true, Prompts: at.reverted()}}
	x := at.source.index
	m.answer.Resume = transcript.Command(at.agent, x.Dir(at.file), at.id)
	m.line = movedLine{Action: movedAction, Agent: string(at.agent), Session: at.id, Resume: m.answer.Resume, InPlace: true}
	if err := m.refuseRunning(at.id, at.file, x.Dir(at.file)); err != nil {
		return err
	}
	if _, err := x.Cut(at.leaf); err != nil {
		return noPlace(r.targetName(), err)
	}
	r.talk = m
	if r.o.DryRun {
		return nil
	}
	if err := r.makeAgentDir(filepath.Dir(at.file)); err != nil {
		return err
	}
	f := movedFile{File: at.file}
	var err error
	if f.Before, f.Backup, err = r.backUp(at.file); err != nil {
		return err
	}
	data, err := at.source.open()
	if err != nil {
		return err
	}
	defer data.Close()
	s, err := transcript.Stage(at.file, true, r.agentOwner(), func(w io.Writer) error {
		_, err := transcript.Linear(w, x, data, at.leaf)
		return err
	})
	if err != nil {
		return noPlace(r.targetName(), err)
	}
	f.Temp, f.After = s.Temp, sumOf(s)
	m.staged, m.line.Files = []*transcript.Staged{s}, []movedFile{f}
	r.op.TranscriptBackup = f.Backup
	if f.Before == nil {
		r.op.Fork = at.file // it was gone: an undo takes it away again
	}
	m.answer.Backup = r.storeFile(f.Backup)
	return nil
}

// refuseRunning refuses to touch the transcript of a session that an agent
// works on.
func (m *talkMove) refuseRunning(session, file, dir string) error {
	check := transcript.RunningCheck{
		Agent: transcript.Agent(m.line.Agent), Session: session, File: file, Dir: dir,
		Home: m.r.agentHome(), Now: m.r.env.now(), Proc: m.r.o.proc,
	}
	run := check.Run()
	switch {
	case run == nil:
		return nil
	case run.PID != 0 && !m.r.o.Force:
		return &AgentRunningError{Session: session, How: run.How}
	}
	// Without a process to be seen, a fresh file alone proves nothing.
	m.answer.Notes = append(m.answer.Notes, run.How+": if the agent still runs, it goes on with what it remembers")
	return nil
}

// backUp makes a plain copy of a file in the store; nil if the file is not there.
func (r *restoring) backUp(file string) (*contentSum, string, error) {
	src, err := openPlain(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer src.Close()
	dir := filepath.Join(r.place.store, backupName)
	if err := makeDir(dir, r.owner); err != nil {
		return nil, "", err
	}
	base := filepath.Base(file)
	ext := path.Ext(base)
	stamp := r.env.now().UTC().Format("20060102T150405.000000000")
	name := fmt.Sprintf("%s-%s%s", strings.TrimSuffix(base, ext), stamp, ext)
	s, err := transcript.Stage(filepath.Join(dir, name), false, r.owner, func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if err := s.Publish(); err != nil {
		s.Discard()
		return nil, "", err
	}
	return sumOf(s), backupName + "/" + name, nil
}

// storeFile is the path of a name below the store; "" stays.
func (p *Project) storeFile(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.place.store, filepath.FromSlash(name))
}

// TranscriptBackup is the file of the plain copy that an operation made of a
// transcript, "" for none.
func (p *Project) TranscriptBackup(op manifest.Operation) string {
	return p.storeFile(op.TranscriptBackup)
}

// publish puts the files in place. What fails is put back by takeBack.
func (m *talkMove) publish() error {
	if m == nil {
		return nil
	}
	for i, f := range m.line.Files {
		if err := m.r.talkStep("publish"); err != nil {
			return err
		}
		now, err := sumFile(f.File)
		if err != nil {
			return err
		}
		if !sameSum(now, f.Before) {
			return &RefusedError{What: "the transcript " + f.File + " changed a moment ago: the agent is running"}
		}
		m.done = i + 1
		if m.staged[i] != nil {
			err = m.staged[i].Publish()
		} else {
			err = os.Remove(f.File)
		}
		if err != nil {
			return err
		}
	}
	return m.r.talkStep("published")
}

// takeBack undoes publish.
func (m *talkMove) takeBack() error {
	if m == nil {
		return nil
	}
	return m.r.putBackTalk(m.line.Files[:m.done])
}

// close removes what is left of a move that did not happen.
func (m *talkMove) close() {
	if m == nil || m.kept {
		return
	}
	for i, s := range m.staged {
		if s != nil && i >= m.done {
			s.Discard()
		}
		// A backup of what was not touched after all is of no use to anybody.
		if f := m.line.Files[i]; f.Backup != "" && m.done == 0 {
			os.Remove(m.r.storeFile(f.Backup))
		}
	}
}

// putBackTalk brings files from after to before an operation that failed or
// crashed. What holds neither is left alone: somebody wrote to it.
func (r *restoring) putBackTalk(files []movedFile) error {
	var errs []error
	for _, f := range files {
		if f.Temp != "" {
			os.Remove(f.Temp) // ours, if it is there
		}
		now, err := sumFile(f.File)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if sameSum(now, f.Before) || !sameSum(now, f.After) {
			continue
		}
		if f.Before == nil {
			err = os.Remove(f.File)
		} else {
			var s *transcript.Staged
			if s, err = r.stageBackup(f.File, f.Backup, f.Before); err == nil {
				err = s.Publish()
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// stageBackup prepares a file from its plain copy, which must hold what it held.
func (r *restoring) stageBackup(file, backup string, want *contentSum) (*transcript.Staged, error) {
	src, err := openPlain(r.storeFile(backup))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if err := r.makeAgentDir(filepath.Dir(file)); err != nil {
		return nil, err
	}
	s, err := transcript.Stage(file, true, r.agentOwner(), func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !sameSum(sumOf(s), want) {
		s.Discard()
		return nil, &DamagedStoreError{What: "the transcript backup " + backup, Err: errors.New("it holds something else than was copied")}
	}
	return s, nil
}

// prepareTalkBack prepares to take back what an operation did to a conversation.
// A fork that somebody wrote to stays; a file rewritten in place that changed
// since is refused without force, and copied first with it.
func (r *restoring) prepareTalkBack(op manifest.Operation) error {
	if op.Fork == "" && op.TranscriptBackup == "" {
		return nil
	}
	list, err := r.readObject(op.Paths)
	if err != nil {
		return err
	}
	line, err := parseMoved(list)
	if err != nil || line == nil || len(line.Files) == 0 {
		return err
	}
	m := &talkMove{r: r, answer: &MovedConversation{Agent: line.Agent, InPlace: line.InPlace}}
	m.line = movedLine{Action: movedAction, Agent: line.Agent, Session: line.Session, From: line.From, Resume: line.Resume, InPlace: line.InPlace}
	r.talk = m
	main := line.Files[len(line.Files)-1]
	m.answer.File = main.File
	appears := main.Before != nil // the session is there again
	if appears {
		m.answer.Session, m.answer.From, m.answer.Resume = line.Session, line.From, line.Resume
	}
	now, err := sumFile(main.File)
	if err != nil {
		return err
	}
	switch {
	case sameSum(now, main.Before) && !sameSum(now, main.After):
		r.talk = nil // it is there already
		return nil
	case !sameSum(now, main.After) && !line.InPlace:
		m.answer.Session, m.answer.Resume = line.Session, line.Resume
		m.answer.Notes = append(m.answer.Notes, "the forked session "+line.Session+" was used since: it stays")
		m.line.Files = nil
		return nil
	case !sameSum(now, main.After) && !r.o.Force:
		return &RefusedError{What: "the conversation has gone on since that restore", Paths: []string{main.File}, Forcible: true}
	}
	if main.After != nil {
		err := m.refuseRunning(line.Session, main.File, "")
		var running *AgentRunningError
		if errors.As(err, &running) && !line.InPlace {
			m.answer.Session, m.answer.Resume = line.Session, line.Resume
			m.answer.Notes = append(m.answer.Notes, "the forked session "+line.Session+" is open: it stays")
			m.line.Files = nil
			return nil
		}
		if err != nil {
			return err
		}
	}
	m.answer.Removed = !appears
	for _, f := range line.Files {
		now, err := sumFile(f.File)
		if err != nil {
			return err
		}
		if sameSum(now, f.Before) {
			continue
		}
		back := movedFile{File: f.File, After: f.Before}
		var s *transcript.Staged
		if !r.o.DryRun {
			if back.Before, back.Backup, err = r.backUp(f.File); err != nil {
				return err
			}
			if f.Before != nil {
				if s, err = r.stageBackup(f.File, f.Backup, f.Before); err != nil {
					return err
				}
				back.Temp = s.Temp
			}
		}
		m.line.Files, m.staged = append(m.line.Files, back), append(m.staged, s)
		r.op.TranscriptBackup = back.Backup
	}
	if !line.InPlace {
		r.op.Fork = main.File
	}
	m.answer.Backup = r.storeFile(r.op.TranscriptBackup)
	return nil
}

// settleTalk takes back what a crashed restore did to a conversation, if its
// operation was never recorded.
func (r *restoring) settleTalk(op *manifest.Operation, recorded bool) error {
	if recorded || op.Fork == "" && op.TranscriptBackup == "" {
		return nil
	}
	list, err := r.readObject(op.Paths)
	if err != nil {
		return err
	}
	line, err := parseMoved(list)
	if err != nil || line == nil {
		return err
	}
	op.Fork, op.TranscriptBackup = "", ""
	return r.putBackTalk(line.Files)
}

// moveTalkOnly is a restore in which no file differs, or none is to.
func (r *restoring) moveTalkOnly(done *Restored) (*Restored, error) {
	r.op.Time = r.env.now().UTC()
	var err error
	if r.op.Paths, err = r.stage.put(r.talk.lineOf()); err != nil {
		return nil, err
	}
	if err := r.commitTalk(); err != nil {
		return nil, err
	}
	r.stage = nil
	done.Operation = r.op.Seq
	return done, nil
}

// commitTalk puts the conversation in place and records the operation, or does neither.
func (r *restoring) commitTalk() error {
	err := r.talk.publish()
	if err == nil {
		err = r.commitOperation(&r.op)
	}
	if err != nil {
		if berr := r.talk.takeBack(); berr != nil {
			return fmt.Errorf("%w; the conversation could not be put back: %w", err, berr)
		}
		return err
	}
	if r.talk != nil {
		r.talk.kept = true
	}
	return nil
}

// talkStep is where tests make a step of the conversation's way fail.
func (r *restoring) talkStep(step string) error {
	if r.o.talkHook == nil {
		return nil
	}
	return r.o.talkHook(step)
}

// agentOwner gives a file in the agent's directory to whom the home belongs.
func (r *restoring) agentOwner() func(string) error { return ownerOf(r.env.Home) }

// makeAgentDir makes an agent's directory again, which goes with the last
// transcript in it.
func (r *restoring) makeAgentDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.makeAgentDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return makeDir(dir, r.agentOwner())
}

func sumOf(s *transcript.Staged) *contentSum {
	return &contentSum{Size: s.Size, Sum: hex.EncodeToString(s.Sum[:])}
}

func sameSum(a, b *contentSum) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sumFile names the content of a file; nil if there is none.
func sumFile(file string) (*contentSum, error) {
	f, err := openPlain(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := blake3.New()
	n, err := io.Copy(hash, f)
	if err != nil {
		return nil, err
	}
	return &contentSum{Size: n, Sum: hex.EncodeToString(hash.Sum(nil))}, nil
}

// openPlain opens a regular file; anything else could block.
func openPlain(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: file, Err: errors.New("not a regular file")}
	}
	return f, nil
}
