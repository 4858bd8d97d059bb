package remote

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// PullOptions are those of Pull.
type PullOptions struct {
	// Log names, by the beginning of its id, a log that is taken although somebody without the remote's key pushed something of it.
	Log string
	// Check reads all that was pulled before, and fetches again what is damaged or gone.
	Check bool
}

// Pulled is what a pull did.
type Pulled struct {
	Remote   *Remote
	Logs     []PulledLog // those that got something, in the order of their names
	Bytes    int64       // of the objects that were fetched
	Requests int
	Torn     []string // names of segments that are not whole
	Failed   []Failed // logs that could not be pulled, or not all of them
	// Unsigned are the ids of logs of which a part was left out, since it was pushed without the remote's key; Noticed, of these, those that an
	// earlier pull had found.
	Unsigned, Noticed []string
}

// PulledLog is one log, and what it got.
type PulledLog struct {
	project.PulledLog
	New int // checkpoints, safety ones apart
}

// Failed is a log that was not pulled up to its end. What is before that was.
type Failed struct {
	Log string // its id
	Err error  // *GapError, *BadObjectError
}

// machine is who a writer is, as it says itself.
type machine struct {
	Machine string `json:"machine"`
	Root    string `json:"root"` // of the project there, quoted as Go does
}

const (
	machinesName = "machines.json" // a machine for each writer that is known
	unsignedName = "unsigned.json" // the ids of logs that a pull has left out, since they were pushed without the key
	incomingName = "incoming"      // the directory of objects that are fetched, and not in the store yet
)

// pulling is one pull.
type pulling struct {
	*Remote
	*reader
	o        PullOptions
	done     *Pulled
	own      map[string]uint64    // ids of the segments that this store's log holds, as far as the listing shows them, with their newest commits
	machines map[writerID]machine // that are known
	have     []project.PulledLog  // of this remote
	names    map[string]bool      // of the pulled logs of all remotes
	reserved bool                 // one more of the names is kept for what a push has found
	noticed  []string             // the logs that earlier pulls have left out
}

// Pull fetches the logs of the other writers of a remote. Neither the working tree nor this store's own log is touched. What cannot be
// pulled of one log keeps no other one back. Errors: *account.BusyError where another process pulls, *KeyError, *GoneError, those of package bucket and of the store.
func (r *Remote) Pull(ctx context.Context, o PullOptions) (*Pulled, error) {
	if err := r.p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	lock, err := r.lockPull(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if err := r.makeDir(); err != nil {
		return nil, err
	}
	u := &pulling{Remote: r, reader: &reader{}, o: o, done: &Pulled{Remote: r}}
	if _, err = r.Key(); err != nil {
		return nil, err
	}
	if u.b, err = r.bucket(); err != nil {
		return nil, err
	}
	if u.requests, err = r.lookForKey(ctx, u.b); err != nil {
		return nil, err
	}
	if u.keys, err = r.known(); err != nil {
		return nil, err
	}
	err = u.pull(ctx)
	u.done.Requests, u.done.Bytes = u.requests, u.bytes
	return u.done, r.p.Classify(err)
}

// lockPull takes the lock under which one process at a time pulls from the remote. Error: *account.BusyError.
func (r *Remote) lockPull(ctx context.Context) (*account.FileLock, error) {
	return lockFile(ctx, r.p, "pull-"+r.Name, "pull")
}

func (u *pulling) pull(ctx context.Context) error {
	u.requests++
	listing, err := u.b.List(ctx, segments)
	if err != nil {
		return err
	}
	if len(listing) == 0 { // nothing was pushed, or the drive is not mounted
		if err := u.stillThere(ctx); err != nil {
			return err
		}
	}
	u.at = list(listing)
	u.done.Torn = u.at.torn
	if u.o.Log != "" {
		if _, err := u.named(ctx, u.o.Log); err != nil {
			return err
		}
	}
	if err := u.findOwn(); err != nil {
		return err
	}
	if err := u.readPulled(); err != nil {
		return err
	}
	for _, t := range u.tips(listing) {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := t.end.id()
		if slices.Contains(u.noticed, id) && !u.o.Check && !u.isNamed(ctx, id) {
			u.done.Unsigned, u.done.Noticed = append(u.done.Unsigned, id), append(u.done.Noticed, id)
			continue
		}
		got, err := u.log(ctx, t)
		if got != nil && got.New > 0 {
			u.done.Logs = append(u.done.Logs, *got)
		}
		if err == nil {
			continue
		}
		if errors.As(err, new(*UnsignedError)) {
			if u.done.Unsigned = append(u.done.Unsigned, id); slices.Contains(u.noticed, id) {
				u.done.Noticed = append(u.done.Noticed, id)
			}
			continue
		}
		if !ofOneLog(err) {
			return err
		}
		u.done.Failed = append(u.done.Failed, Failed{id, err})
	}
	if !slices.Equal(u.done.Unsigned, u.noticed) {
		if err := u.write(unsignedName, u.done.Unsigned); err != nil {
			return err
		}
	}
	slices.SortFunc(u.done.Logs, func(a, b PulledLog) int { return cmp.Compare(a.Name, b.Name) })
	return errors.Join(u.dropLater(), u.dropIncoming())
}

// stillThere asks whether the place is still the remote. Error: *GoneError.
func (u *pulling) stillThere(ctx context.Context) error {
	u.requests++
	_, err := u.described(ctx, u.b)
	return err
}

// ofOneLog reports whether an error says something of the log that was being pulled, and nothing of the others. An object that is
// in the listing and cannot be had is one.
func ofOneLog(err error) bool {
	return errors.As(err, new(*GapError)) || errors.As(err, new(*UnsignedError)) || errors.As(err, new(*BadObjectError)) || errors.Is(err, fs.ErrNotExist)
}

// findOwn finds the segments that this store's own log holds: the newest that it has pushed or continues, and what is before it. What
// is on its way to the remote counts, too: a push may be under way. The mark is read last, since a push writes it before it removes
// the spool.
func (u *pulling) findOwn() error {
	s, _, spooled, err := u.readSpool()
	if err != nil {
		return err
	}
	m := u.mark()
	u.own = map[string]uint64{}
	if !spooled && m.Before == "" {
		return nil
	}
	if same, err := u.holdsMark(m); err != nil || !same {
		return err // the log was put back to another state: nothing is known to be in it
	}
	if n, ok := parseSegmentName(s.Name); spooled && ok {
		u.own[n.id()] = n.last
		u.before(n.parent, u.own)
	}
	if before, ok := parseStamp(m.Before); ok {
		u.own[parentOf(before)] = m.Seq
		u.before(parentOf(before), u.own)
	}
	return nil
}

// before adds a segment, and all that it continues, as far as the names in the listing show them: ids, with the newest commits.
func (u *pulling) before(id string, all map[string]uint64) {
	been := map[string]bool{noParent: true}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if been[at] {
			continue
		}
		been[at] = true
		for _, p := range u.at.pieces[at] {
			all[at] = p.last
			queue = append(queue, p.object.parent)
		}
	}
}

