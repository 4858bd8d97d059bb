package revert

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// keepDatabases keeps a file of a database of SQLite as a conflict where another file of it changed since the work did something
// to it, and stays as it is: together they would be of two moments.
func (v *reverting) keepDatabases() error {
	goes := map[string]bool{}
	for _, f := range v.files {
		goes[f.path] = f.changes
	}
	for again := true; again; {
		again = false
		for _, f := range v.files {
			if !goes[f.path] || len(f.mine) == 0 || !v.ofDatabase(f) {
				continue
			}
			for _, suffix := range sqlite.Suffixes {
				other := sqlite.Base(f.path) + suffix
				if goes[other] {
					continue
				}
				steps, err := v.who.Steps(other)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(steps, func(s attribution.Step) bool { return s.To.Seq >= f.mine[0].To.Seq }) {
					f.keepWhole(v, "it is one SQLite database with "+other+", which was changed since and stays as it is")
					f.unpair(v)
					goes[f.path], again = false, true
					break
				}
			}
		}
	}
	return nil
}

func (v *reverting) ofDatabase(f *fileRevert) bool {
	is := func(e *manifest.Entry) bool {
		return e != nil && sqlite.MayBe(f.path, e.Size) && (treeio.OfDatabase(v.Tx, *e) || v.IsDatabase(sqlite.Base(f.path), v.Now))
	}
	return is(f.now) || is(f.to)
}
