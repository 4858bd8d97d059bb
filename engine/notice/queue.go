package notice

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// activeTime is how long ago a session's newest checkpoint is at most where the session is told.
	activeTime = time.Hour
	// maxSessions is how many sessions are told of one operation at most, the newest.
	maxSessions = 64
	// maxLooked is how many checkpoints are looked at to find them.
	maxLooked = 5000
	// maxQueueFile bounds a queue's file; real ones have a few kilobytes.
	maxQueueFile = 1 << 20
	// takeWait is how long a hook waits for others that are at the queues, queueWait a command.
	takeWait  = 500 * time.Millisecond
	queueWait = 2 * time.Second
)

// Session names a session of an agent.
type Session struct {
	Agent string `json:"agent"`
	ID    string `json:"session_id"`
}

// Options of one Queue.
type Options struct {
	// TakesBack are the operations that this one takes back. If the notices of all of them still wait for a session, it counts
	// as not told: what it believes is true again.
	TakesBack []uint64
	// Move is what the operation did to a conversation; nil for nothing.
	Move *Move
}

// queued is one line of a queue's file.
type queued struct {
	Store string    `json:"store"`           // id of the store: a session can work in several
	Void  uint64    `json:"void,omitempty"`  // the operation that put it out of date; 0: none did
	Given time.Time `json:"given,omitzero"`  // when the session got it; zero: it waits
	Again uint64    `json:"again,omitempty"` // the operation that took the prompt out of the conversation with which it was given, so that it waits again; 0: none did
	Undid []uint64  `json:"undid,omitempty"` // the operations that this one takes back
	Notice
}

// waits reports whether the session has yet to get it.
func (q *queued) waits() bool { return q.Void == 0 && (q.Given.IsZero() || q.Again != 0) }

// Queue leaves a notice of an operation for the agents of all sessions that were active in the last hour in
// the project, and for n.Session. It gives the sessions that will get it, the newest first. Nothing is queued
// if nothing was changed, or the setting notice is off. The operation has been recorded: an error
// here is for information, and takes nothing back. Queue can be called from any process.
func Queue(ctx context.Context, p *project.Project, n Notice, o Options) ([]Session, error) {
	store := p.ID.String()
	if o.Move != nil {
		o.Move.By = n.Operation
		if err := o.Move.follow(ctx, p); err != nil {
			return nil, err
		}
	}
	sessions, err := Sessions(ctx, p, n) // none, and what is queued is dropped all the same
	if err != nil || len(sessions)+len(o.TakesBack) == 0 {
		return nil, err
	}
	var told []Session
	files := map[string]bool{}
	add := queued{Store: store, Undid: o.TakesBack, Notice: n.cut()}
	for _, s := range sessions {
		file := account.NoticeFile(p.Env, s.Agent, s.ID)
		if file == "" || files[file] {
			continue
		}
		files[file] = true
		is := false
		err := update(ctx, p.Env, file, queueWait, func(all []queued) []queued {
			waited := takenBack(all, store, o.TakesBack)
			is = len(o.TakesBack) == 0 || waited < len(o.TakesBack)
			return append(all, add)
		})
		if err != nil {
			return told, err
		}
		if is {
			told = append(told, s)
		}
	}
	if len(o.TakesBack) == 0 {
		return told, nil
	}
	return told, eachQueue(ctx, p.Env, func(file string, all []queued) []queued {
		if files[file] {
			return all
		}
		if takenBack(all, store, o.TakesBack) > 0 {
			return append(all, add)
		}
		return slices.DeleteFunc(all, func(q queued) bool { return q.Store == store && slices.Contains(o.TakesBack, q.Operation) })
	})
}

// takenBack counts what waits of a store's operations. Notices that they had made obsolete wait again, and those that they had
// taken out of a conversation are in it again.
func takenBack(all []queued, store string, operations []uint64) (waited int) {
	for i := range all {
		q := &all[i]
		if q.Store != store {
			continue
		}
		if slices.Contains(operations, q.Void) {
			q.Void = 0
		}
		if slices.Contains(operations, q.Operation) && (q.Given.IsZero() || q.Again != 0) {
			waited++
		} else if slices.Contains(operations, q.Again) {
			q.Again = 0
		}
	}
	return waited
}

// Sessions lists those that a notice is for, the newest first: none where nothing was changed, or the
// setting is off.
func Sessions(ctx context.Context, p *project.Project, n Notice) (out []Session, err error) {
	if n.empty() || !p.Settings().Notice {
		return nil, nil
	}
	since := p.Env.Time().Add(-activeTime)
	add := func(s Session) {
		if s.ID != "" && len(out) < maxSessions && !slices.Contains(out, s) && !slices.Contains(n.Moved, s.ID) {
			out = append(out, s)
		}
	}
	if n.Agent != "" {
		add(Session{n.Agent, n.Session})
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Limit: maxLooked}) {
			if err != nil {
				return err
			}
			if c.Time.After(since) {
				add(Session{c.Agent, c.Session})
			} else if c.Time.Before(since.Add(-activeTime)) { // of a clock that was set back a little, what is behind counts
				break
			}
		}
		return nil
	})
	return out, err
}

