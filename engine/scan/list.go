package scan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// list reads a directory's names and decides what becomes of each.
func (k *worker) list(n *node) error {
	w := k.w
	if n.depth > manifest.MaxDepth {
		k.drop(n, kindFailed, fmt.Sprintf("deeper than %d directories", manifest.MaxDepth))
		return nil
	}
	at, err := k.dirs.hold(n)
	if err != nil {
		if n.parent == nil {
			return err
		}
		k.lose(n, err)
		return nil
	}
	st, err := at.stat()
	if err == nil && st.dev != w.dev || len(w.mounts) > 0 && n.parent != nil && w.mounts[n.path()] {
		k.drop(n, kindExempt, problem.MountPoint)
		return nil
	}
	var names []dirent
	if err == nil {
		names, err = at.list()
	}
	if err != nil {
		if n.parent == nil {
			return err
		}
		k.lose(n, err)
		return nil
	}
	n.mode = uint16(st.mode & modePerm)
	n.fp = w.fingerprint(&st)
	k.checkLate(n.path, &st)
	k.noteCtime(n.path, &st)

	var records []record
	var oldRules uint64
	if n.ord >= 0 {
		var ok bool
		if records, ok = w.h.records(n.ord); !ok {
			return errDamaged
		}
		oldRules = w.h.dirs[n.ord].rules
	}
	texts := k.ruleTexts(n, names)
	n.rules = texts.hash
	redecide := n.redecide || w.all || n.rules != oldRules

	var sc *ignore.Scope
	n.ents = make([]entry, 0, len(names))
	var tasks []task
	var reads []int32
	var looks []peek
	next := 0
	for i := range names {
		de := &names[i]
		var old *record
		for next < len(records) && records[next].name < de.name {
			k.forget(n, &records[next])
			next++
		}
		if next < len(records) && records[next].name == de.name {
			old = &records[next]
			next++
		}
		if de.mode == 0 {
			st, err := at.lstat(de.name)
			if errors.Is(err, fs.ErrNotExist) {
				if old != nil {
					k.forget(n, old)
				}
				n.fp = 0
				k.problems = append(k.problems, problem.New(rootfs.Join(n.path(), de.name), problem.Vanished, false))
				continue
			}
			if err == nil {
				de.mode = st.mode & modeType
			} else {
				de.mode = modeRegular // reading it will say what is wrong
			}
		}
		dir := de.mode == modeDir
		n.ents = append(n.ents, entry{name: de.name, ord: -1, was: old.captured()})
		e := &n.ents[len(n.ents)-1]
		if !e.keep(old, redecide, dir) {
			if sc == nil {
				sc = k.scopeOf(n, texts.read)
			}
			n.decide(sc, e, dir)
		}
		switch {
		case e.refuse():
			k.replaced(old)
		case e.kind&kindMask == kindDir:
			ord := int32(-1)
			if old != nil && old.kind&kindMask == kindDir {
				ord = int32(old.slot)
			}
			if ord >= 0 && !redecide && w.status(ord) == 0 && old.kind&flagDescend == e.kind&flagDescend {
				e.ord, e.known = ord, true
				continue
			}
			t := k.child(n, e, ord, redecide)
			t.n.changed = old != nil && old.kind&flagDescend != e.kind&flagDescend
			tasks = append(tasks, t)
		case dir:
			k.replaced(old)
		default:
			k.replaced(old)
			if len(w.mounts) > 0 && e.kind&kindMask != kindIgnored && w.mounts[rootfs.Join(n.path(), de.name)] {
				e.set(kindExempt|flagReason, problem.MountPoint)
				continue
			}
			if len(names) > manyLooks && len(w.workers) > 1 {
				looks = append(looks, peek{int32(len(n.ents) - 1), old, de.mode})
			} else if k.examine(n, at, e, old, de.mode) {
				reads = append(reads, int32(len(n.ents)-1))
			}
		}
	}
	for ; next < len(records); next++ {
		k.forget(n, &records[next])
	}
	for part := range slices.Chunk(looks, manyLooks) {
		n.pending.Add(1)
		tasks = append(tasks, task{n: n, looks: part})
	}
	return k.spread(n, reads, tasks)
}

