package maintain

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// Stats are numbers about the store. All are bytes but for the counts.
type Stats struct {
	Checkpoints, Objects  int64            // safety checkpoints included
	Safety                int64            // of these
	Bytes                 map[string]int64 // on disk, by kind: packs, indexes, manifests, head, other
	RawBytes, StoredBytes int64            // of all objects: uncompressed, and in the store
	PerCheckpoint         []CheckpointBytes
	Largest               []PathBytes // the paths that take most, largest first
}

// CheckpointBytes are the stored bytes of a checkpoint's objects.
type CheckpointBytes struct {
	Checkpoint project.Listed
	Unique     int64 // in no other checkpoint
	New        int64 // in no older one
	Shared     int64
}

// PathBytes are the stored bytes of all versions of a path.
type PathBytes struct {
	Path     string
	Bytes    int64
	Versions int
}

// largestPaths is how many paths Stats names.
const largestPaths = 20

// StatsOf reads the log, all manifests and the indexes. It takes time and memory
// in proportion to the objects, and no lock that others wait for.
func StatsOf(ctx context.Context, p *project.Project) (*Stats, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	state, err := ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	s := &Stats{Checkpoints: int64(len(state.Checkpoints)), Bytes: map[string]int64{}}
	for _, c := range state.Checkpoints {
		if c.Kind == manifest.Safety {
			s.Safety++
		}
	}
	stored := map[oid.ID]int64{}
	objects := p.Counting("stats", "object")
	if err := p.Store.Objects(func(o cas.ObjectInfo) error {
		if s.Objects++; s.Objects%1024 == 0 {
			objects(int(s.Objects), 0)
		}
		s.RawBytes += o.Size
		s.StoredBytes += o.Stored
		stored[o.ID] = o.Stored
		return ctx.Err()
	}); err != nil {
		return nil, p.Classify(err)
	}
	if err := p.EachStoreFile(func(rel string, info fs.FileInfo) {
		s.Bytes[kindOfFile(rel)] += account.Allocated(info)
	}); err != nil {
		return nil, err
	}
	u := usage{p: p, stored: stored, totals: map[oid.ID]int64{}}
	if s.PerCheckpoint, err = u.checkpoints(ctx, state.Checkpoints); err != nil {
		return nil, p.Classify(err)
	}
	if s.Largest, err = u.largest(ctx, state.Checkpoints); err != nil {
		return nil, p.Classify(err)
	}
	return s, nil
}

// usage finds out which stored bytes belong to what.
type usage struct {
	p      *project.Project
	stored map[oid.ID]int64
	totals map[oid.ID]int64 // stored bytes below a directory, itself included
}

// checkpoints gives the unique and shared bytes of each. An object is unique
// to a checkpoint when the first and the last that have it are the same one;
// each of the two passes walks a directory once, however many checkpoints share it.
func (u *usage) checkpoints(ctx context.Context, all []manifest.Checkpoint) ([]CheckpointBytes, error) {
	first, err := u.firstUse(ctx, "stats: first uses", len(all), func(i int) manifest.Checkpoint { return all[i] })
	if err != nil {
		return nil, err
	}
	last, err := u.firstUse(ctx, "stats: last uses", len(all), func(i int) manifest.Checkpoint { return all[len(all)-1-i] })
	if err != nil {
		return nil, err
	}
	out := make([]CheckpointBytes, len(all))
	for id, i := range first {
		out[len(all)-1-last[id]].New += u.stored[id] // all are newest first
		if len(all)-1-last[id] == i {
			out[i].Unique += u.stored[id]
		}
	}
	count := u.p.Counting("stats: sizes", "checkpoint")
	numbers := numbersOf(all)
	for i, c := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		total, err := u.total(c.Root)
		if err != nil {
			return nil, err
		}
		out[i].Checkpoint = project.Listed{Checkpoint: c, N: numbers[c.ID]}
		out[i].Shared = max(0, total-out[i].Unique)
		count(i+1, len(all))
	}
	return out, nil
}

