package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// packed says what a pack holds, for pushes of other projects that can rely on it.
type packed struct {
	stamp string
	ids   [][16]byte // of its objects, the first half of each
	bases [][16]byte // of its deltas, that are in what was pushed before it, likewise
}

// maxIndexes is how many indexes a push reads at most, the newest ones, and maxIndex how many bytes one has at most.
const (
	maxIndexes = 64
	maxIndex   = 64 << 20
)

// encodeIndex makes an index of packs: the head names them, and the body has for each the number of ids, and of bases, and these.
func encodeIndex(k keyring.Key, all []packed) ([]byte, error) {
	var h head
	var body []byte
	for _, p := range all {
		h.Packs = append(h.Packs, p.stamp)
		body = binary.AppendUvarint(body, uint64(len(p.ids)))
		body = binary.AppendUvarint(body, uint64(len(p.bases)))
		for _, x := range slices.Concat(p.ids, p.bases) {
			body = append(body, x[:]...)
		}
	}
	if err := h.sign(k, ofIndex, body); err != nil {
		return nil, err
	}
	return h.padded(body)
}

// parseIndex gives nothing for what is no index that was made with the key that it is sealed for.
func parseIndex(o opened) (all []packed) {
	if !o.head.signed(ofIndex, o.bundle) {
		return nil
	}
	rest := o.bundle
	count := func() int {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > maxIndex {
			return -1
		}
		rest = rest[size:]
		return int(n)
	}
	for _, stamp := range o.head.Packs {
		ids, bases := count(), count()
		if ids < 0 || bases < 0 || len(rest) < (ids+bases)*16 {
			return nil
		}
		both := make([][16]byte, ids+bases)
		for i := range both {
			rest = rest[copy(both[i][:], rest):]
		}
		all = append(all, packed{stamp, both[:ids], both[ids:]})
	}
	return all
}

// errRelied says that a push relies on packs that are there already: what they hold need not go.
var errRelied = errors.New("other projects have pushed some of it")

// rely looks for packs of other projects that hold nothing but what this push needs: what they forget then, this project has all the same. Packs that
// are sealed for an earlier key, that are condemned, or that are not there do not count. The error is errRelied where there are some.
func (u *pushing) rely(ctx context.Context) error {
	k, err := u.Key()
	if err != nil { // who does not have it can read no index
		return nil
	}
	in := &reader{b: u.b, requests: 1, keys: unlocked{}}
	in.keys.Chain.Keys = keyring.Keys{k}
	defer func() { u.done.Requests += in.requests }()
	objects, err := u.b.List(ctx, indexes)
	if err != nil {
		return err
	}
	slices.SortFunc(objects, func(a, b bucket.Object) int { return b.Time.Compare(a.Time) })
	var found []packed
	for _, o := range objects[:min(len(objects), maxIndexes)] {
		s, ok := parseStamp(strings.TrimPrefix(o.Name, indexes))
		if !ok || s.size > maxIndex || s.size != o.Size {
			continue
		}
		sealed, err := in.get(ctx, o.Name, s)
		if errors.As(err, new(*BadObjectError)) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if opened, err := in.open(o.Name, sealed); err == nil {
			found = append(found, parseIndex(opened)...)
		}
	}
	used, stamps := u.chosen(found)
	if len(used) == 0 {
		return nil
	}
	lost, err := condemnedNow(ctx, in, stamps)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p packed) bool { return slices.Contains(lost, p.stamp) })
	if used, stamps = u.chosen(found); len(used) == 0 {
		return nil
	}
	if err := u.sent.write(used); err != nil {
		return err
	}
	u.sent.n += len(used)
	u.m.Sent = u.sent.n
	u.done.Relied += len(stamps)
	u.m.Packs = append(u.m.Packs, stamps...)
	if err := u.write(markName, u.m); err != nil {
		return err
	}
	return errRelied
}

// chosen are the packs of which all objects are needed, and the bases of all deltas are there, each after those that it relies on.
func (u *pushing) chosen(found []packed) (ids []oid.ID, stamps []string) {
	found = slices.Clone(found)
	have := map[[16]byte]bool{}
	for again := true; again; {
		again = false
		found = slices.DeleteFunc(found, func(p packed) bool {
			fresh := false
			for _, x := range p.ids {
				_, needed := u.needs[x]
				if !needed && !u.sent.bases[x] {
					return true
				}
				fresh = fresh || needed && !have[x]
			}
			if !fresh {
				return true
			}
			for _, x := range p.bases {
				if !have[x] && !u.sent.bases[x] {
					return false
				}
			}
			for _, x := range p.ids {
				if id, needed := u.needs[x]; needed && !have[x] {
					ids = append(ids, id)
				}
				have[x] = true
			}
			stamps = append(stamps, p.stamp)
			again = true
			return true
		})
	}
	return ids, stamps
}

// index tells pushes of other projects what the packs of this one hold. Without it, they send everything themselves: so a failure is none.
func (u *pushing) index(ctx context.Context) {
	k, err := u.Key()
	if err != nil || len(u.packed) == 0 {
		return
	}
	data, err := encodeIndex(k, u.packed)
	if err != nil {
		return
	}
	if sealed, err := u.encrypt(data); err == nil && len(sealed) <= maxIndex {
		_ = u.put(ctx, indexes+stampOf(sealed).String(), sealed)
	}
	u.packed = nil
}

// oldIndexes removes the indexes of packs that are all gone, and what is none, a day after it came.
func (g *collecting) oldIndexes(ctx context.Context) error {
	for name, o := range g.objects {
		s, ok := parseStamp(strings.TrimPrefix(name, indexes))
		if !strings.HasPrefix(name, indexes) || g.age(name) < mergedStays {
			continue
		}
		if ok && s.size == o.Size && s.size <= maxIndex {
			sealed, err := g.get(ctx, name, s)
			if err != nil && g.note(err) != nil {
				return err
			}
			if opened, err := g.open(name, sealed); err == nil && slices.ContainsFunc(parseIndex(opened), func(p packed) bool {
				pack := packs + p.stamp
				return g.isWhole(pack) && !g.gone[pack]
			}) {
				continue
			}
		}
		if err := g.remove(ctx, &g.done.Dead, name); err != nil {
			return err
		}
	}
	return nil
}
