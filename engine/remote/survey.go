package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// survey is what a look at all that a remote has found.
type survey struct {
	*reader
	now     time.Time // by the clock that gave the objects their times
	objects map[string]bucket.Object
	whole   map[segmentName][]string // merges that were read and are what their names say, with the ids of what they hold
	known   map[string]surveyed      // segments by their ids
	damaged []error                  // *BadObjectError, *GapError, *MissingPackError
	gaps    map[string]error         // by the ids of logs
	locked  error                    // *KeyError: some segment is sealed for a key that is not here
}

// surveyed is a segment, wherever it was found.
type surveyed struct {
	segmentName
	packs   []string // names of the packs that its commits need
	machine string   // in the first segment of a writer
	signed  bool
	read    bool
}

// MissingPackError: a segment names a pack that is not there, or is not whole.
type MissingPackError struct{ Segment, Pack string }

func (e *MissingPackError) Error() string {
	return fmt.Sprintf("%s is missing or not whole, and %s needs it", e.Pack, e.Segment)
}

// survey asks the remote whether it is the one that this store knows, and reads all of its segments. The time is that of an object that is put for it: by the
// same clock as all others, so that neither the clock of this machine counts nor that of another one. Without its key, it is not known what segments
// name: that is *KeyError, or with keyless no error but locked.
func (r *Remote) survey(ctx context.Context, b bucket.Bucket, keyless bool) (*survey, error) {
	s := &survey{reader: &reader{b: b, requests: 1}, objects: map[string]bucket.Object{}, whole: map[segmentName][]string{}, known: map[string]surveyed{}, gaps: map[string]error{}}
	a, err := r.described(ctx, b)
	if bad := (*BadObjectError)(nil); keyless && errors.As(err, &bad) { // the rest is looked at as what this store knows
		s.damaged, a, err = append(s.damaged, bad), about{ID: r.ID, Recipient: r.Recipient}, nil
	}
	if err != nil {
		return nil, err
	}
	s.keys, err = unlock(ctx, b, r.p.Env, a, GivenKey{}, r.Keys)
	var none *KeyError
	if keyless && errors.As(err, &none) {
		s.locked, err = none, nil
	}
	if err != nil {
		return nil, err
	}
	s.requests += s.keys.requests
	if err := s.list(ctx, r.URL); err != nil {
		return nil, err
	}
	if err := s.readMerges(ctx); err != nil {
		return nil, err
	}
	if err := s.readSegments(ctx); err != nil {
		return nil, err
	}
	for _, log := range s.at.logs {
		if _, err := s.chain(ctx, noParent, log.ID); err != nil {
			s.damaged = append(s.damaged, err)
			s.gaps[log.ID] = err
		}
	}
	for _, one := range s.known {
		for _, p := range one.packs {
			if !s.isWhole(p) {
				s.damaged = append(s.damaged, &MissingPackError{one.String(), p})
			}
		}
	}
	return s, nil
}

// list puts an object for its time, lists all objects, and removes it again, where that is allowed.
func (s *survey) list(ctx context.Context, url string) error {
	clock := clocks + strings.ToLower(rand.Text())
	s.requests += 2
	if err := s.b.Put(ctx, clock, []byte("rewind asks for the time\n")); err != nil {
		return err
	}
	all, err := s.b.List(ctx, "")
	if err != nil {
		return err
	}
	s.at = list(all)
	for _, o := range all {
		s.objects[o.Name] = o
	}
	s.now = s.objects[clock].Time
	if s.now.IsZero() {
		return &bucket.UnreachableError{Host: url, Err: errors.New("its listing does not show yet what was just written")}
	}
	delete(s.objects, clock)
	s.requests++
	if err := s.b.Delete(ctx, clock); err != nil && !denied(err) {
		return err
	}
	return nil
}

// denied reports whether an error says that something is not allowed.
func denied(err error) bool {
	return errors.As(err, new(*bucket.DeniedError))
}

// isWhole reports whether a pack is there with the length that its name says.
func (s *survey) isWhole(pack string) bool {
	o, there := s.objects[pack]
	stamp, ok := parseStamp(strings.TrimPrefix(pack, packs))
	return there && ok && o.Size == stamp.size
}

// age is how long an object has been there.
func (s *survey) age(name string) time.Duration { return s.now.Sub(s.objects[name].Time) }

// readMerges reads all merges, with the segments in them.
func (s *survey) readMerges(ctx context.Context) error {
	merges := s.at.merges
	return inOrder(ctx, len(merges), func(ctx context.Context, i int) ([]sealedSegment, error) {
		all, err := s.merge(ctx, merges[i])
		return all, s.note(err)
	}, func(i int, all []sealedSegment) error {
		if all == nil {
			s.at.bad[merges[i].String()] = true
			return nil
		}
		s.at.open(merges[i], all)
		s.whole[merges[i]] = s.at.read[merges[i].String()]
		for _, one := range all {
			s.learn(one)
		}
		return nil
	})
}

// readSegments reads the segments that no merge has.
func (s *survey) readSegments(ctx context.Context) error {
	var alone []segmentName
	for id, all := range s.at.pieces {
		for _, p := range all {
			if !p.object.merge() && !s.known[id].read {
				alone = append(alone, p.object)
			}
		}
	}
	return inOrder(ctx, len(alone), func(ctx context.Context, i int) ([]byte, error) {
		sealed, err := s.get(ctx, alone[i].String(), alone[i].stamp)
		return sealed, s.note(err)
	}, func(i int, sealed []byte) error {
		s.learn(sealedSegment{alone[i], sealed})
		return nil
	})
}

// note keeps what is wrong with an object; any other error is given back.
func (s *survey) note(err error) error {
	if !errors.As(err, new(*BadObjectError)) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged = append(s.damaged, err)
	return nil
}

// learn keeps what a segment names. One that could not be read, or decrypted, is known by its name.
func (s *survey) learn(one sealedSegment) {
	id := parentOf(one.stamp)
	if s.known[id].read {
		return
	}
	found := surveyed{segmentName: one.segmentName}
	if one.sealed != nil && len(s.keys.Chain.Keys) == 0 {
		found.read = true
	} else if one.sealed != nil {
		o, err := s.open(one.String(), one.sealed)
		if serious := s.note(err); serious != nil {
			s.locked = serious
		}
		if err == nil {
			found.read, found.machine, found.signed = true, o.head.Machine, o.head.signed(ofSegment, o.bundle)
			for _, p := range o.head.Packs {
				stamp, _ := parseStamp(p)
				found.packs = append(found.packs, stamp.packName())
			}
		}
	}
	s.known[id] = found
}

// ids are those of a log's segments, as far back as they are known.
func (s *survey) ids(log string) map[string]bool {
	all := map[string]bool{}
	for id := log; !all[id]; id = s.known[id].parent {
		if _, ok := s.known[id]; !ok {
			break
		}
		all[id] = true
	}
	return all
}
