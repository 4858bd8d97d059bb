package account

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// SessionState is what rewind remembers of one agent's session between two
// hooks, in ~/.rewind/sessions/. All of it can be lost at any time.
type SessionState struct {
	Dir        string    `json:"dir,omitempty"`        // where the session's project is looked for: the first hook of a client's process decides
	Exact      bool      `json:"exact,omitempty"`      // Dir is the root itself
	Named      string    `json:"named,omitempty"`      // the directory that the client names as its own; it stays where the project is moved
	Worktree   string    `json:"worktree,omitempty"`   // the directory, not of Dir's project, that its newest hook was captured in; Registered is about that
	Registered string    `json:"registered,omitempty"` // transcript that the log has a session record for
	Store      string    `json:"store,omitempty"`      // id of the session's project, once its log knows the session; not of a worktree
	Last       time.Time `json:"last,omitzero"`        // newest checkpoint
	Prompt     string    `json:"prompt,omitempty"`     // key of the newest prompt that has its checkpoint
	PromptID   string    `json:"prompt_id,omitempty"`  // the agent's id of it
	Prompted   time.Time `json:"prompted,omitzero"`    // when that was
	Stopped    time.Time `json:"stopped,omitzero"`     // when the newest turn ended
	Ended      bool      `json:"ended,omitempty"`      // what is asked next may be anywhere
	Tools      []string  `json:"tools,omitempty"`      // ids of the newest tool calls that have theirs
	Told       []string  `json:"told,omitempty"`       // messages that the person has had

	Held *HeldConversation `json:"held,omitempty"`

	// Outside is what status says of a session that works outside its project; nil where it does not.
	Outside *OutsideWork `json:"outside,omitempty"`
}

// OutsideWork is where a session worked outside its project: nothing of that is in its checkpoints.
type OutsideWork struct {
	Agent   string               `json:"agent"`
	Session string               `json:"session"`
	Root    string               `json:"root"` // of its project, "" for none
	Dirs    map[string]time.Time `json:"dirs"` // when the session was seen there
}

// maxSessionFile bounds a state file; real ones have a kilobyte.
const maxSessionFile = 1 << 20

// SessionFile is the state file of a session, "" where none can be kept.
func SessionFile(env Env, agent, session string) string {
	account := env.AccountDir()
	if account == "" || session == "" {
		return ""
	}
	key := oid.Sum([]byte(agent + "\x00" + session))
	return filepath.Join(account, "sessions", hex.EncodeToString(key[:16])+".json")
}

// handledExt is the extension of HandledFile.
const handledExt = ".events"

// HandledFile says which events of a session were handled last, and is locked while one is; "" where none can be kept.
func HandledFile(env Env, agent, session string) string {
	return besideSession(env, agent, session, handledExt)
}

// NoticeExt is the extension of the files beside the states of sessions that hold what an agent is
// still to be told: see package notice.
const NoticeExt = ".notices"

// NoticeFile holds what is still to be told to the agent of a session, "" where nothing can be kept.
func NoticeFile(env Env, agent, session string) string {
	return besideSession(env, agent, session, NoticeExt)
}

func besideSession(env Env, agent, session, ext string) string {
	file, ok := strings.CutSuffix(SessionFile(env, agent, session), ".json")
	if !ok {
		return ""
	}
	return file + ext
}

// LoadSession reads a session's state; what is missing or damaged is empty.
func LoadSession(env Env, agent, session string) SessionState {
	file := SessionFile(env, agent, session)
	if file == "" {
		return SessionState{}
	}
	return ReadSession(file)
}

// ReadSession reads one state file; what is missing or damaged is empty.
func ReadSession(file string) (s SessionState) {
	data, err := vfs.ReadSmall(file, maxSessionFile, vfs.NoFollow)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return SessionState{}
	}
	return s
}

// Sessions reads the states of all sessions of the account.
func Sessions(env Env) []SessionState {
	files, _ := filepath.Glob(filepath.Join(env.AccountDir(), "sessions", "*.json"))
	out := make([]SessionState, 0, len(files))
	for _, file := range files {
		out = append(out, ReadSession(file))
	}
	return out
}

// UpdateSession changes a session's state. Hooks of one session run in parallel:
// they take turns, but none waits long for what can be lost.
func UpdateSession(ctx context.Context, env Env, agent, session string, change func(*SessionState)) error {
	file := SessionFile(env, agent, session)
	if file == "" {
		return nil
	}
	return updateSession(ctx, env, file, change)
}

// ForgetHeld takes what the sessions' states have of conversations that a store holds out of them: the next capture finds it in the log.
func ForgetHeld(ctx context.Context, env Env, store string) error {
	if env.AccountDir() == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(env.AccountDir(), "sessions", "*.json"))
	for _, file := range files {
		if s := ReadSession(file); s.Held != nil && s.Held.Store == store {
			err = errors.Join(err, updateSession(ctx, env, file, func(s *SessionState) {
				if s.Held != nil && s.Held.Store == store {
					s.Held = nil
				}
			}))
		}
	}
	return err
}

func updateSession(ctx context.Context, env Env, file string, change func(*SessionState)) error {
	_, owner, err := env.MakeAccountDir()
	if err == nil {
		err = MakeDir(filepath.Dir(file), owner)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if lock, err := LockFile(ctx, filepath.Join(filepath.Dir(file), "lock"), "sessions", true); err == nil {
		defer lock.Release()
	}
	s := ReadSession(file)
	change(&s)
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return WriteCache(file, append(data, '\n'), owner)
}

// ForgetSessions removes the states of sessions that were quiet for long, and what their agents were to be told.
func ForgetSessions(env Env, quiet time.Duration) error {
	dir := filepath.Join(env.AccountDir(), "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || env.Time().Sub(info.ModTime()) < quiet || !slices.Contains([]string{".json", NoticeExt, handledExt}, filepath.Ext(e.Name())) {
			continue
		}
		if err := RemoveIfThere(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// HeldConversation is what the store holds of a session's conversation: where
// the next capture goes on. It can be lost: the log's newest record of the
// session says the same.
type HeldConversation struct {
	Store      string `json:"store"`      // id of the store
	Generation uint64 `json:"generation"` // of the store when it was noted
	Content    oid.ID `json:"content"`
	Seen       int64  `json:"seen,omitempty"` // bytes of the transcript whose prompts are known
	Leaf       string `json:"leaf,omitempty"`
	PromptID   string `json:"prompt_id,omitempty"` // of the newest prompt in it
	Prompt     string `json:"prompt,omitempty"`    // its text, at most maxHeldPrompt bytes
	Untold     bool   `json:"untold,omitempty"`    // no hook reported it, of an agent that gives prompts no ids
}