// holdsMark reports whether the log still has what the mark says was pushed last.
func (r *Remote) holdsMark(m mark) (bool, error) {
	last, err := r.p.Store.Last()
	if err != nil || last.Seq < m.Seq {
		return false, err
	}
	for c, err := range r.p.Store.Commits(m.Seq) {
		if err != nil {
			return false, r.p.Classify(err)
		}
		return c.Seq > m.Seq || m.ends(c), nil // gc may have dropped it
	}
	return true, nil
}

func (u *pulling) readPulled() (err error) {
	all, err := u.p.Pulled()
	if err != nil {
		return err
	}
	u.names = map[string]bool{}
	for _, l := range all {
		u.names[l.Name] = true
		if l.Remote == u.Name {
			u.have = append(u.have, l)
		}
	}
	_ = u.read(unsignedName, &u.noticed) // what is torn says nothing
	if _, name := u.nameOfLater(); name != "" && !u.names[name] {
		u.names[name], u.reserved = true, true
	}
	u.machines = map[writerID]machine{}
	return u.read(machinesName, &u.machines)
}

// tip is the end of what a machine has pushed: a segment that no other one of the same writer continues.
type tip struct {
	end    segmentName
	pushed time.Time
}

// tips are the ends of the other writers' logs, those first that were pushed to first: names are given in that order.
func (u *pulling) tips(listing []bucket.Object) (all []tip) {
	type of struct {
		writer writerID
		id     string
	}
	continued, known := map[of]bool{}, map[of]bool{}
	var merges []segmentName
	for _, ps := range u.at.pieces {
		for _, p := range ps {
			continued[of{p.object.writer, p.object.parent}] = true
			if p.object.merge() {
				merges = append(merges, p.object)
			}
		}
	}
	for _, o := range listing {
		n, ok := parseSegmentName(o.Name)
		if !ok || n.size != o.Size { // it is not ours, or not whole
			continue
		}
		at := of{n.writer, n.id()}
		if _, own := u.own[n.id()]; own || continued[at] || known[at] {
			continue
		}
		// Of what a merge holds, a part may be gone as objects of its own.
		held := slices.ContainsFunc(merges, func(m segmentName) bool { return m.writer == n.writer && m.first <= n.first && n.last < m.last })
		if held {
			continue
		}
		known[at] = true
		all = append(all, tip{n, o.Time})
	}
	slices.SortFunc(all, func(a, b tip) int {
		return cmp.Or(a.pushed.Compare(b.pushed), cmp.Compare(a.end.id(), b.end.id()))
	})
	return all
}
