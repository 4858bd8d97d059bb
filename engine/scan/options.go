package scan

import (
	"io"
	"os"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

// Sink takes what a scan reads. Methods are called from several goroutines;
// worker is 0..Workers-1 and never used by two at once.
type Sink interface {
	// Content takes a regular file's content. prev is the id of the path's last version (zero
	// if none): a hint for deltas. size is from fstat. It returns the kind
	// (File or Chunked), the id and the number of bytes read. f ends after size bytes, whatever becomes of
	// the file. Where reading f failed, an error means that the file is a Problem; any other ends the scan.
	Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error)
	// Dir takes a directory manifest's canonical bytes, which it must not keep.
	Dir(worker int, data []byte, prev oid.ID) (oid.ID, error)
	// Load returns a manifest of an earlier tree.
	Load(id oid.ID) (manifest.Dir, error)
}

// Options of a run.
type Options struct {
	Root        string // directory, real path
	Rules       *ignore.Rules
	Cache       *Cache // nil: everything is read
	Sink        Sink
	Start       time.Time                // start of the scan on the project file system's clock
	Workers     int                      // 0: GOMAXPROCS
	MaxFileSize int64                    // larger files are coverage; 0: no limit
	Rehash      bool                     // trust no stat
	Progress    func(files, bytes int64) // called from time to time, from one goroutine at once; may be nil
	Late        time.Time                // zero, or: paths whose ctime is after it are reported as late
	// Unsynced is zero, or: paths whose ctime is after it are looked at and read again. The system was started anew since
	// the stat cache was published, and what was written from then on may have lost its content to a power cut, but not its status.
	Unsynced time.Time
	// Within, if not nil, names the only paths that may have changed since the
	// stat cache was published: all else is taken to be as the stat cache has it. If the stat cache
	// is unusable, even in part, Within is ignored.
	Within []string

	// Hints, if not nil, stand in for a look at all that the stat cache has. They are not used where something
	// is mounted below the root, other rules decide, or the stat cache cannot be used: then everything is looked at.
	Hints *Hints

	// Beside, if not nil, are entries of the root's manifest that the caller adds, by name. A file in the tree with one of these names
	// is ignored.
	Beside []manifest.Entry
	// Gone, if not nil, is told of each name that was captured and is not there. It is called from several goroutines.
	Gone func(path string, dir bool)

	writerOf func(*os.File) writer
	portable bool // use the portable paths although better ones exist
}

// Result of a run.
type Result struct {
	Root         oid.ID
	Files, Bytes uint64
	Mode         uint32            // permission bits of the root
	Problems     []problem.Problem // sorted by path; at most 1,000 of them ignored paths, the rest is summed up in a last one
	Repos        []string          // the paths of each .git below the root, sorted: of git repositories and of their worktrees
	Unchanged    bool              // the root equals the stat cache's
	Read         int64             // files read
	ReadBytes    int64
	// Ctimes says of what the scan read or listed, beside a stat cache, when it was changed: nanoseconds since 1970 by
	// path, "" the root. Of more than maxCtimes some are missing.
	Ctimes map[string]int64

	// Hinted says that only what the hints name was looked at, Again which paths the next hints have to name, Unsure that there are
	// too many of them, and CacheID identifies the stat cache that knows what was seen: the one that was loaded, and after Publish
	// that one; "" where there is none.
	Hinted, Unsure bool
	Again          []string
	CacheID        string

	cache   *Cache // what the scan started from, nil if nothing of it was used
	loaded  *Cache // what the caller loaded
	renew   bool   // what of it was in doubt has been looked at: its stamp is to change though nothing else does
	conf    uint64
	key     uint64  // of the fingerprints
	top     *node   // nil: every directory is as in the stat cache
	removed []int32 // directories of the stat cache that are gone, with all below
}

// maxCtimes bounds Ctimes, for each worker.
const maxCtimes = 8192

// maxIgnored bounds the ignored paths that a Result lists.
const maxIgnored = 1000

// Up to where ignore.IfSmall and ignore.Precious take a file, in bytes.
const (
	smallFile    = 1 << 20
	preciousFile = 10 << 20
)
