package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// Names of what a pull keeps in the directory of a remote.
const (
	PulledName     = "logs"     // a directory for each log of another writer
	pulledFile     = "log.json" // in it: a PulledLog
	maxPulledState = 1 << 20    // bytes of that
)

// PulledLog is the log of another writer of a remote as the last pull left it. Its commits are in a directory of their own, never
// among those of this store; the objects that they need are in this store.
type PulledLog struct {
	Name    string    `json:"name"`    // with which references to its checkpoints begin
	Writer  string    `json:"writer"`  // its id in the remote
	Machine string    `json:"machine"` // as it calls itself
	Root    string    `json:"root"`    // of the project there, quoted as Go does
	End     string    `json:"end"`     // id of the newest segment that is here
	Seq     uint64    `json:"seq"`     // of the newest commit
	Commits int       `json:"commits"` // how many there are
	Fork    uint64    `json:"fork"`    // of the newest commit that this store's own log has, too; 0: none
	Whole   bool      `json:"whole"`   // the store has all objects that its checkpoints need
	Newer   int       `json:"newer"`   // checkpoints behind that, safety ones apart
	Newest  time.Time `json:"newest"`  // when the newest checkpoint was taken
	Pulled  time.Time `json:"pulled"`  // when something of it was pulled last

	Remote string `json:"-"` // name
	Dir    string `json:"-"`
}

