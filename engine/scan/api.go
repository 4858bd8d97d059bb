// Package scan finds what changed in a working tree, at about the cost of one
// stat call per file.
//
//  1. LoadHead reads the stat cache: what the last scan saw, and the ids that
//     it led to.
//  2. Run compares the tree with it in parallel, reads only what differs,
//     gives it to a Sink, and builds the manifests of changed directories
//     bottom up.
//  3. Result.Publish writes the new head, once the commit that it relies on
//     is durable.
//
// docs/RACY.md says when a file counts as unchanged.
package scan

import (
	"context"
	"os"
	"time"

	"rewind/engine/ignore"
	"rewind/manifest"
)

// Sink takes what a scan reads. Methods are called from several goroutines;
// worker is 0..Workers-1 and never used by two at once.
type Sink interface {
	// Content takes a regular file's content. prev is the id of the path's last version (zero
	// if none): a hint for deltas. f is positioned at 0, size is from fstat. It returns the kind
	// (File or Chunked), the id and the number of bytes read.
	Content(worker int, f *os.File, size int64, prev manifest.ID) (manifest.Kind, manifest.ID, int64, error)
	// Dir takes a directory manifest's canonical bytes.
	Dir(worker int, data []byte, prev manifest.ID) (manifest.ID, error)
	// Load returns a manifest of an earlier tree.
	Load(id manifest.ID) (manifest.Dir, error)
}

// Stamp ties a head to the store: opaque bytes that the caller compares.
type Stamp [64]byte

// Head is a loaded stat cache. A nil *Head is an empty one.
type Head struct{ _ int }

// LoadHead reads the head file; a missing, damaged or foreign one gives nil, nil.
func LoadHead(file string) (*Head, error) { panic("stub") }
func (h *Head) Stamp() Stamp              { panic("stub") }

// Root is the root manifest that the head stands for.
func (h *Head) Root() manifest.ID { panic("stub") }

// Restamp gives an unchanged head file a new stamp (after gc).
func Restamp(file string, s Stamp) error { panic("stub") }

// Options of a run.
type Options struct {
	Root        string // directory, real path
	Rules       *ignore.Rules
	Head        *Head // nil: everything is read
	Sink        Sink
	Moment      time.Time                // start of the scan on the project file system's clock
	Workers     int                      // 0: GOMAXPROCS
	MaxFileSize int64                    // larger files are coverage; 0: no limit
	Rehash      bool                     // trust no stat
	Progress    func(files, bytes int64) // called from time to time, from one goroutine at once; may be nil
	Late        time.Time                // zero, or: paths whose ctime is after it are reported as late
}

// Problem is one path that is not in the result as it is on disk.
type Problem struct {
	Path   string
	Reason string // "socket", "fifo", "device", "unreadable: …", "torn", "vanished", "mount point", "larger than maxFileSize", "late", "ignored: <rule>"
	Failed bool   // it should have been captured (exit code 3), not policy
}

// Result of a run.
type Result struct {
	Root         manifest.ID
	Files, Bytes uint64
	Problems     []Problem // sorted by path
	Unchanged    bool      // the root equals the head's
	Read         int64     // files read
	ReadBytes    int64
}

// Run scans. Errors are for the whole scan only (root gone, sink failed, ctx ended).
func Run(ctx context.Context, o Options) (*Result, error) { panic("stub") }

// Publish writes the head that follows from the run: nothing, an appended
// delta, or a new file. The caller holds the append lock. If another process
// published since the head was loaded, it does nothing.
func (r *Result) Publish(file string, s Stamp, owner func(string) error) error { panic("stub") }