// manyLooks is from how many names on the workers share the looks at a directory's entries, and how many each takes at once.
const manyLooks = 512

// peek is an entry that is to be examined.
type peek struct {
	index int32
	old   *record
	typ   uint32
}

// share examines some of the entries of a large directory.
func (k *worker) share(n *node, looks []peek) error {
	at, err := k.dirs.hold(n)
	var reads []int32
	for _, l := range looks {
		if e := &n.ents[l.index]; err != nil {
			k.missing(n, e, err)
		} else if k.examine(n, at, e, l.old, l.typ) {
			reads = append(reads, l.index)
		}
	}
	return k.enqueue(n, reads, nil)
}

// refuse sees to it that what could not be put back is not captured: every restore refuses the name.
func (e *entry) refuse() bool {
	if e.kind&kindMask == kindIgnored || !rootfs.IsDotGit(e.name) || strings.EqualFold(e.name, ".git") {
		return false
	}
	e.set(kindFailed|flagReason, "git takes its name for .git on another system, so it could not be restored")
	return true
}

// keep takes over the decision that the stat cache holds, where it must be the same again.
func (e *entry) keep(old *record, redecide, dir bool) bool {
	if old == nil || redecide {
		return false
	}
	switch {
	case old.kind&kindMask == kindDir && dir:
		e.kind, e.reason = old.kind, old.reason
		return true
	case old.captured() && old.kind&kindMask != kindDir && old.kind&flagSmall == 0 && !dir:
		e.kind = kindFile | old.kind&flagMarked
		return true
	}
	return false
}

// forget notes that a name of the stat cache is no longer there.
func (k *worker) forget(n *node, old *record) {
	n.changed = n.changed || old.captured()
	if gone := k.w.o.Gone; gone != nil && old.captured() {
		gone(rootfs.Join(n.path(), old.name), old.kind&kindMask == kindDir)
	}
	k.replaced(old)
}

// replaced notes that a name of the stat cache is no longer a directory that is captured.
func (k *worker) replaced(old *record) {
	if old != nil && old.kind&kindMask == kindDir {
		k.removed = append(k.removed, int32(old.slot))
	}
}

// ruleTexts are the rule files of one directory, as read.
type ruleTexts struct {
	text map[string][]byte
	hash uint64 // 0: no rule files
}

func (t ruleTexts) read(name string) []byte { return t.text[name] }

// ruleTexts reads the rule files among the names.
func (k *worker) ruleTexts(n *node, names []dirent) ruleTexts {
	var t ruleTexts
	var d xxhash.Digest
	for i := range names {
		name := names[i].name
		if name[0] != '.' || !ignore.RuleFile(name) {
			continue
		}
		text := k.ruleFile(n, name)
		if text == nil {
			continue
		}
		if t.text == nil {
			t.text = make(map[string][]byte)
			d.Reset()
		}
		t.text[name] = text
		_, _ = d.WriteString(name)
		_, _ = d.Write([]byte{0})
		_, _ = d.Write(text)
		_, _ = d.Write([]byte{0})
	}
	if t.text != nil {
		t.hash = max(d.Sum64(), 1)
	}
	return t
}

// ruleFile reads a rule file directly in n, as long as it is when it is opened; nil
// when there is none that can be read, or that git would read.
func (k *worker) ruleFile(n *node, name string) []byte {
	at, err := k.dirs.open(n)
	if err != nil {
		return nil
	}
	f, st, err := at.openFile(name, name)
	if err != nil || f == nil {
		return nil
	}
	defer f.Close()
	if st.size > ignore.MaxRuleFile {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, st.size))
	if err != nil {
		return nil
	}
	return text
}
