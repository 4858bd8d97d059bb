package project

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// HookStateName is the file in which hooks leave what status shows. It can be
// lost at any time.
const HookStateName = "hook-state.json"

// HookState is its content.
type HookState struct {
	Error *HookError    `json:"error,omitempty"` // nil once a hook succeeded again
	Swept time.Time     `json:"swept,omitzero"`  // when retention last looked
	Ended *EndedSession `json:"ended,omitempty"`
	// Endings are when sessions ended, the newest last; of each the last time.
	Endings []EndedSession `json:"endings,omitempty"`
	// Openings are when sessions were opened, the newest last; of each the last time.
	Openings []OpenedSession `json:"openings,omitempty"`
	// Processes are the agents' processes that sessions run in, the newest last.
	Processes []SessionProcess `json:"processes,omitempty"`
}

// keptEndings is how many endings and openings are known: those of the last hour
// count.
const keptEndings = 64

// EndedSession is the session that ended last in an agent's process: the next
// one that the same process begins came from it.
type EndedSession struct {
	Agent, Session string
	Process        string
	Time           time.Time
}

// ReadHookState reads that of a store; what is missing or damaged is empty.
func ReadHookState(store string) HookState {
	var s HookState
	data, err := vfs.ReadSmall(filepath.Join(store, HookStateName), 1<<20, vfs.NoFollow)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return HookState{}
	}
	return s
}

// UpdateHookState changes the state; what cannot be written is lost, as it may be.
func (p *Project) UpdateHookState(change func(*HookState)) {
	if p.ReadOnly != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if lock, err := account.LockFile(ctx, filepath.Join(p.at.Store, account.LockName, "hook-state"), "hook-state", true); err == nil {
		defer lock.Release()
	}
	s := ReadHookState(p.at.Store)
	change(&s)
	if data, err := json.Marshal(s); err == nil {
		_ = account.WriteCache(filepath.Join(p.at.Store, HookStateName), append(data, '\n'), p.Owner)
	}
}

// NoteEnded remembers a session that ended.
func (p *Project) NoteEnded(e EndedSession) {
	p.UpdateHookState(func(s *HookState) {
		s.Ended = &e
		s.Endings = append(slices.DeleteFunc(s.Endings, func(o EndedSession) bool { return o.Agent == e.Agent && o.Session == e.Session }), e)
		s.Endings = s.Endings[max(0, len(s.Endings)-keptEndings):]
	})
}

// Endings are the known ends of sessions.
func (p *Project) Endings() []EndedSession { return ReadHookState(p.at.Store).Endings }

// OpenedSession is a session that a client began or opened again. The log has a
// session once, and no checkpoint of an opening at which nothing has changed.
type OpenedSession struct {
	Agent, Session string
	Time           time.Time
}

// NoteOpened remembers a session that was opened.
func (p *Project) NoteOpened(o OpenedSession) {
	p.UpdateHookState(func(s *HookState) {
		s.Openings = append(slices.DeleteFunc(s.Openings, func(x OpenedSession) bool { return x.Agent == o.Agent && x.Session == o.Session }), o)
		s.Openings = s.Openings[max(0, len(s.Openings)-keptEndings):]
	})
}

// SessionProcess is the agent's process that a session runs in: what runs below it belongs there.
type SessionProcess struct {
	Agent, Session string
	Process        string // as transcript.AgentAbove names it
}

// NoteProcess remembers a session's process.
func (p *Project) NoteProcess(s SessionProcess) {
	p.UpdateHookState(func(state *HookState) {
		state.Processes = append(slices.DeleteFunc(state.Processes, func(o SessionProcess) bool { return o.Agent == s.Agent && o.Session == s.Session }), s)
		state.Processes = state.Processes[max(0, len(state.Processes)-keptEndings):]
	})
}

// Processes are the sessions' processes, the newest last.
func (p *Project) Processes() []SessionProcess { return ReadHookState(p.StoreDir()).Processes }

// Openings are the known times at which sessions were opened.
func (p *Project) Openings() []OpenedSession { return ReadHookState(p.at.Store).Openings }

// Ended is the session that ended last.
func (p *Project) Ended() EndedSession {
	if e := ReadHookState(p.at.Store).Ended; e != nil {
		return *e
	}
	return EndedSession{}
}
