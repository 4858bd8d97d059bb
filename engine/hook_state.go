package engine

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hookStateName is the file in which hooks leave what status shows. It can be
// lost at any time.
const hookStateName = "hook-state.json"

type hookState struct {
	Error *HookError    `json:"error,omitempty"` // nil once a hook succeeded again
	Swept time.Time     `json:"swept,omitzero"`  // when retention last looked
	Ended *EndedSession `json:"ended,omitempty"`
	// Endings are when sessions ended, the newest last; of each the last time.
	Endings []EndedSession `json:"endings,omitempty"`
}

// keptEndings is how many endings are known: those of the last hour count.
const keptEndings = 64

// HookError is why the last hook failed.
type HookError struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
}

// EndedSession is the session that ended last in an agent's process: the next
// one that the same process begins came from it.
type EndedSession struct {
	Agent, Session string
	Process        string
	Time           time.Time
}

func readHookState(store string) hookState {
	var s hookState
	data, err := readSmall(filepath.Join(store, hookStateName), 1<<20)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return hookState{}
	}
	return s
}

// updateHookState changes the state; what cannot be written is lost, as it may be.
func (p *Project) updateHookState(change func(*hookState)) {
	if p.readOnly != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if lock, err := lockFile(ctx, filepath.Join(p.place.store, lockName, "hook-state"), "hook-state", true); err == nil {
		defer lock.release()
	}
	s := readHookState(p.place.store)
	change(&s)
	if data, err := json.Marshal(s); err == nil {
		_ = writeCache(filepath.Join(p.place.store, hookStateName), append(data, '\n'), p.owner)
	}
}

// maxReason bounds what is kept of an error, in bytes.
const maxReason = 2000

// NoteHookError keeps the reason of a failure for status. nil says that a hook
// succeeded: what was wrong before is over.
func (p *Project) NoteHookError(err error) {
	if err == nil {
		if readHookState(p.place.store).Error != nil {
			p.updateHookState(func(s *hookState) { s.Error = nil })
		}
		return
	}
	reason := strings.ToValidUTF8(err.Error(), "\ufffd")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	p.updateHookState(func(s *hookState) { s.Error = &HookError{Time: p.env.now().UTC(), Reason: reason} })
}

// NoteEnded remembers a session that ended.
func (p *Project) NoteEnded(e EndedSession) {
	p.updateHookState(func(s *hookState) {
		s.Ended = &e
		s.Endings = append(slices.DeleteFunc(s.Endings, func(o EndedSession) bool { return o.Agent == e.Agent && o.Session == e.Session }), e)
		s.Endings = s.Endings[max(0, len(s.Endings)-keptEndings):]
	})
}

// endings are when sessions ended, as far as it is known.
func (p *Project) endings() []EndedSession { return readHookState(p.place.store).Endings }

// Ended is the session that ended last.
func (p *Project) Ended() EndedSession {
	if e := readHookState(p.place.store).Ended; e != nil {
		return *e
	}
	return EndedSession{}
}

// SweepDue reports whether retention has not looked for a while.
func (p *Project) SweepDue(every time.Duration) bool {
	since := p.env.now().Sub(readHookState(p.place.store).Swept)
	return since < 0 || since >= every || p.forgetting() != nil
}
