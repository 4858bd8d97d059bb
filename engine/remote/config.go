package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

const (
	markName  = "mark.json"
	sentName  = "sent"
	spoolName = "spool"
	packsName = "packs.json"
	keptName  = "git.json"

	maxConfig = 1 << 20 // bytes
)

// Remote is one remote of a project.
type Remote struct {
	Name string
	Config

	dir string // in the store
	p   *project.Project
}

// Config is what a store knows of one of its remotes.
type Config struct {
	URL       string `json:"url"`
	ID        string `json:"id"`        // of the remote: 32 hexadecimal digits
	Recipient string `json:"recipient"` // public half of its first key
	// Keys are the public halves of the keys that followed the first one, each after the one before; segments are sealed for the last of all.
	Keys []string `json:"keys,omitempty"`
	// Newer says that a key is there that follows these, and that this account could not open.
	Newer    bool   `json:"newer,omitempty"`
	Ring     string `json:"ring,omitempty"` // which objects of keys the remote had when it was asked last
	Precious bool   `json:"precious"`       // precious files go, too
	Manual   bool   `json:"manual"`         // only rewind push sends something there
	// Conditional says that the server was seen to refuse to overwrite an object where it is asked to.
	Conditional bool `json:"conditional"`
}

// mark says what of the log is in the remote, and as which writer.
type mark struct {
	Writer writerID `json:"writer"`
	Store  string   `json:"store"` // id of the store that pushed
	// Position of the log's end at the last push, as text; it changes when gc writes the log anew.
	At string `json:"at"`
	// Seq is the newest commit that is there, and Payload the hash of what it says, without a name or a pin.
	Seq     uint64 `json:"seq"`
	Payload string `json:"payload"`
	// Forgot says that what is there may have something that was forgotten here since: as soon as the log here is without it, all goes again.
	Forgot bool `json:"forgot,omitempty"`
	// Before is the stamp of the segment that the next one continues: the last one of this writer, or of another one whose log this store
	// continues. Empty before the first. First says that the writer has pushed nothing yet.
	Before string `json:"before"`
	First  bool   `json:"first"`
	// Whole is how many ids of the list of sent objects are there with all that they refer to, Sent how many are there.
	Whole int `json:"whole"`
	Sent  int `json:"sent"`
	// Base is the id of the segment of another writer that the first one of this writer continues, or noParent; empty before that.
	Base string `json:"base,omitempty"`
	// Unmerged is how many segments were pushed since it was looked whether some are to be merged.
	Unmerged int `json:"unmerged"`
	// Packs are there and in no segment yet: stamps.
	Packs []string  `json:"packs,omitempty"`
	Time  time.Time `json:"time"`           // of the last push
	Added time.Time `json:"added,omitzero"` // when remote add asked the place, if nothing was pushed since
	Boot  time.Time `json:"boot"`           // when the machine, or the container, was started, as it was known then
	// Machine is the name under which the writer's first segment was pushed.
	Machine string `json:"machine,omitempty"`
}

// NoRemoteError: the project has no remote of that name.
type NoRemoteError struct {
	Name string // "": it has none at all
	Have []string
}

func (e *NoRemoteError) Error() string {
	if e.Name == "" {
		return "the project has no remote"
	}
	return fmt.Sprintf("the project has no remote %q", e.Name)
}

// TakenError: a remote of that name is there already.
type TakenError struct{ Name, URL string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("the project has a remote %q already, at %s", e.Name, e.URL)
}

// BadObjectError: an object of a remote is not what its name says, or is not one that this program writes.
type BadObjectError struct {
	Name, Reason string
}

func (e *BadObjectError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Reason) }

// List are the remotes of a project, by name.
func List(p *project.Project) ([]*Remote, error) {
	all, err := readAll(p)
	if err != nil {
		return nil, err
	}
	var list []*Remote
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if project.CheckName(name) == nil {
			list = append(list, newRemote(p, name, all[name]))
		}
	}
	return list, nil
}

