package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
)

// HookError is why the last hook failed.
type HookError struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
}

// maxReason bounds what is kept of an error, in bytes.
const maxReason = 2000

// hookErrorName is the account's file for the failure of a hook that found no store to note it in.
// It can be lost at any time.
const hookErrorName = "hook-error.json"

func newHookError(env account.Env, err error) *HookError {
	reason := strings.ToValidUTF8(problem.Text(err), "\ufffd")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	return &HookError{Time: env.Time().UTC(), Reason: reason}
}

// NoteHookError keeps the reason of a failure for status. nil says that a hook
// succeeded: what was wrong before is over.
func (p *Project) NoteHookError(err error) {
	if err != nil {
		e := newHookError(p.Env, err)
		p.UpdateHookState(func(s *HookState) { s.Error = e })
		return
	}
	if ReadHookState(p.at.Store).Error != nil {
		p.UpdateHookState(func(s *HookState) { s.Error = nil })
	}
	if home := p.Env.AccountDir(); home != "" {
		_ = os.Remove(filepath.Join(home, hookErrorName)) // mostly it is not there
	}
}

// NoteHookErrorOf is NoteHookError where there is no store, or none that opens: the account keeps
// it. What cannot be written is lost.
func NoteHookErrorOf(env account.Env, err error) {
	if err == nil {
		return
	}
	home, owner, merr := env.MakeAccountDir()
	if merr != nil {
		return
	}
	if data, err := json.Marshal(newHookError(env, err)); err == nil {
		_ = account.WriteCache(filepath.Join(home, hookErrorName), append(data, '\n'), owner)
	}
}

// LastHookError is why the last hook failed, that of p or one that found no store; p may be nil,
// and so may the answer.
func LastHookError(env account.Env, p *Project) *HookError {
	var last *HookError
	if p != nil {
		last = ReadHookState(p.at.Store).Error
	}
	home := env.AccountDir()
	if home == "" {
		return last
	}
	var e HookError
	data, err := vfs.ReadSmall(filepath.Join(home, hookErrorName), 1<<16, vfs.NoFollow)
	if err == nil && json.Unmarshal(data, &e) == nil && (last == nil || e.Time.After(last.Time)) {
		last = &e
	}
	return last
}
