package scan

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/sqlite"
)

// database is a database of which this scan has read a file.
type database struct {
	seen  map[string]stat // of each of its files that was read: its status then
	armed bool            // the files are to be compared: one of them began as SQLite's do
	tries int             // how often a file was read again
	next  time.Time       // not before
}

// databaseKey is the directory and the name of a database.
type databaseKey struct {
	n    *node
	name string
}

// noteDatabase keeps the status of a file that was read, if it may belong to a database.
func (w *walk) noteDatabase(n *node, name string, st *stat, begins bool) {
	key := databaseKey{n, sqlite.Base(name)}
	if !begins && !sqlite.Beside(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.databases[key]
	if d == nil {
		d = &database{seen: map[string]stat{}}
		if w.databases == nil {
			w.databases = map[databaseKey]*database{}
		}
		w.databases[key] = d
	}
	d.seen[name] = *st
	if begins {
		d.arm(n)
	}
}

// arm has the files compared, when all others are at rest. The caller holds the walk's mu.
func (d *database) arm(n *node) {
	if !d.armed {
		d.armed = true
		n.pending.Add(1) // its manifest waits
	}
}

// comparisons are the databases to compare, and when.
func (w *walk) comparisons() (tasks []task, due time.Time) {
	for key, d := range w.databases {
		if d.armed {
			d.armed = false
			tasks = append(tasks, task{n: key.n, database: key.name})
			if due.Before(d.next) {
				due = d.next
			}
		}
	}
	return tasks, due
}

// compare looks whether the files of a database are as they were read, or as the stat cache has them. Then all of them were so
// at one moment, this one. Else those that changed are read again, and a journal that came is waited for until it is gone. A database that does not
// come to rest is torn.
func (k *worker) compare(n *node, name string) error {
	at, err := k.dirs.hold(n)
	if err != nil {
		return nil // gone or moved: the next scan lists its parent
	}
	w := k.w
	w.mu.Lock()
	d := w.databases[databaseKey{n, name}]
	w.mu.Unlock()
	end := w.last || d.tries >= attempts
	agree, again, torn := true, false, []int32(nil)
	for _, part := range sqlite.Suffixes {
		st, err := at.lstat(name + part)
		i := slices.IndexFunc(n.ents, func(e entry) bool { return e.name == name+part })
		if i < 0 || !n.ents[i].captured() {
			if part == "" {
				return nil // nothing that could be torn
			}
			// One that came after its directory was listed, and holds something. What a rule leaves out was never there.
			if err == nil && st.size > 0 && (i < 0 || n.ents[i].kind == 0) {
				agree = false
			}
			continue
		}
		e := &n.ents[i]
		torn = append(torn, int32(i))
		w.mu.Lock()
		was, read := d.seen[e.name]
		w.mu.Unlock()
		switch {
		case err != nil:
			k.vanish(n, e)
			n.fp = 0
		case read && st.same(&was) && st.ino == was.ino, !read && e.slot != 0 && w.trust.unchanged(&st, e.slot):
			continue
		case !end:
			again = true
			e.known = false
			got, err := k.readFile(n, at, e, rootfs.Join(n.path(), e.name))
			if err != nil {
				return err
			}
			k.later(n, k.followUp(nil, n, int32(i), got, d.tries))
		}
		agree = false
	}
	switch {
	case agree:
	case end:
		for _, i := range torn {
			n.ents[i].slot = 0
		}
		k.torn(n, &n.ents[torn[0]])
	default:
		w.mu.Lock()
		defer w.mu.Unlock()
		if again {
			d.tries++
		}
		d.next = time.Now().Add(fineGrain)
		d.arm(n)
	}
	return nil
}
