package scan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// walk is what the workers of one walk share.
type walk struct {
	o       *Options
	ctx     context.Context
	h       *Cache // nil: nothing is known
	verdict *verdict
	stale   map[int32][]int32 // entries to look at again, by ordinal
	all     bool              // list everything: other rules decided, or nothing is to be trusted
	rules   *ignore.Rules
	gate    *gate
	key     uint64 // of seed
	trust   trust
	dev     uint64
	mounts  map[string]bool // what something is mounted over
	start   time.Time
	began   time.Time // by our own clock, when it was that time
	scopes  sync.Mutex
	queue   *queue
	stop    *atomic.Bool
	hinted  bool        // only what the hints name was compared
	linked  atomic.Bool // a file was read that has another name, which may be another path of this tree
	last    bool        // files are looked at again for the last time
	top     *node

	looked, bytes *atomic.Int64

	mu        sync.Mutex
	err       error
	databases map[databaseKey]*database // of which files were read
	workers   []*worker
}

type worker struct {
	id       int
	w        *walk
	dirs     opener
	problems []problem.Problem
	removed  []int32
	fresh    []task // what to look at once more when all else is done
	data     []byte // manifest bytes being built
	read     int64
	bytes    int64
	ctimes   []ctime
	linked   []string // files that were looked at and have another name
}

// ctime is when a path was changed, in nanoseconds since 1970.
type ctime struct {
	path string
	at   int64
}

// fail ends the walk; the first error counts.
func (w *walk) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.stop.Store(true)
	w.queue.wake()
}

// run walks until everything is done or failed.
func (w *walk) run(workers int, open func() opener) error {
	w.top = &node{ord: -1}
	if w.h != nil {
		w.top.ord = 0
	}
	w.top.pending.Store(1)
	w.workers = make([]*worker, workers)
	for i := range w.workers {
		w.workers[i] = &worker{id: i, w: w}
	}
	w.queue.push(0, task{n: w.top})
	w.work(workers, open)
	if w.err != nil {
		return w.err
	}
	w.settle(workers, open)
	return w.err
}

// work lets workers empty the queue.
func (w *walk) work(workers int, open func() opener) {
	var wg sync.WaitGroup
	for _, k := range w.workers[:workers] {
		wg.Go(func() {
			k.dirs = open()
			defer k.dirs.close()
			for {
				t, ok := w.queue.take(k.id)
				if !ok {
					return
				}
				if err := k.do(t); err != nil {
					w.fail(err)
					return
				}
				w.queue.done()
			}
		})
	}
	wg.Wait()
}

func (k *worker) do(t task) error {
	var err error
	switch {
	case t.files != nil:
		err = k.readFiles(t.n, t.files)
	case t.looks != nil:
		err = k.share(t.n, t.looks)
	case t.fresh != nil:
		err = k.lookAgain(t.n, t.fresh)
	case t.database != "":
		err = k.compare(t.n, t.database)
	case k.mustList(t.n):
		err = k.list(t.n)
	default:
		err = k.patch(t.n)
	}
	if err != nil {
		return err
	}
	return k.release(t.n)
}

// mustList reports whether a node's names are to be looked at.
func (k *worker) mustList(n *node) bool {
	if n.ord < 0 || n.redecide || k.w.all || k.w.verdict.status[n.ord]&dirNames != 0 {
		return true
	}
	stale := k.w.stale[n.ord]
	if len(stale) == 0 {
		return false
	}
	// A rule file that changed decides anew about everything beside and below it.
	records, ok := k.w.h.records(n.ord)
	return !ok || slices.ContainsFunc(stale, func(i int32) bool { return ignore.RuleFile(records[i].name) })
}

// status of a directory of the stat cache, as verified.
func (w *walk) status(ord int32) uint8 {
	if w.all {
		return dirNames
	}
	return w.verdict.status[ord]
}

