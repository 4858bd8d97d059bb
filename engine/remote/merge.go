package remote

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
)

// When objects are merged, so that a listing, and a clone of months, stay small. Tests make these numbers small.
var (
	mergeCount = 64       // objects that follow each other become one
	smallMerge = 1 << 20  // of those that have fewer bytes
	mergeBytes = 16 << 20 // that a merge has at most
)

// Merged is what Merge did.
type Merged struct {
	Merges   int // new objects
	Objects  int // that these hold
	Bytes    int64
	Requests int
}

// Merge merges small objects of this store's log where there are many, and asks the remote nothing where there are not. The objects are
// read from the remote: 64 small ones cost less than a copy of them here would. What they hold is not changed, and they stay: GC removes
// them later. An interrupted merge, and two at once, do no harm. Errors: those of package bucket, *BadObjectError.
func (r *Remote) Merge(ctx context.Context) (done *Merged, err error) {
	done = &Merged{}
	m, due, err := r.takeMerge(ctx)
	if err != nil || !due {
		return done, err
	}
	b, err := r.bucket()
	if err != nil {
		return done, err
	}
	objects, err := b.List(ctx, ofWriter(m.Writer))
	if err != nil {
		return done, err
	}
	before, _ := parseStamp(m.Before)
	in := &reader{b: b, at: list(objects), requests: 1}
	defer func() { done.Requests = in.requests }()
	for {
		run := in.at.mergeable(parentOf(before))
		if run == nil {
			return done, nil
		}
		var all []sealedSegment
		err := inOrder(ctx, len(run), func(ctx context.Context, i int) ([]sealedSegment, error) {
			return in.segments(ctx, run[i])
		}, func(_ int, some []sealedSegment) error {
			all = append(all, some...)
			return nil
		})
		if err != nil {
			return done, err
		}
		n, body, err := encodeMerge(all)
		if err != nil {
			return done, err
		}
		in.requests++
		if err := b.Put(ctx, n.String(), body); err != nil {
			return done, err
		}
		in.at.add(n)
		done.Merges++
		done.Objects += len(run)
		done.Bytes += n.size
	}
}

// takeMerge decides whether this process is to merge. If it fails, others try again when as many segments have come.
func (r *Remote) takeMerge(ctx context.Context) (m mark, due bool, err error) {
	if err := r.p.BeginWriting(ctx); err != nil || r.mark().Unmerged < mergeCount { // of what was pushed since the last look
		return m, false, err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return m, false, err
	}
	defer lock.Release()
	if m = r.mark(); m.Unmerged < mergeCount || m.Before == "" || m.First {
		return m, false, nil
	}
	m.Unmerged = 0
	return m, true, r.write(markName, m)
}

// mergeable finds objects of one writer's log that follow each other, and are to be one: segments, or small merges.
func (l *listed) mergeable(to string) []piece {
	path, lost := l.path(noParent, to)
	for _, p := range lost { // the rest is another writer's
		if longer, _ := l.path(p.object.parent, to); len(longer) > len(path) {
			path = longer
		}
	}
	var run []piece
	for i, p := range path {
		if i > 0 && p.object.merge() != path[i-1].object.merge() || p.object.size >= int64(smallMerge) {
			run = nil
		}
		if p.object.size >= int64(smallMerge) {
			continue
		}
		if run = append(run, p); len(run) == mergeCount {
			bytes := int64(0)
			for i, p := range run {
				if bytes += p.object.size; bytes > int64(mergeBytes) && i > 1 {
					return run[:i]
				}
			}
			return run
		}
	}
	return nil
}

// mergeAll merges what is due in any remote that is pushed to without a command. What fails is tried again later.
func mergeAll(ctx context.Context, p *project.Project) {
	all, err := List(p)
	if err != nil {
		return
	}
	for _, r := range slices.DeleteFunc(all, func(r *Remote) bool { return r.Manual || r.resting() }) {
		_, _ = r.Merge(ctx)
	}
}
