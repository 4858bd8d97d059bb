package remote

import (
	"context"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// OpenAs has every remote lie in b until the function that it gives is called.
func OpenAs(b bucket.Bucket) (restore func()) {
	was := open
	open = func(string, bucket.Options) (bucket.Bucket, error) { return b, nil }
	return func() { open = was }
}

// NewestLog is the id of the log that the last push of r ended.
func NewestLog(r *Remote) (string, error) {
	s, _ := parseStamp(r.mark().Before)
	return parentOf(s), nil
}

// Sent is how many objects the mark says are there.
func (r *Remote) Sent() (int, error) {
	return r.mark().Sent, nil
}

// The sizes at which a push goes another way; tests make them small.
var (
	MaxObject   = &maxObject
	ManyObjects = &manyObjects
	KeptFrom    = &keptFrom
	Lengthen    = &lengthen
)

// MergeAt has so many objects merged until the function that it gives is called.
func MergeAt(count, small int) (restore func()) {
	was, wasSmall := mergeCount, smallMerge
	mergeCount, smallMerge = count, small
	return func() { mergeCount, smallMerge = was, wasSmall }
}

// HeldBy are the names of the objects that merges hold.
func HeldBy(b bucket.Bucket) (held []string, err error) {
	objects, err := b.List(context.Background(), segments)
	if err != nil {
		return nil, err
	}
	r := &reader{b: b, at: list(objects)}
	for _, m := range r.at.merges {
		all, err := r.merge(context.Background(), m)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			held = append(held, s.String())
		}
	}
	return held, nil
}

// Settle is how long Rotate waits for others.
var Settle = &settle

// FirstProcess is how long after the system the container was started.
var FirstProcess = &firstProcess

// ForgeIndex makes an index of packs that promises what is in r's list of sent objects: with another key, or marked as a segment is.
func ForgeIndex(r *Remote, stamps []string, asSegment bool) (name string, sealed []byte, err error) {
	m := r.mark()
	s, err := r.readSent(&m)
	if err != nil {
		return "", nil, err
	}
	defer s.close()
	p := packed{stamp: stamps[0]}
	for id := range s.whole {
		p.ids = append(p.ids, [16]byte(id[:]))
	}
	k, err := keyring.New()
	if err != nil {
		return "", nil, err
	}
	data, err := encodeIndex(k, []packed{p})
	if asSegment && err == nil {
		h, body, perr := parseObject("", data)
		if perr != nil {
			return "", nil, perr
		}
		if k, err = r.Key(); err == nil {
			err = h.sign(k, ofSegment, body)
		}
		if err == nil {
			data, err = h.object(body)
		}
	}
	if err == nil {
		sealed, err = r.encrypt(data)
	}
	return indexes + stampOf(sealed).String(), sealed, err
}
