package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Log is one log of a remote: a segment that no other one continues, with all that it continues.
type Log struct {
	ID     string    // the beginning of the hash of that segment
	Pushed time.Time // by the clock of the server
	// Unsigned says that a clone found that somebody without the remote's key pushed something of it.
	Unsigned bool

	end segmentName
}

// NoLogError: the remote has no log of such an id, or several.
type NoLogError struct {
	ID   string
	Have []Log
}

func (e *NoLogError) Error() string {
	return fmt.Sprintf("the remote has no log %q, or several that begin so", e.ID)
}

// UnsignedError: a log was pushed by somebody who does not have the remote's key, and so was every other one.
type UnsignedError struct{ Log string }

func (e *UnsignedError) Error() string {
	return fmt.Sprintf("the log %s was pushed, in part or as a whole, without the remote's key: anybody who can write to the place can have done that", e.Log)
}

// GapError: a segment is not there, or not to be seen yet.
type GapError struct {
	Writer string
	Before uint64 // the sequence number that something is missing before
}

func (e *GapError) Error() string {
	return fmt.Sprintf("what writer %s continues before entry %d is not to be seen in the remote", e.Writer, e.Before)
}

// piece is a part of a log as one object has it: a segment, or what a merge holds, up to one of its segments.
type piece struct {
	object segmentName
	last   uint64 // sequence number of its newest commit
	id     string // of its newest segment
}

// listed is what a listing says: the logs, and which objects they are made of. Merges stand beside the segments that they hold, or in their place.
type listed struct {
	logs   []Log // the one that was pushed to last first
	torn   []string
	merges []segmentName
	pieces map[string][]piece  // by the id of their newest segment
	read   map[string][]string // by the names of merges that were read: the ids of their segments, of which each is in pieces
	bad    map[string]bool     // names of objects that are not what they should be
}

// list sorts a listing of segments and merges. What is not ours is left out, and so are objects that are not whole.
func list(listing []bucket.Object) *listed {
	l := &listed{pieces: map[string][]piece{}, read: map[string][]string{}, bad: map[string]bool{}}
	continued, pushed := map[string]bool{}, map[string]Log{}
	for _, o := range listing {
		n, ok := parseSegmentName(o.Name)
		switch {
		case !ok:
			continue
		case n.size != o.Size:
			l.torn = append(l.torn, o.Name)
			continue
		}
		l.add(n)
		continued[n.parent] = true
		if was, ok := pushed[n.id()]; !ok || !n.merge() && was.end.merge() { // a merge is later than what it holds
			pushed[n.id()] = Log{ID: n.id(), Pushed: o.Time, end: n}
		}
	}
	for id, log := range pushed {
		if !continued[id] {
			l.logs = append(l.logs, log)
		}
	}
	slices.SortFunc(l.logs, func(a, b Log) int { return cmp.Or(b.Pushed.Compare(a.Pushed), cmp.Compare(a.ID, b.ID)) })
	slices.SortFunc(l.merges, func(a, b segmentName) int {
		return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(a.String(), b.String()))
	})
	return l
}

// add adds an object.
func (l *listed) add(n segmentName) {
	if n.merge() {
		l.merges = append(l.merges, n)
	}
	l.pieces[n.id()] = append(l.pieces[n.id()], piece{n, n.last, n.id()})
}

// open adds the segments that a merge holds.
func (l *listed) open(n segmentName, all []sealedSegment) {
	name := n.String()
	if l.read[name] != nil {
		return
	}
	for _, s := range all {
		id := parentOf(s.stamp)
		l.read[name] = append(l.read[name], id)
		if id != n.end { // the last one is known by the name
			l.pieces[id] = append(l.pieces[id], piece{n, s.last, id})
		}
	}
}

// path finds the fewest objects that make up a log from the segment after one id, or the beginning, to that of another one, oldest first. Where there
// is no such path, it gives what continues a segment that is not there.
func (l *listed) path(from, to string) (path, lost []piece) {
	next := map[string]piece{} // by what it continues: the piece that leads on from there
	for queue := []string{to}; len(queue) > 0; queue = queue[1:] {
		id, found := queue[0], false
		for _, p := range l.pieces[id] {
			before, on := next[id]
			if l.bad[p.object.String()] || on && p.last >= before.object.first {
				continue
			}
			found = true
			parent := p.object.parent
			if _, been := next[parent]; been {
				continue
			}
			next[parent] = p
			if parent == from {
				for at := from; at != to; at = next[at].id {
					path = append(path, next[at])
				}
				return path, nil
			}
			queue = append(queue, parent)
		}
		if before, on := next[id]; !found && on {
			lost = append(lost, before)
		}
	}
	return nil, lost
}

// has reports whether a log, or a segment that it continues, has an id that begins so.
func (l *listed) has(log Log, id string) bool {
	been := map[string]bool{log.ID: true, noParent: true}
	for queue := []string{log.ID}; len(queue) > 0; queue = queue[1:] {
		if strings.HasPrefix(queue[0], id) {
			return true
		}
		for _, p := range l.pieces[queue[0]] {
			for _, before := range append([]string{p.object.parent}, l.read[p.object.String()]...) {
				if before == p.id { // what a merge has after it is another log's
					break
				}
				if !been[before] {
					been[before] = true
					queue = append(queue, before)
				}
			}
		}
	}
	return false
}

// maxOpened is how many merges are read to find a segment that no name shows.
const maxOpened = 256

