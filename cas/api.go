package cas

import (
	"context"
	"io"
	"iter"
	"time"

	"rewind/cas/vfs"
)

// ID addresses an object: the BLAKE3-256 hash of its bytes.
type ID [32]byte

// Options says where a store is and how it behaves.
type Options struct {
	Dir      string                  // the objects directory
	Vault    string                  // directory of the packs' second names (hard links); "" for none
	LockDir  string                  // directory of the lock files
	StoreID  [16]byte                // written into every pack header, checked on open
	FS       vfs.FS                  // nil: vfs.OS
	Owner    func(file string) error // gives a created file to its rightful owner; nil: nothing
	NoSync   bool                    // durability "fast": no fsync
	ReadOnly bool                    // never writes, takes no lock that needs a writable file
	Now      func() time.Time        // nil: time.Now
}

// Store is an open store. Opening reads a directory and no more: indexes are
// mapped at the first look-up that needs them.
type Store struct{ _ int }

// Position names a place in the log: the end of a commit. It is small, fixed
// in size, and comparable.
type Position struct {
	Pack   uint32   // number of the log pack
	Offset int64    // first byte after the commit record
	Seq    uint64   // the commit's sequence number
	Sum    [16]byte // the commit's checksum
}

// Commit is one entry of the log.
type Commit struct {
	Seq      uint64
	Payload  []byte
	Position Position
}

func Sum(data []byte) ID             { panic("stub") }
func Open(o Options) (*Store, error) { panic("stub") }
func (s *Store) Close() error        { panic("stub") }

// Generation counts the events after which cached ids may be gone: gc, repair.
func (s *Store) Generation() (uint64, error) { panic("stub") }

// Use takes the shared users lock until release is called.
func (s *Store) Use(ctx context.Context) (release func(), err error) { panic("stub") }

// Has reports whether the object is in the store.
func (s *Store) Has(id ID) (bool, error) { panic("stub") }

// Get appends the object's bytes to dst. Errors: *NotFoundError, *DamagedError.
func (s *Store) Get(dst []byte, id ID) ([]byte, error) { panic("stub") }

// Commits yields the log from sequence number from on, in order.
func (s *Store) Commits(from uint64) iter.Seq2[Commit, error] { panic("stub") }

// Last is the position of the newest commit; the zero Position for an empty log.
func (s *Store) Last() (Position, error) { panic("stub") }

// Holds reports, with one read, whether p is the end of a good commit of this log.
func (s *Store) Holds(p Position) (bool, error) { panic("stub") }

// Batch stages objects for one commit.
type Batch struct{ _ int }

func (s *Store) NewBatch() *Batch { panic("stub") }

// Writer returns a staging writer for one goroutine.
func (b *Batch) Writer() *Writer { panic("stub") }

// Get reads an object of the batch or of the store (staged ones included).
func (b *Batch) Get(dst []byte, id ID) ([]byte, error) { panic("stub") }
func (b *Batch) Has(id ID) (bool, error)               { panic("stub") }

// StoredBytes is what the batch has added so far: compressed, with headers.
func (b *Batch) StoredBytes() int64 { panic("stub") }

// Discard drops what is staged and removes the batch's own pack if nothing of it was flushed.
func (b *Batch) Discard() error { panic("stub") }

// Writer stages objects of one goroutine.
type Writer struct{ _ int }

// Put stages data under id unless it is known; data is not kept. base, if not
// zero, is an older version to store a delta against where that is smaller.
func (w *Writer) Put(id ID, data []byte, base ID) (added bool, err error) { panic("stub") }

// PutFile cuts r by content into chunks, stages them and a List, and returns the List's id.
func (w *Writer) PutFile(r io.Reader) (id ID, list List, err error) { panic("stub") }

// Flush hands the writer's open block to the batch. Commit wants all writers flushed.
func (w *Writer) Flush() error { panic("stub") }

// List is the content of a chunked file.
type List struct {
	Size   int64
	Sum    ID // BLAKE3-256 of the whole file
	Chunks []Chunk
}

// Chunk is one run of a chunked file.
type Chunk struct {
	ID   ID
	Size uint32
}

func ParseList(data []byte) (List, error) { panic("stub") }

// Appender holds the append lock. Only it can add to the log.
type Appender struct{ _ int }

// Append takes the append lock (waiting until ctx ends: *BusyError) and
// recovers the tail that a crash may have left.
func (s *Store) Append(ctx context.Context) (*Appender, error) { panic("stub") }

// Last is the newest commit's position.
func (a *Appender) Last() Position { panic("stub") }

// Commit makes the batch durable (b may be nil), then the payload a commit of
// the log with the next sequence number, with one fsync of the log.
func (a *Appender) Commit(b *Batch, payload []byte) (Position, error) { panic("stub") }
func (a *Appender) Close() error                                      { panic("stub") }
