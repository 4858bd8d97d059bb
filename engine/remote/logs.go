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

// GapError: a segment is not there, or not to be seen yet.
type GapError struct {
	Writer string
	Before uint64 // the sequence number that something is missing before
}

func (e *GapError) Error() string {
	return fmt.Sprintf("what writer %s continues before entry %d is not to be seen in the remote", e.Writer, e.Before)
}

// logs finds the logs in a listing, the one that was pushed to last first, and the segments by the parent that names have. Objects that are torn, or not
// ours, are left out.
func logs(listing []bucket.Object) (all []Log, of map[string]segmentName) {
	of = map[string]segmentName{}
	continued := map[string]bool{}
	for _, o := range listing {
		if n, ok := parseSegmentName(o.Name); ok && n.size == o.Size {
			of[parentOf(n.stamp)] = n
			continued[n.parent] = true
			all = append(all, Log{parentOf(n.stamp), o.Time, n})
		}
	}
	all = slices.DeleteFunc(all, func(l Log) bool { return continued[l.ID] })
	slices.SortFunc(all, func(a, b Log) int { return cmp.Or(b.Pushed.Compare(a.Pushed), cmp.Compare(a.ID, b.ID)) })
	return all, of
}

// chain finds the segments of a log, oldest first.
func (c *cloning) chain(named string) (chain []segmentName, err error) {
	all, of := logs(c.all)
	if len(all) == 0 {
		return nil, nil
	}
	meant := all[:1]
	if named != "" {
		meant = slices.DeleteFunc(slices.Clone(all), func(l Log) bool { return !strings.HasPrefix(l.ID, named) })
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
