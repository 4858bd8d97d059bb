package manifest

import (
	"iter"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Source is where the log and the trees are.
type Source interface {
	// Records yields the log from sequence number from on, in order. An entry that is no
	// record is yielded as an *EntryError, and those after it follow; any other error ends the log.
	Records(from uint64) iter.Seq2[Sequenced, error]
	// Dir loads a directory manifest. Safe for concurrent use.
	Dir(id oid.ID) (Dir, error)
}

// Options says where the database is.
type Options struct {
	Dir      string                  // manifests/
	Owner    func(file string) error // gives a created file or directory to its rightful owner; nil: nothing
	ReadOnly bool                    // never writes
}
