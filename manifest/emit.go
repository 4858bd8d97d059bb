package manifest

import (
	"errors"
	"slices"

	"github.com/rewind-cli/rewind/manifest/table"
)

// spillSize is how many bytes of keys and values a fold holds before it writes them as a run: 16 MiB are the first
// checkpoint of about 125,000 files. A checkpoint with more than largeSet changes is written in several runs where it is
// larger; a smaller one is in memory whole. Tests make them small.
var (
	spillSize = 16 << 20
	largeSet  = uint64(100_000)
)

var one = []byte{1}

// emit writes what the state holds in memory, in the keys of a generation.
func (f *folder) emit(m meta) error {
	s, b := f.state, &f.batch
	for _, seq := range s.fresh {
		b.Add(idKey(s.checkpoints[seq].ID), appendSeq(nil, seq))
		if s.index.at(seq) == 0 {
			continue
		}
		if err := f.checkpoint(s.checkpoints[seq]); err != nil {
			return err
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	for seq, c := range s.checkpoints {
		if _, fresh := slices.BinarySearch(s.fresh, seq); fresh {
			continue
		}
		if s.index.at(seq) != 0 {
			b.Add(seqKey(keyCheckpoint, seq), Record{Checkpoint: c}.Append(nil))
			continue
		}
		b.Add(seqKey(keyCheckpoint, seq), nil)
		b.Add(timeKey(c.Time, seq), nil)
		if c.Session != "" {
			b.Add(appendNewest(ofSessionKey(c.Session), seq), nil)
		}
	}
	for name, seq := range s.names {
		switch {
		case seq != 0:
			b.Add(nameKey(name), appendSeq(nil, seq))
		case s.gen != nil: // a generation from the start has no name to take away, and does not say that there was one
			b.Add(nameKey(name), nil)
		}
	}
	for _, o := range s.operations {
		b.Add(appendNewest([]byte{keyOperation}, o.Seq), Record{Operation: o}.Append(nil))
	}
	for name, at := range s.sessions {
		b.Add(sessionKey(name.agent, name.id), sequenced(at.seq, Record{Session: &at.session}))
	}
	for name, binding := range s.bindings {
		b.Add(bindingKey(name), sequenced(binding.Seq, Record{Binding: binding}))
	}
	f.emitTouches()
	for i := range s.index.buckets {
		if bucket := &s.index.buckets[i]; bucket.dirty {
			b.Add(seqKey(keyBucket, bucket.number), bucket.codes)
		}
	}
	b.Add([]byte{keyMeta}, m.append(nil))
	err := f.spill()
	f.batch = table.Pending{} // a merge needs memory, too
	return err
}

// checkpoint writes a new, living checkpoint.
func (f *folder) checkpoint(c *Checkpoint) error {
	b := &f.batch
	b.Add(seqKey(keyCheckpoint, c.Seq), Record{Checkpoint: c}.Append(nil))
	b.Add(timeKey(c.Time, c.Seq), one)
	if c.Session != "" {
		b.Add(appendNewest(ofSessionKey(c.Session), c.Seq), one)
	}
	h := setHeader{base: f.state.index.prev(c.Seq, &anyKind)}
	root, err := f.state.rootBefore(c.Seq)
	if err != nil {
		return err
	}
	large := c.Added+c.Modified+c.Deleted > largeSet
	if large {
		if err := f.spill(); err != nil {
			return err
		}
	}
	before, runs := len(b.Entries), len(f.fresh)
	err = Diff(f.load, root, c.Root, func(change Change) error {
		if h.count++; h.count%1000 == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		key := appendPath(seqKey(keyChanges, c.Seq), change.Path)
		if len(key) > longestKey-8 {
			return errLongPath
		}
		b.Add(key, appendChange(nil, change.bare()))
		b.Add(appendNewest(historyKey(change.Path), c.Seq), one)
		if large && len(b.Data) > spillSize {
			return f.spill()
		}
		return nil
	})
	switch {
	case err == nil:
	case err == errLongPath, errors.As(err, new(*TreeError)), errors.As(err, new(*DepthError)):
		// One bad tree does not keep the others out: whoever asks for this
		// checkpoint's changes gets them, or the error, from the trees themselves.
		b.Truncate(before)
		if err := f.takeBack(runs); err != nil {
			return err
		}
		h = setHeader{unfolded: true}
		b.Add(seqKey(keyUnfolded, c.Seq), one)
	default:
		return err
	}
	b.Add(seqKey(keyChanges, c.Seq), h.append(nil))
	if len(b.Data) > spillSize {
		return f.spill()
	}
	return nil
}

var errLongPath = errors.New("path too long for a key")
