package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// maxCondemned is how many bytes a list of condemned objects has at most.
const maxCondemned = 16 << 20

// condemnation is a list of objects that no segment named when it was written.
type condemnation struct {
	Condemned []string `json:"condemned"`
}

// readCondemned reads one list of condemned objects. What is not whole, or is none, names nothing.
func readCondemned(ctx context.Context, r *reader, name string) ([]string, error) {
	s, ok := parseStamp(strings.TrimPrefix(name, condemned))
	if !ok || s.size > maxCondemned {
		return nil, nil
	}
	data, err := r.get(ctx, name, s)
	var c condemnation
	if errors.As(err, new(*BadObjectError)) || errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(data, &c) != nil {
		return nil, nil
	}
	return c.Condemned, err
}

// condemnedNow are those of some packs that gc has put on a list, or that are not there.
func condemnedNow(ctx context.Context, r *reader, stamps []string) (lost []string, err error) {
	r.requests++
	lists, err := r.b.List(ctx, condemned)
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	for _, o := range lists {
		names, err := readCondemned(ctx, r, o.Name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			on[n] = true
		}
	}
	r.requests++
	there, err := r.b.List(ctx, packs) // behind the lists: gc removes a list after what is on it
	if err != nil {
		return nil, err
	}
	unseen := missing(there, stamps)
	for _, text := range stamps {
		s, _ := parseStamp(text)
		switch name := s.packName(); {
		case on[name]:
			lost = append(lost, text)
		case slices.Contains(unseen, text): // a listing can lag behind: the object itself says whether it is there
			_, err := r.get(ctx, name, s)
			if errors.As(err, new(*BadObjectError)) || errors.Is(err, fs.ErrNotExist) {
				lost = append(lost, text)
			} else if err != nil {
				return nil, err
			}
		}
	}
	return lost, nil
}

// missing are those of some packs that a listing does not show whole.
func missing(listing []bucket.Object, stamps []string) (lost []string) {
	size := map[string]int64{}
	for _, o := range listing {
		size[o.Name] = o.Size
	}
	for _, text := range stamps {
		s, _ := parseStamp(text)
		if size[s.packName()] != s.size {
			lost = append(lost, text)
		}
	}
	return lost
}