// chain finds the objects that make up a log behind a segment, or from noParent on, oldest first. A segment that is continued twice, and has no object of its own any more, is in a
// merge whose name does not show it: then merges are read. Errors: *GapError, *BadObjectError, those of package bucket.
func (r *reader) chain(ctx context.Context, from, to string) ([]piece, error) {
	for opened := 0; ; {
		path, lost := r.at.path(from, to)
		if path != nil {
			return path, nil
		}
		read, err := r.find(ctx, lost, maxOpened-opened)
		if err != nil {
			return nil, err
		}
		if opened += read; read > 0 {
			continue
		}
		if len(lost) == 0 {
			return nil, &BadObjectError{to, "it continues what comes after it"}
		}
		p := slices.MinFunc(lost, func(a, b piece) int { return cmp.Compare(a.object.first, b.object.first) })
		return nil, &GapError{string(p.object.writer), p.object.first}
	}
}

// find reads merges, at most some, for a segment that is not there for itself; it says how many.
func (r *reader) find(ctx context.Context, lost []piece, most int) (read int, err error) {
	for _, p := range lost {
		for _, m := range r.at.merges {
			if m.first >= p.object.first || r.at.read[m.String()] != nil || r.at.bad[m.String()] {
				continue
			}
			if read == most {
				return read, nil
			}
			read++
			if err := r.openMerge(ctx, m); err != nil || len(r.at.pieces[p.object.parent]) > 0 {
				return read, err
			}
		}
	}
	return read, nil
}

// openMerge reads a merge for the names of the segments in it. One that is not whole is passed over.
func (r *reader) openMerge(ctx context.Context, m segmentName) error {
	all, err := r.merge(ctx, m)
	var bad *BadObjectError
	if errors.As(err, &bad) || errors.Is(err, fs.ErrNotExist) {
		r.at.bad[m.String()] = true
		return nil
	}
	if err == nil {
		r.at.open(m, all)
	}
	return err
}

// openMerges reads merges, the newest first, until one has a segment; all of them, up to a bound, for "".
func (r *reader) openMerges(ctx context.Context, id string) error {
	for _, m := range r.at.merges[:min(len(r.at.merges), maxOpened)] {
		if len(r.at.pieces[id]) > 0 {
			break
		}
		if err := r.openMerge(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// named finds the log that an id names, by its beginning: its own, or that of a segment that it continues. "" names the one that was pushed to last.
func (r *reader) named(ctx context.Context, id string) (Log, error) {
	if id == "" && len(r.at.logs) > 0 {
		return r.at.logs[0], nil
	}
	meant := slices.DeleteFunc(slices.Clone(r.at.logs), func(l Log) bool { return !strings.HasPrefix(l.ID, id) })
	if len(meant) != 1 {
		if err := r.openMerges(ctx, ""); err != nil { // it may be of a segment that has no object of its own any more
			return Log{}, err
		}
		meant = slices.DeleteFunc(slices.Clone(r.at.logs), func(l Log) bool { return !r.at.has(l, id) })
	}
	if len(meant) != 1 {
		return Log{}, &NoLogError{id, r.at.logs}
	}
	return meant[0], nil
}

// state finds the segment that an id names, by its beginning: the end of a log, or an earlier state of one.
func (r *reader) state(ctx context.Context, id string) (string, error) {
	log, err := r.named(ctx, id)
	if err == nil && strings.HasPrefix(log.ID, id) || err != nil && !errors.As(err, new(*NoLogError)) {
		return log.ID, err
	}
	found := ""
	for at := range r.at.pieces {
		if strings.HasPrefix(at, id) {
			if found != "" {
				return "", &NoLogError{id, r.at.logs}
			}
			found = at
		}
	}
	if found == "" {
		return "", &NoLogError{id, r.at.logs}
	}
	return found, nil
}

// How the newest segment of a log is marked, the best first.
const (
	markedNow  = iota // with the remote's key that is in force
	markedOnce        // with an earlier one
	unmarked          // by somebody without the key
	notReadable
)

// ranked are the logs that a clone may take, the best first: by how the newest segment is marked, then the one that was pushed to last. Once one that is
// marked with the present key is found, those that were pushed to earlier are not looked at. Where there is one log, nothing is read.
func (r *reader) ranked(ctx context.Context) ([]Log, error) {
	if len(r.at.logs) < 2 {
		return slices.Clone(r.at.logs), nil
	}
	marks := map[string]int{}
	for i, l := range r.at.logs {
		how, err := r.marked(ctx, l)
		if err != nil {
			return nil, err
		}
		marks[l.ID] = how
		r.at.logs[i].Unsigned = how == unmarked
		if how == markedNow {
			break
		}
	}
	all := slices.Clone(r.at.logs)
	rank := func(l Log) int {
		if how, ok := marks[l.ID]; ok {
			return how
		}
		return markedOnce // it is not known, and there is a better one
	}
	slices.SortStableFunc(all, func(a, b Log) int { return cmp.Compare(rank(a), rank(b)) })
	return all, nil
}

// marked reads the newest segment of a log. Error: *KeyError where it is sealed for a newer key, so that nobody gets an older state without a word.
func (r *reader) marked(ctx context.Context, l Log) (int, error) {
	smallest := slices.MinFunc(r.at.pieces[l.ID], func(a, b piece) int { return cmp.Compare(a.object.size, b.object.size) })
	some, err := r.segments(ctx, smallest)
	if err == nil {
		s := some[len(some)-1]
		var o opened
		if o, err = r.open(s.String(), s.sealed); err == nil {
			switch {
			case !o.head.signed(ofSegment, o.bundle):
				return unmarked, nil
			case o.head.by.Recipient() == r.keys.Current().Recipient():
				return markedNow, nil
			}
			return markedOnce, nil
		}
	}
	if ofOneLog(err) {
		err = nil
	}
	return notReadable, err
}