// Waiting reports whether something is queued for a session, of any project: the usual answer, no, takes one call.
func Waiting(env account.Env, agent, session string) bool {
	file := account.NoticeFile(env, agent, session)
	if file == "" {
		return false
	}
	all, err := read(file)
	return err != nil || slices.ContainsFunc(all, func(q queued) bool { return q.waits() })
}

// Take gives what is queued for a session in this project as one text, "" for nothing, and notes that it
// was given before it returns: no other caller gets it, also after a crash. If that cannot be noted, it
// is not given. With the setting notice off it is dropped.
func Take(ctx context.Context, p *project.Project, agent, session string) (string, error) {
	file := account.NoticeFile(p.Env, agent, session)
	if file == "" {
		return "", nil
	}
	store, off := p.ID.String(), !p.Settings().Notice
	var mine []queued
	err := update(ctx, p.Env, file, takeWait, func(all []queued) (left []queued) {
		mine = nil
		for _, q := range all {
			switch {
			case q.Store != store || !q.waits() && q.Void == 0:
			case q.Void != 0 || off:
				continue
			default:
				mine = append(mine, q)
				q.Given, q.Again = p.Env.Time().UTC(), 0
			}
			left = append(left, q)
		}
		return left
	})
	if err != nil {
		return "", err
	}
	return Text(net(ctx, p, session, mine), session), nil
}

// Forget takes the paths that match out of what is queued of a project, and all prompts: a text that was cut
// may be part of what is forgotten. A notice that lost something says less than before. match gets the
// notice's operation, too; since is the first operation whose notice stays unchanged, 0 for none.
func Forget(ctx context.Context, p *project.Project, since uint64, match func(operation uint64, path string) bool) error {
	store := p.ID.String()
	return eachQueue(ctx, p.Env, func(_ string, all []queued) []queued {
		for i := range all {
			if n := &all[i]; n.Store == store && (since == 0 || n.Operation < since) {
				n.Paths = slices.DeleteFunc(n.Paths, func(p Path) bool { return match(n.Operation, p.Path) })
				n.Kept = slices.DeleteFunc(n.Kept, func(k Kept) bool { return match(n.Operation, k.Path) })
				n.Prompts = nil
			}
		}
		return all
	})
}

// Any reports whether anything is queued on this account.
func Any(env account.Env) bool {
	entries, _ := os.ReadDir(filepath.Dir(account.NoticeFile(env, "-", "-")))
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == account.NoticeExt })
}

// eachQueue changes all queues of the account.
func eachQueue(ctx context.Context, env account.Env, change func(file string, all []queued) []queued) error {
	dir := filepath.Dir(account.NoticeFile(env, "-", "-"))
	if dir == "." {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var errs []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != account.NoticeExt {
			continue
		}
		file := filepath.Join(dir, e.Name())
		errs = append(errs, update(ctx, env, file, queueWait, func(all []queued) []queued { return change(file, all) }))
	}
	return errors.Join(errs...)
}

// read reads a queue; one that is not there is empty, and so is one that is no queue.
func read(file string) ([]queued, error) {
	data, err := vfs.ReadSmall(file, maxQueueFile, vfs.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []queued
	if json.Unmarshal(data, &all) != nil {
		return nil, nil
	}
	return all, nil
}

// update changes one queue under the lock of all. Unlike a session's state, which hooks may lose, it is
// written only under that lock, and what was taken out is durably out.
func update(ctx context.Context, env account.Env, file string, wait time.Duration, change func([]queued) []queued) error {
	_, owner, err := env.MakeAccountDir()
	if err == nil {
		err = account.MakeDir(filepath.Dir(file), owner)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	lock, err := account.LockFile(ctx, filepath.Join(filepath.Dir(file), "notices.lock"), "notices", true)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := read(file)
	if err != nil {
		return err
	}
	was, err := json.Marshal(all)
	if err != nil {
		return err
	}
	for all = change(all); len(all) > maxQueued; { // those that were given go first; the oldest that waits says what the conversation knows
		i := slices.IndexFunc(all, func(q queued) bool { return !q.waits() })
		if i < 0 {
			i = 1
		}
		all = slices.Delete(all, i, i+1)
	}
	data, err := json.Marshal(all)
	if err != nil || string(data) == string(was) {
		return err
	}
	if len(all) == 0 {
		data = []byte("[]")
	}
	if err := account.WriteFile(file, append(data, '\n'), owner); err != nil || len(all) > 0 {
		return err
	}
	_ = account.RemoveIfThere(file) // an empty one says the same
	return nil
}