// patch looks again at single entries of a directory whose names are unchanged.
func (k *worker) patch(n *node) error {
	w := k.w
	d := &w.h.dirs[n.ord]
	records, ok := w.h.records(n.ord)
	if !ok {
		return errDamaged
	}
	n.mode, n.fp, n.rules = d.mode, d.fp, d.rules
	n.ents = make([]entry, len(records))
	var tasks []task
	for i := range records {
		r, e := &records[i], &n.ents[i]
		*e = entry{name: r.name, kind: r.kind, slot: r.slot, reason: r.reason, known: true, was: r.captured(), ord: -1}
		if r.kind&kindMask == kindDir {
			e.ord, e.slot = int32(r.slot), 0
			if w.status(e.ord) != 0 {
				tasks = append(tasks, k.child(n, e, e.ord, false))
			}
		}
	}
	stale := w.stale[n.ord]
	if len(stale) == 0 {
		w.queue.push(k.id, tasks...)
		return nil
	}
	at, err := k.dirs.hold(n)
	if err != nil {
		k.lose(n, err)
		return nil
	}
	var reads []int32
	for _, i := range stale {
		e := &n.ents[i]
		if kind := e.kind & kindMask; kind == kindExempt || kind == kindFailed {
			st, err := at.lstat(e.name)
			if err != nil {
				k.missing(n, e, err)
				continue
			}
			n.decide(k.scopeOf(n, nil), e, st.dir())
			e.known = false
			if e.refuse() {
				continue
			}
			if e.kind&kindMask == kindDir {
				tasks = append(tasks, k.child(n, e, -1, false))
				continue
			}
		}
		if e.kind&flagSmall != 0 {
			n.decide(k.scopeOf(n, nil), e, false) // for the reason, should it be too large now
		}
		if k.examine(n, at, e, &records[i], 0) {
			reads = append(reads, i)
		}
	}
	return k.spread(n, reads, tasks)
}

// child links a directory below n that is walked.
func (k *worker) child(n *node, e *entry, ord int32, redecide bool) task {
	c := &node{parent: n, name: e.name, depth: n.depth + 1, ord: ord, descend: e.kind&flagDescend != 0, redecide: redecide}
	c.pending.Store(1)
	n.pending.Add(1)
	e.child, e.known = c, false
	return task{n: c}
}

// lose gives up a directory that could not be opened or listed.
func (k *worker) lose(n *node, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || isNotDir(err):
		k.drop(n, 0, "")
		n.gone = true
		k.problems = append(k.problems, problem.New(n.path(), problem.Vanished, false))
	default:
		k.drop(n, kindFailed, unreadable(err))
	}
}

// drop leaves a directory out for a reason.
func (k *worker) drop(n *node, kind byte, reason string) {
	n.problem, n.reason, n.ents = kind, reason, nil
	if n.ord >= 0 {
		k.removed = append(k.removed, n.ord)
	}
}

// spread queues the files to read and the directories below.
func (k *worker) spread(n *node, reads []int32, tasks []task) error {
	k.w.looked.Add(int64(len(n.ents) - len(tasks)))
	return k.enqueue(n, reads, tasks)
}

// enqueue reads a few files at once, and queues them where there are more, with other tasks.
func (k *worker) enqueue(n *node, reads []int32, tasks []task) error {
	const few = 64
	if len(reads) <= few {
		k.w.queue.push(k.id, tasks...)
		return k.readFiles(n, reads)
	}
	var parts []task
	for part := range slices.Chunk(reads, few) {
		n.pending.Add(1)
		parts = append(parts, task{n: n, files: part})
	}
	k.w.queue.push(k.id, append(parts, tasks...)...)
	return nil
}

// fingerprint is what the stat cache keeps of a status: 0 when it is racy.
func (w *walk) fingerprint(s *stat) uint64 {
	if s.racy(w.start) {
		return 0
	}
	return w.trust.seed.fingerprint(s)
}

// noteCtime keeps the ctime of what is new or changed. Where nothing is known, everything is.
func (k *worker) noteCtime(path func() string, s *stat) {
	if k.w.h != nil && len(k.ctimes) < maxCtimes {
		k.ctimes = append(k.ctimes, ctime{path(), s.ctime*1e9 + s.ctimeNs})
	}
}

// noteLinked keeps a file that has another name: a change through that one causes no event here.
func (k *worker) noteLinked(n *node, e *entry, s *stat) {
	if s.regular() && s.links > 1 && len(k.linked) <= maxAgain {
		k.linked = append(k.linked, rootfs.Join(n.path(), e.name))
	}
}

func (k *worker) checkLate(path func() string, s *stat) {
	if !k.w.o.Late.IsZero() && s.after(k.w.o.Late) {
		k.problems = append(k.problems, problem.New(path(), problem.Late, true))
	}
}
