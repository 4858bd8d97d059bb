package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// laterName is the file of a remote's directory that notes a Later.
const laterName = "later.json"

// Later is what was pushed from this store to a remote, and is not in it: the machine was put back to a snapshot, or another copy of it
// has gone on. It is found by a push, or by Ask, and noted in the store, for who does not ask the network.
type Later struct {
	Remote string    `json:"-"`
	Writer string    `json:"writer"` // as which it was pushed
	Log    string    `json:"log"`    // id of its newest segment
	Name   string    `json:"name"`   // that a pull gives to it
	Seq    uint64    `json:"seq"`    // of its newest commit
	Pushed time.Time `json:"pushed"` // by the clock of the server
	URL    string    `json:"-"`
	Key    bool      `json:"-"` // this account has the remote's key, so that it can be pulled
}

// Laters are those of all remotes, as far as they were not pulled since. It asks no remote.
func Laters(p *project.Project) (all []Later) {
	every, err := List(p)
	if err != nil {
		return nil
	}
	for _, r := range every {
		if l := r.later(); l != nil {
			all = append(all, *l)
		}
	}
	return all
}

// later is the remote's, nil for none.
func (r *Remote) later() *Later {
	l := Later{}
	if err := r.read(laterName, &l); err != nil || l.Writer == "" || !project.IsLogName(l.Name) {
		return nil
	}
	pulled, err := r.p.PulledFrom(r.Name)
	if err != nil || slices.ContainsFunc(pulled, func(has project.PulledLog) bool { return has.Writer == l.Writer && has.Seq >= l.Seq }) {
		return nil
	}
	_, err = r.Key()
	l.Remote, l.URL, l.Key = r.Name, r.URL, err == nil
	return &l
}

// noteLater notes what a listing shows of this store's writer behind what the store knows, for Laters.
func (u *pushing) noteLater(listing []bucket.Object) error {
	l := Later{Writer: string(u.m.Writer), Remote: u.Name}
	for _, o := range listing {
		n, ok := parseSegmentName(o.Name)
		if ok && n.size == o.Size && n.writer == u.m.Writer && n.last > max(l.Seq, u.m.Seq) {
			l.Seq, l.Log, l.Pushed = n.last, n.id(), o.Time
		}
	}
	if l.Log == "" {
		return nil
	}
	pulled, err := u.p.Pulled()
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, has := range pulled {
		names[has.Name] = true
		if has.Writer == l.Writer && has.Remote == u.Name {
			l.Name = has.Name
		}
	}
	if l.Name == "" {
		machine := u.m.Machine
		if machine == "" {
			machine, _ = os.Hostname()
		}
		l.Name = freeName(machine, names)
	}
	u.done.Later = &l
	if err := u.write(laterName, l); err != nil {
		return err
	}
	u.done.Later = u.later() // with what the account has
	return nil
}

// nameOfLater is the name that a writer's log gets with a pull, as it was said; "": none was.
func (r *Remote) nameOfLater() (writer, name string) {
	var l Later
	if err := r.read(laterName, &l); err != nil || !project.IsLogName(l.Name) {
		return "", ""
	}
	return l.Writer, l.Name
}

// dropLater removes the note of what was pulled since.
func (r *Remote) dropLater() error {
	if r.later() != nil {
		return nil
	}
	return account.RemoveIfThere(filepath.Join(r.dir, laterName))
}

// mayBePutBack reports whether the store, or the machine, can have been put back to an earlier state since the last push, so that the remote is to be
// asked: files of the store were replaced, the machine was started anew, its clock jumped, or some time has passed.
func (r *Remote) mayBePutBack(m mark) bool {
	age := r.p.Env.Time().Sub(m.Time)
	return age < 0 || age >= quiet || r.started().Sub(m.Boot).Abs() >= time.Second || r.replaced(m)
}

// replaced reports whether the mark is one of another store, of which this is a copy, or lies here as a copy: such a file keeps its time, and
// its last change is later. What was copied without times is not seen.
func (r *Remote) replaced(m mark) bool {
	if m.Writer == "" || m.Store != r.p.ID.String() || r.p.Copied {
		return m.Writer != ""
	}
	info, err := os.Lstat(filepath.Join(r.dir, markName))
	if err != nil {
		return false
	}
	changed, _ := account.ChangeTime(info)
	return time.Unix(0, changed).Sub(info.ModTime()) >= copiedAfter
}

// copiedAfter is how much later a file's last change is than its time, at least, where it was copied with its time.
const copiedAfter = 2 * time.Second

// pushedHere reports whether a mark is this project's, and not that of another one at another place, of which this one is a copy.
func (r *Remote) pushedHere(m mark) bool {
	k, ok := r.registered(m)
	return !ok || k.Root == r.p.Root() || k.State(r.p.Env) != account.Live
}

// registered is the store of a mark as this account knows it.
func (r *Remote) registered(m mark) (k account.KnownStore, ok bool) {
	known, _ := account.KnownStores(r.p.Env) // what cannot be read says nothing
	i := slices.IndexFunc(known, func(k account.KnownStore) bool { return k.ID.String() == m.Store })
	if i < 0 {
		return k, false
	}
	return known[i], true
}

// putBack reports whether a copy of the project took its place, and has pushed nothing since.
func (r *Remote) putBack() bool {
	m := r.mark()
	k, ok := r.registered(m)
	return ok && k.Root == r.p.Root() && (r.p.Copied || m.Store != r.p.ID.String())
}

// started is when the machine was started, or the container in which this is: one that comes back as a snapshot of its files has another
// first process, one that comes back with its memory has a clock that jumped.
func (r *Remote) started() time.Time { return r.p.Env.BootTime().Add(firstProcess()) }

// firstProcess is how long after the system the first process was started that is to be seen here; 0 where that is not known.
var firstProcess = func() time.Duration {
	f, _, err := vfs.OpenRegular("/proc/1/stat", 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig)) // its length is 0, as it says
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // the name before it can have anything in it
	if len(fields) < 20 {
		return 0
	}
	ticks, err := strconv.ParseInt(string(fields[19]), 10, 64) // field 22 of proc_pid_stat(5), a hundred a second
	if err != nil || ticks < 0 {
		return 0
	}
	return time.Duration(ticks) * (time.Second / 100)
}

// asks reports whether Ask would ask a remote: always, or only where its mark was replaced.
func (r *Remote) asks(always bool) bool {
	m := r.mark()
	return !r.Manual && m.Writer != "" && !r.p.Copied && (always || r.replaced(m)) && !r.resting()
}

// AskWanted reports whether a remote is to be asked by Ask. It reads a few small files.
func AskWanted(p *project.Project, always bool) bool {
	all, err := List(p)
	return err == nil && p.ReadOnly == nil && slices.ContainsFunc(all, func(r *Remote) bool { return r.asks(always) })
}

// Ask asks the remotes whether more was pushed from this store than it knows of, and leaves the answer for Laters. Nothing is pushed.
func Ask(ctx context.Context, p *project.Project) error {
	all, err := List(p)
	for _, r := range all {
		err = errors.Join(err, r.ask(ctx))
	}
	return err
}

func (r *Remote) ask(ctx context.Context) error {
	if err := r.p.BeginWriting(ctx); err != nil || !r.asks(true) {
		return err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	u := &pushing{Remote: r, done: &Pushed{Remote: r}, m: r.mark()}
	if u.b, err = r.bucket(); err == nil {
		_, _, err = u.look(ctx)
	}
	return err
}
