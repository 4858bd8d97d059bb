package treeio

import (
	"io"
	"slices"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/manifest"
)

// OfDatabase reports whether an entry is a file that begins as those of SQLite do; also where that cannot be read.
func OfDatabase(src Source, e manifest.Entry) bool {
	if !e.IsFile() {
		return false
	}
	f, err := src.Open(e)
	if err != nil {
		return true
	}
	defer f.Close()
	var head [sqlite.HeadSize]byte
	n, err := io.ReadFull(f, head[:])
	return sqlite.Begins(head[:n]) || err != nil && err != io.EOF && err != io.ErrUnexpectedEOF
}

// databases keeps the files of each database of SQLite in a directory together: where one of them would stay as it is now, or is
// torn in the target, none of them changes. from is the first change in the directory.
func (b *planner) databases(dir string, cd, td manifest.Dir, at *diskDir, from int) {
	var names []string
	changes := map[string]int{}
	for i, c := range b.Changes[from:] {
		parent, name := rootfs.Split(c.Path)
		if parent != dir || c.Action == Mode || !c.Before.IsFile() && !c.After.IsFile() {
			continue
		}
		if sqlite.MayBe(name, c.Before.Size) || sqlite.MayBe(name, c.After.Size) {
			changes[name] = from + i
			names = append(names, sqlite.Base(name))
		}
	}
	slices.Sort(names)
	taken := map[int]bool{}
	for _, name := range slices.Compact(names) {
		b.database(dir, name, cd, td, at, changes, taken)
	}
	if len(taken) == 0 {
		return
	}
	kept := b.Changes[:from]
	for i, c := range b.Changes[from:] {
		if !taken[from+i] {
			kept = append(kept, c)
		}
	}
	b.Changes = kept
}

// database is databases for one of them; changes are by name, and what does not stay of them is put into taken.
func (b *planner) database(dir, base string, cd, td manifest.Dir, at *diskDir, changes map[string]int, taken map[int]bool) {
	var goes []int
	var left problem.Cause
	is := false
	whole, _ := td.Lookup(base)
	for _, suffix := range sqlite.Suffixes {
		name := base + suffix
		c, _ := cd.Lookup(name)
		t, _ := td.Lookup(name)
		if i, ok := changes[name]; ok {
			goes = append(goes, i)
		} else if cause := b.mixes(rootfs.Join(dir, name), name, c, t, at); left.None() {
			left = cause
		}
	}
	if left.None() && len(goes) < 2 {
		return
	}
	for _, suffix := range sqlite.Suffixes {
		c, _ := cd.Lookup(base + suffix)
		t, _ := td.Lookup(base + suffix)
		is = is || OfDatabase(b.o.Source, c) || OfDatabase(b.o.Source, t)
	}
	if !is {
		return
	}
	failed := whole.IsFile() && left.Code != problem.TargetIsTorn
	if !failed {
		left.Code = problem.Other
	}
	for _, i := range goes {
		if left.Text == "" {
			b.Changes[i].database = rootfs.Join(dir, base)
			continue
		}
		taken[i] = true
		b.leave(b.Changes[i].Path, left, failed)
	}
}

// mixes says why the other files of a database do not change, where one does not: it is of now, or torn, and they would be as
// in the target. An empty file is as good as none.
func (b *planner) mixes(path, name string, c, t manifest.Entry, at *diskDir) problem.Cause {
	if !b.doubtful(path, t).None() {
		return problem.Cause{Code: problem.TargetIsTorn, Text: reasonDatabase + path + ", which was being written when the checkpoint was taken"}
	}
	info, err := at.lstat(name)
	none := err == nil && (info.Kind == 0 || info.Kind == rootfs.Regular && info.Size == 0)
	if none && Nothing(t) || c.Kind != 0 && t.Kind != 0 && b.sameContent(c, t) {
		return problem.Cause{}
	}
	return problem.Cause{Code: problem.InTheWay, Text: reasonDatabase + path + ", which would stay as it is now"}
}

// Nothing reports whether there is no entry, or an empty file.
func Nothing(e manifest.Entry) bool { return e.Kind == 0 || e.IsFile() && e.Size == 0 }