func newRemote(p *project.Project, name string, c Config) *Remote {
	return &Remote{Name: name, Config: c, p: p, dir: filepath.Join(p.StoreDir(), account.RemotesName, name)}
}

// readAll reads what the store knows of its remotes, by their names.
func readAll(p *project.Project) (all map[string]Config, err error) {
	all = map[string]Config{}
	return all, readJSON(filepath.Join(p.StoreDir(), account.RemotesFile), &all)
}

// change changes that, one process at a time. The mirror gets a copy, so that a store that was deleted comes back with its remotes.
func change(ctx context.Context, p *project.Project, f func(all map[string]Config)) error {
	lock, err := lockRemotes(ctx, p)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := readAll(p)
	if err != nil {
		return err
	}
	f(all)
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = account.WriteFile(filepath.Join(p.StoreDir(), account.RemotesFile), append(data, '\n'), p.Owner)
	}
	p.RefreshMirror()
	return err
}

// lockRemotes takes the lock under which one process at a time changes what the store knows of its remotes. Error: *account.BusyError.
func lockRemotes(ctx context.Context, p *project.Project) (*account.FileLock, error) {
	return lockFile(ctx, p, account.RemotesName, account.RemotesName)
}

// lockFile takes a lock of the store, and waits for it as long as the project does. what names it where another process has it. Error: *account.BusyError.
func lockFile(ctx context.Context, p *project.Project, name, what string) (*account.FileLock, error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return account.LockFile(ctx, filepath.Join(p.StoreDir(), account.LockName, name), what, true)
}

// Find is the remote of a name; "" is the only one, or the one that is called origin. Error: *NoRemoteError.
func Find(p *project.Project, name string) (*Remote, error) {
	all, err := List(p)
	if err != nil {
		return nil, err
	}
	missing := &NoRemoteError{Name: name}
	for _, r := range all {
		if r.Name == name || name == "" && (len(all) == 1 || r.Name == "origin") {
			return r, nil
		}
		missing.Have = append(missing.Have, r.Name)
	}
	return nil, missing
}

// read reads one of the remote's files in the store. One that is not there leaves v as it is.
func (r *Remote) read(name string, v any) error { return readJSON(filepath.Join(r.dir, name), v) }

func readJSON(file string, v any) error {
	data, err := vfs.ReadSmall(file, maxConfig, vfs.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return &account.DamagedStoreError{What: file, Err: err}
	}
	return nil
}

func (r *Remote) write(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return account.WriteFile(filepath.Join(r.dir, name), append(data, '\n'), r.p.Owner)
}

// mark reads how far the last push came. One that is damaged says nothing: then everything is pushed again, as a log of its own.
func (r *Remote) mark() (m mark) {
	err := r.read(markName, &m)
	_, before := parseStamp(m.Before)
	if err != nil || m.Writer != "" && !m.Writer.valid() || m.Before != "" && !before ||
		m.Whole < 0 || m.Sent < m.Whole || slices.ContainsFunc(m.Packs, func(s string) bool { _, ok := parseStamp(s); return !ok }) {
		return mark{}
	}
	return m
}

// bucket opens the place.
func (r *Remote) bucket() (bucket.Bucket, error) { return r.openAs(r.Conditional) }

// openAs opens the place of the remote with conditional writes, or as one that does not know them.
func (r *Remote) openAs(conditional bool) (bucket.Bucket, error) {
	o := options(r.p.Env)
	o.Existing, o.Conditional, o.Project = true, conditional, r.p.Root()
	o.Keep = filepath.Join(r.dir, keptName)
	o.Limit = r.p.Settings().Push.Limit
	return open(r.URL, o)
}

// open is bucket.Open; tests put another one in its place.
var open = bucket.Open

func options(env account.Env) bucket.Options {
	return bucket.Options{Getenv: env.Getenv, Home: env.Home, Dir: env.Dir}
}