// Pulled are the logs that were pulled, by name. One whose description cannot be read is left out: the next pull fetches it anew.
func (p *Project) Pulled() ([]PulledLog, error) {
	var all []PulledLog
	remotes, err := os.ReadDir(filepath.Join(p.at.Store, account.RemotesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, r := range remotes {
		if CheckName(r.Name()) != nil || !r.IsDir() {
			continue
		}
		some, err := p.PulledFrom(r.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b PulledLog) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// PulledFrom are those that were pulled from one remote.
func (p *Project) PulledFrom(remote string) (all []PulledLog, err error) {
	dir := filepath.Join(p.at.Store, account.RemotesName, remote, PulledName)
	logs, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, l := range logs {
		log := PulledLog{Remote: remote, Dir: filepath.Join(dir, l.Name())}
		data, err := vfs.ReadSmall(filepath.Join(log.Dir, pulledFile), maxPulledState, vfs.NoFollow)
		if err != nil || json.Unmarshal(data, &log) != nil || !IsLogName(log.Name) {
			continue
		}
		all = append(all, log)
	}
	return all, nil
}

// IsLogName reports whether a name can be that of a pulled log.
func IsLogName(name string) bool {
	for i := range len(name) {
		b := name[i]
		alnum := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		if !alnum && (i == 0 || b != '.' && b != '_' && b != '-') {
			return false
		}
	}
	return name != "" && len(name) <= longestName && !strings.Contains(name, "..")
}

// WritePulled writes the description of a pulled log into its directory.
func (p *Project) WritePulled(l PulledLog) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return account.WriteFile(filepath.Join(l.Dir, pulledFile), append(data, '\n'), p.Owner)
}

// Open opens the commits of a pulled log; the caller closes them. They are made where write is set and there are none.
func (l PulledLog) Open(p *Project, write bool) (*cas.Store, error) {
	origin, _ := account.ParseStoreID(p.Format.Origin)
	s, err := cas.Open(cas.Options{
		Dir: filepath.Join(l.Dir, account.ObjectsName), LockDir: filepath.Join(l.Dir, account.LockName), StoreID: origin,
		Owner: p.Owner, NoSync: p.settings.Durability == "fast", ReadOnly: !write, Now: p.Env.Time,
	})
	if err != nil {
		return nil, fmt.Errorf("the log of %s, which was pulled: %w", l.Name, err)
	}
	return s, nil
}

// Log is a pulled log of which the commits are open, for package manifest.
func (l PulledLog) Log(p *Project, commits *cas.Store) manifest.Source {
	return logSource{p.Store, commits}
}

// Fold brings the database of a pulled log up to date.
func (l PulledLog) Fold(ctx context.Context, p *Project, commits *cas.Store) error {
	o := manifest.Options{Dir: filepath.Join(l.Dir, account.ManifestsName), Owner: p.Owner}
	return manifest.Fold(ctx, o, l.Log(p, commits))
}

// IsAhead reports whether a log continues from the newest checkpoint of this store's own log: the store was put back to an earlier state,
// or another machine has continued it, and nothing of that was restored here since.
func (l PulledLog) IsAhead(p *Project) (bool, error) {
	if l.Fork == 0 || l.Newer == 0 {
		return false, nil
	}
	for r, err := range p.Log().Records(l.Fork + 1) {
		switch c, o := r.Record.Checkpoint, r.Record.Operation; {
		case err != nil && !errors.As(err, new(*manifest.EntryError)):
			return false, p.Classify(err)
		case r.Seq > l.Fork && (c != nil && c.Kind != manifest.Safety || o != nil && o.Of == l.Name):
			return false, nil
		}
	}
	return true, nil
}

// PulledError: something can only be done with a checkpoint of this store's own log.
type PulledError struct{ Log string }

func (e *PulledError) Error() string {
	return fmt.Sprintf("it is a checkpoint of %s, which was pulled: this store can show and restore it, and not change it", e.Log)
}

// views are those of a project, by the names of their logs.
type views struct {
	sync.Mutex
	of map[string]*Project
}

// View is the project as a pulled log has it, for reading: its checkpoints in place of this store's. It is closed with p.
func (p *Project) View(l PulledLog) (*Project, error) {
	p.views.Lock()
	defer p.views.Unlock()
	if v := p.views.of[l.Name]; v != nil {
		return v, nil
	}
	commits, err := l.Open(p, false)
	if err != nil {
		return nil, &account.DamagedStoreError{What: "what was pulled of " + l.Name, Err: err}
	}
	v := &Project{Env: p.Env, at: p.at, Format: p.Format, ID: p.ID, settings: p.settings, Store: p.Store, Owner: p.Owner,
		ReadOnly: &PulledError{l.Name}, lockWait: p.lockWait, waiting: p.waiting, Progress: p.Progress,
		commits: commits, pulled: &l, own: p}
	if p.views.of == nil {
		p.views.of = map[string]*Project{}
	}
	p.views.of[l.Name] = v
	return v, nil
}

// ViewOf is the View of the log with a name; "" is p itself. Error: *NoCheckpointError where it is gone.
func (p *Project) ViewOf(name string) (*Project, error) {
	if p.own != nil {
		return p.own.ViewOf(name)
	}
	if name == "" {
		return p, nil
	}
	all, err := p.Pulled()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Name == name {
			return p.View(l)
		}
	}
	return nil, &NoCheckpointError{Spec: name + "/", Reason: "nothing that was pulled has that name"}
}

// Fork is the newest commit of a View's log that this store's own log has, too; 0: none.
func (p *Project) Fork() uint64 {
	if p.pulled == nil {
		return 0
	}
	return p.pulled.Fork
}

// Of is the name of the pulled log that a View shows; "" for this store's own log.
func (p *Project) Of() string {
	if p.pulled == nil {
		return ""
	}
	return p.pulled.Name
}

// LogEnd is where the log ends, of a View that of the pulled one.
func (p *Project) LogEnd() (cas.Position, error) { return p.log().Last() }

// CloseViews closes what View opened.
func (p *Project) CloseViews() error {
	p.views.Lock()
	defer p.views.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.views.of)) {
		errs = append(errs, p.views.of[name].commits.Close())
	}
	p.views.of = nil
	return errors.Join(errs...)
}

// log is the store that has the commits.
func (p *Project) log() *cas.Store {
	if p.commits != nil {
		return p.commits
	}
	return p.Store
}
