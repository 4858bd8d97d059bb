package manifest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// world is a Source in memory: a log, and the directories of all trees.
type world struct {
	log []Sequenced

	mu   sync.Mutex
	dirs map[oid.ID]Dir
	gone map[oid.ID]bool // directories that cannot be loaded any more
}

func newWorld() *world { return &world{dirs: map[oid.ID]Dir{}, gone: map[oid.ID]bool{}} }

var errGone = errors.New("object is not in the store")

func (w *world) Dir(id oid.ID) (Dir, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, ok := w.dirs[id]
	if !ok || w.gone[id] {
		return Dir{}, errGone
	}
	return d, nil
}

func (w *world) Records(from uint64) iter.Seq2[Sequenced, error] {
	return func(yield func(Sequenced, error) bool) {
		i, _ := slices.BinarySearchFunc(w.log, from, func(r Sequenced, from uint64) int { return cmp.Compare(r.Seq, from) })
		for _, r := range w.log[i:] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// add appends a record as a store would: through its bytes.
func (w *world) add(r Record) uint64 {
	parsed, err := ParseRecord(r.Append(nil))
	if err != nil {
		panic(err)
	}
	seq := uint64(1)
	if n := len(w.log); n > 0 {
		seq = w.log[n-1].Seq + 1
	}
	w.log = append(w.log, Sequenced{Seq: seq, Record: parsed})
	return seq
}

// tree is a plain tree: paths of files, links and directories.
type tree map[string]Entry

// store puts a tree's manifests into the world.
func (w *world) store(t tree) oid.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.storeDir(t, "")
	return e.ID
}

func (w *world) storeDir(t tree, dir string) Entry {
	var d Dir
	total := Entry{Kind: Subdir}
	for path, e := range t {
		parent, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			parent, name = path[:i], path[i+1:]
		}
		if parent != dir {
			continue
		}
		if e.Kind == Subdir {
			sub := w.storeDir(t, path)
			e.ID, e.Size, e.Files = sub.ID, sub.Size, sub.Files
			total.Files += sub.Files
		} else {
			total.Files++
		}
		total.Size += e.Size
		e.Name = name
		d.Entries = append(d.Entries, e)
	}
	slices.SortFunc(d.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if err := d.Check(); err != nil {
		panic(err)
	}
	total.ID = sha256.Sum256(d.Append(nil))
	w.dirs[total.ID] = d
	delete(w.gone, total.ID)
	return total
}

// flat is what Walk should see of a tree.
func (w *world) flat(t tree) tree {
	out := tree{}
	var add func(dir string, id oid.ID)
	add = func(dir string, id oid.ID) {
		for _, e := range w.dirs[id].Entries {
			out[dir+e.Name] = e
			if e.Kind == Subdir {
				add(dir+e.Name+"/", e.ID)
			}
		}
	}
	add("", w.store(t))
	return out
}

// pathOrder sorts paths: a directory, what is below it, then names that go on after its name.
func pathOrder(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// plainDiff is the changes between two flat trees, by definition.
func plainDiff(a, b tree) []Change {
	paths := slices.SortedFunc(maps.Keys(a), pathOrder)
	for path := range b {
		if _, ok := a[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, pathOrder)
	var all []Change
	for _, path := range paths {
		c := Change{Path: path}
		if e, ok := a[path]; ok {
			c.Old = &e
		}
		if e, ok := b[path]; ok {
			c.New = &e
		}
		same := c.Old != nil && c.New != nil && (*c.Old == *c.New ||
			c.Old.Kind == Subdir && c.New.Kind == Subdir && c.Old.Mode == c.New.Mode)
		if !same {
			all = append(all, c)
		}
	}
	return all
}

func (c Change) String() string {
	return fmt.Sprintf("%s: %v → %v", c.Path, short(c.Old), short(c.New))
}

func short(e *Entry) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s %d %o %d %x %s", e.Name, e.Kind, e.Mode, e.Size, e.ID[:3], e.Target)
}

func sameChanges(a, b []Change) bool { return slices.EqualFunc(a, b, sameChange) }

func sameChange(a, b Change) bool {
	return a.Path == b.Path && sameEntry(a.Old, b.Old) && sameEntry(a.New, b.New)
}

func sameEntry(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func at(n int) time.Time { return time.Unix(1_700_000_000+int64(n), 0).UTC() }

// Check reports the first entry that is not valid or not in order (*FormatError, whose Offset
// is the entry's index). What Check accepts, ParseDir accepts from Append.
func (d Dir) Check() error {
	for i := range d.Entries {
		reason := d.Entries[i].invalid()
		if i > 0 && d.Entries[i-1].Name >= d.Entries[i].Name {
			reason = "names not in ascending order"
		}
		if reason != "" {
			return &FormatError{What: "directory entry", Offset: i, Reason: reason}
		}
	}
	return nil
}

// Damaged is what was wrong with the generation, if anything was. The answers are
// right all the same: they come from the log.
func (db *DB) Damaged() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.damaged
}
