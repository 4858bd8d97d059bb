package remote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Log is one log of a remote: a segment that no other one continues, with all that it continues.
type Log struct {
	ID     string    // the beginning of the hash of that segment
	Pushed time.Time // by the clock of the server

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

// UnsignedError: a log was pushed by somebody who does not have the remote's key.
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

// logs finds the logs in a listing, the one that was pushed to last first, and the segments by the parent that names have. What is not ours is left
// out, and so are segments that are not whole, of which it gives the names.
func logs(listing []bucket.Object) (all []Log, of map[string]segmentName, torn []string) {
	of = map[string]segmentName{}
	continued := map[string]bool{}
	for _, o := range listing {
		n, ok := parseSegmentName(o.Name)
		switch {
		case !ok:
		case n.size != o.Size:
			torn = append(torn, o.Name)
		default:
			of[parentOf(n.stamp)] = n
			continued[n.parent] = true
			all = append(all, Log{parentOf(n.stamp), o.Time, n})
		}
	}
	all = slices.DeleteFunc(all, func(l Log) bool { return continued[l.ID] })
	slices.SortFunc(all, func(a, b Log) int { return cmp.Or(b.Pushed.Compare(a.Pushed), cmp.Compare(a.ID, b.ID)) })
	return all, of, torn
}

// has reports whether a log, or a segment that it continues, has an id that begins so.
func (l Log) has(id string, of map[string]segmentName) bool {
	for n, ok := l.end, true; ok; {
		if strings.HasPrefix(parentOf(n.stamp), id) {
			return true
		}
		before, there := of[n.parent]
		n, ok = before, there && before.last < n.first
	}
	return false
}

// chain finds the segments of a log, oldest first.
func (c *cloning) chain(named string) (chain []segmentName, err error) {
	all, of, torn := logs(c.all)
	c.done.Torn = torn
	if len(all) == 0 {
		return nil, nil
	}
	meant := all[:1]
	if named != "" {
		meant = slices.DeleteFunc(slices.Clone(all), func(l Log) bool { return !l.has(named, of) })
		if len(meant) != 1 {
			return nil, &NoLogError{named, all}
		}
	}
	for n := meant[0].end; ; {
		chain = append(chain, n)
		if n.parent == noParent {
			break
		}
		before, ok := of[n.parent]
		if !ok {
			return nil, &GapError{string(n.writer), n.first}
		}
		if before.last >= n.first { // so that it ends
			return nil, &BadObjectError{n.String(), "it continues what comes after it"}
		}
		n = before
	}
	slices.Reverse(chain)
	c.done.Others = slices.DeleteFunc(all, func(l Log) bool { return l.ID == meant[0].ID })
	return chain, nil
}
