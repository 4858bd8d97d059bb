package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// One rewind ui of an account serves all projects: it holds a lock in ~/.rewind as long as it lives, and listens on a
// socket beside it. A later one asks there for an address, opens that, and is done. The socket says nothing of paths:
// a project is named by its store's id, which is looked up in the registry.

// Names below the account's directory.
const (
	lockName   = "ui.lock"
	socketName = "ui.sock"
)

const (
	meetFor  = 3 * time.Second // for one that has the lock to listen, or to be gone
	askFor   = 5 * time.Second // for a question and its answer
	maxUIAsk = 64 << 10        // bytes
)

// joinAsk is what a later rewind ui asks the first. Other versions may add to it.
type joinAsk struct {
	Version  string `json:"version"`
	Store    string `json:"store"`
	ReadOnly bool   `json:"read_only"`
	Port     int    `json:"port"` // 0: any
}

type joinAnswer struct {
	URL   string `json:"url,omitempty"` // with a one-time code
	Port  int    `json:"port"`
	Other string `json:"other,omitempty"` // why there is none
	Again bool   `json:"again,omitempty"` // it is about to end
}

// meeting is the place where the first rewind ui of an account is found.
type meeting struct{ lock, socket string }

// meetingOf is that of an account; nil where there is none that is only this user's: without a home, or in that of
// another user, as with sudo.
func meetingOf(env account.Env) *meeting {
	dir := env.AccountDir()
	if dir == "" {
		return nil
	}
	if _, uid, err := account.Identity(dir); err != nil || uid != os.Geteuid() {
		return nil
	}
	return &meeting{filepath.Join(dir, lockName), filepath.Join(dir, socketName)}
}

// meet takes the first place, or asks the process that has it. If both first and met are nil, this process serves alone, and
// why is the reason if a person wants to know it. Error: only that of ctx.
func (m *meeting) meet(ctx context.Context, ask joinAsk) (first *account.FileLock, met *joinAnswer, why string, err error) {
	for until := time.Now().Add(meetFor); ; {
		first, err := account.LockFile(account.Expired, m.lock, "ui", true)
		if err == nil {
			return first, nil, "", nil
		}
		if busy := (*account.BusyError)(nil); !errors.As(err, &busy) {
			return nil, nil, "", nil // a file system without locks, or a file of another user
		}
		met, err := m.ask(ask)
		switch {
		case err == nil && met.Other != "":
			return nil, nil, met.Other, nil
		case err == nil && !met.Again:
			return nil, met, "", nil
		case time.Now().After(until): // it hangs, or is on another machine that has this home too
			return nil, nil, "", nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, "", ctx.Err()
		}
	}
}

// ask asks the process that listens. It does not use a socket of another user.
func (m *meeting) ask(ask joinAsk) (*joinAnswer, error) {
	info, err := os.Lstat(m.socket)
	if err != nil {
		return nil, err
	}
	if _, uid, err := account.Identity(m.socket); err != nil || info.Mode().Type() != os.ModeSocket || uid != os.Geteuid() {
		return nil, errors.New("that is no socket of this user")
	}
	c, err := net.DialTimeout("unix", m.socket, askFor)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := errors.Join(c.SetDeadline(time.Now().Add(askFor)), json.NewEncoder(c).Encode(ask)); err != nil {
		return nil, err
	}
	met := new(joinAnswer)
	return met, json.NewDecoder(io.LimitReader(c, maxUIAsk)).Decode(met)
}

// listen lets later ones ask; stop takes the socket away. Whoever calls it has the lock, so that what is there is left
// of one that died.
func (m *meeting) listen(answer func(joinAsk) joinAnswer) (stop func(), err error) {
	if info, err := os.Lstat(m.socket); err == nil && info.Mode().Type() != os.ModeSocket {
		return nil, errors.New(m.socket + " is no socket")
	}
	_ = os.Remove(m.socket) // if it cannot be, listening says so
	l, err := net.Listen("unix", m.socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(m.socket, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var ask joinAsk
				if c.SetDeadline(time.Now().Add(askFor)) == nil && json.NewDecoder(io.LimitReader(c, maxUIAsk)).Decode(&ask) == nil {
					_ = json.NewEncoder(c).Encode(answer(ask)) // who asked may be gone
				}
			}()
		}
	}()
	return func() { l.Close() }, nil // which removes it
}
