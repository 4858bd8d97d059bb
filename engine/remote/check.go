package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Checked is what Check found.
type Checked struct {
	Remote    *Remote
	Logs      []CheckedLog
	Segments  int
	Objects   Freed    // segments and merges
	Packs     Freed    // that segments name
	Unneeded  Freed    // what GC can remove, now or later
	Torn      []string // names of objects that are not whole, and that no other object needs: of an interrupted push, or damaged
	Damaged   []error  // *BadObjectError, *GapError, *MissingPackError
	Read      bool     // the remote's key is here: also what segments name was looked at
	Can       bucket.Capabilities
	Versioned *bool // what is overwritten or deleted stays as an older version; nil: the place does not say
	Locked    *bool // objects cannot be removed for a time; likewise
}

// CheckedLog is one log of a remote.
type CheckedLog struct {
	Log
	Machine string // where its newest part was begun; "" where that was not read
	Signed  bool   // all of it was pushed with the remote's key; false where that was not read
	Damaged bool   // something of it could not be read, with the key at hand
}

// Check asks a remote whether it is there, and is the one that this store knows; whether its logs are whole; and what can be done to it with
// these credentials, by objects of its own below probe/. It reads all segments, and of packs the lengths. Errors: *GoneError, those of package
// bucket.
func (r *Remote) Check(ctx context.Context) (*Checked, error) {
	b, err := r.bucket()
	if err != nil {
		return nil, err
	}
	newest := r.mark().Before // before the listing: a push can be at work
	s, err := r.survey(ctx, b, true)
	if err != nil {
		return nil, err
	}
	done := &Checked{Remote: r, Segments: len(s.known), Damaged: s.damaged, Read: s.locked == nil}
	for _, l := range s.at.logs {
		done.Logs = append(done.Logs, s.checked(l, done.Read))
	}
	s.count(done)
	if err := s.has(newest); err != nil {
		done.Damaged = append(done.Damaged, err)
		done.Torn = slices.DeleteFunc(done.Torn, func(name string) bool { return name == err.Name })
	}
	if b, err = r.openAs(false); err != nil {
		return nil, err
	}
	if done.Can, err = bucket.Probe(ctx, b); err != nil {
		return nil, err
	}
	if keeper, ok := b.(bucket.Keeper); ok {
		done.Versioned, done.Locked, err = keeper.Keeps(ctx)
	}
	return done, err
}

// has asks for the segment that this store pushed last, by its stamp: whether an object that is whole has it. No other machine can know
// that it is missing, since nothing continues it.
func (s *survey) has(newest string) *BadObjectError {
	end, ok := parseStamp(newest)
	if !ok || len(s.at.pieces[parentOf(end)]) > 0 {
		return nil
	}
	for _, name := range s.at.torn {
		if n, ok := parseSegmentName(name); ok && n.stamp == end {
			return &BadObjectError{name, "its length is not the one that its name says, and this store pushed it last"}
		}
	}
	return &BadObjectError{"segment " + parentOf(end), "this store pushed it last, and it is not there"}
}

// checked looks at all segments of a log.
func (s *survey) checked(l Log, read bool) CheckedLog {
	c := CheckedLog{Log: l, Signed: read}
	for id := l.ID; ; id = s.known[id].parent {
		one, ok := s.known[id]
		if !ok {
			return c
		}
		c.Signed, c.Damaged = c.Signed && one.signed, c.Damaged || read && !one.read
		c.Machine = cmp.Or(c.Machine, one.machine)
	}
}

// count sorts the objects by what they are for.
func (s *survey) count(done *Checked) {
	needed := map[string]bool{}
	for _, one := range s.known {
		for _, p := range one.packs {
			needed[p] = true
		}
	}
	held := map[string]bool{}
	for m, ids := range s.whole {
		for _, id := range ids {
			for _, p := range s.at.pieces[id] {
				held[p.object.String()] = held[p.object.String()] || !p.object.merge() || p.object != m && p.id == p.object.end && subset(s.whole[p.object], ids)
			}
		}
	}
	for name, o := range s.objects {
		to := &done.Unneeded
		n, segment := parseSegmentName(name)
		switch {
		case segment && n.size != o.Size:
			done.Torn = append(done.Torn, name)
		case segment && !held[name]:
			to = &done.Objects
		case segment:
		case strings.HasPrefix(name, packs) && (needed[name] || !done.Read):
			to = &done.Packs
		case !strings.HasPrefix(name, packs):
			continue
		}
		to.Objects++
		to.Bytes += o.Size
	}
	slices.Sort(done.Torn)
}

// NoPolicyError: a remote is in a place that knows no policies.
type NoPolicyError struct{ URL string }

func (e *NoPolicyError) Error() string { return e.URL + " is no bucket" }

// statement is one of a policy, in the language of AWS.
type statement struct {
	Sid       string                       `json:"Sid"`
	Effect    string                       `json:"Effect"`
	Action    string                       `json:"Action"`
	Resource  string                       `json:"Resource"`
	Condition map[string]map[string]string `json:"Condition,omitempty"`
}

// Policy is one for the user or role of a machine that pushes: it can read, and write what is not there yet, and neither overwrite nor
// delete. Error: *NoPolicyError.
func (r *Remote) Policy() (string, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "s3" {
		return "", &NoPolicyError{r.URL}
	}
	place := "arn:aws:s3:::" + u.Host
	prefix := strings.Trim(u.Path, "/")
	objects, list := place+"/*", statement{"RewindList", "Allow", "s3:ListBucket", place, nil}
	if prefix != "" {
		objects = place + "/" + prefix + "/*"
		list.Condition = map[string]map[string]string{"StringLike": {"s3:prefix": prefix + "/*"}}
	}
	data, err := json.MarshalIndent(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", []statement{list,
		{"RewindRead", "Allow", "s3:GetObject", objects, nil},
		{"RewindWriteOnce", "Allow", "s3:PutObject", objects, map[string]map[string]string{"Null": {"s3:if-none-match": "false"}}},
	}}, "", "  ")
	return string(data), err
}