// firstUse maps each object to the first checkpoint, in the order of at, that has it.
func (u *usage) firstUse(ctx context.Context, phase string, n int, at func(int) manifest.Checkpoint) (map[oid.ID]int, error) {
	use := map[oid.ID]int{}
	m := reach.Of(u.p, false)
	count := u.p.Counting(phase, "checkpoint")
	for i := range n {
		before := len(m.Added())
		c := at(i)
		if err := m.Record(ctx, manifest.Record{Checkpoint: &c}); err != nil {
			return nil, err
		}
		for _, id := range m.Added()[before:] {
			use[id] = i
		}
		count(i+1, n)
	}
	return use, nil
}

// total is what a tree's objects take. One that a tree has twice counts twice.
func (u *usage) total(id oid.ID) (int64, error) {
	if id == (oid.ID{}) {
		return 0, nil
	}
	if total, ok := u.totals[id]; ok {
		return total, nil
	}
	dir, err := u.p.LoadDir(id)
	if err != nil {
		return 0, err
	}
	total := u.stored[id]
	for _, e := range dir.Entries {
		switch e.Kind {
		case manifest.Subdir:
			below, err := u.total(e.ID)
			if err != nil {
				return 0, err
			}
			total += below
		case manifest.File:
			total += u.stored[e.ID]
		case manifest.Chunked:
			chunks, err := u.chunks(e.ID)
			if err != nil {
				return 0, err
			}
			total += chunks
		}
	}
	u.totals[id] = total
	return total, nil
}

// chunks is what a chunked file's list and chunks take.
func (u *usage) chunks(id oid.ID) (int64, error) {
	if total, ok := u.totals[id]; ok {
		return total, nil
	}
	list, err := chunksOf(u.p, id)
	if err != nil {
		return 0, err
	}
	total := u.stored[id]
	for _, c := range list {
		total += u.stored[c]
	}
	u.totals[id] = total
	return total, nil
}

// largest names the paths whose versions take most. It walks only what differs
// from one checkpoint to the next.
func (u *usage) largest(ctx context.Context, all []manifest.Checkpoint) ([]PathBytes, error) {
	versions := map[string]map[oid.ID]bool{}
	sizes := map[string]int64{}
	before := oid.ID{}
	count := u.p.Counting("stats: paths", "checkpoint")
	for i := len(all) - 1; i >= 0; i-- {
		count(len(all)-1-i, len(all))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := manifest.Diff(u.p.LoadDir, before, all[i].Root, func(c manifest.Change) error {
			if !c.New.IsFile() || versions[c.Path][c.New.ID] {
				return nil
			}
			size := u.stored[c.New.ID]
			if c.New.Kind == manifest.Chunked {
				var err error
				if size, err = u.chunks(c.New.ID); err != nil {
					return err
				}
			}
			if versions[c.Path] == nil {
				versions[c.Path] = map[oid.ID]bool{}
			}
			versions[c.Path][c.New.ID] = true
			sizes[c.Path] += size
			return nil
		})
		if err != nil {
			return nil, err
		}
		before = all[i].Root
	}
	count(len(all), len(all))
	out := make([]PathBytes, 0, len(sizes))
	for path, size := range sizes {
		out = append(out, PathBytes{Path: path, Bytes: size, Versions: len(versions[path])})
	}
	slices.SortFunc(out, func(a, b PathBytes) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Path, b.Path))
	})
	return out[:min(len(out), largestPaths)], nil
}

func kindOfFile(rel string) string {
	switch {
	case strings.HasSuffix(rel, ".pack"):
		return "packs"
	case strings.HasPrefix(rel, account.ObjectsName+"/"):
		return "indexes"
	case strings.HasPrefix(rel, account.ManifestsName+"/"):
		return "manifests"
	case rel == account.StatCacheName:
		return "head"
	}
	return "other"
}
