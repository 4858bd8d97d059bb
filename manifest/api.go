package manifest

import (
	"context"
	"iter"
	"time"
)

// ID is the hash of an object's bytes: a directory manifest or a file's content.
type ID [32]byte

// Kind is what an entry is.
type Kind uint8

const (
	File    Kind = 1 // content is one object
	Chunked Kind = 2 // a file whose content is a list object of chunks
	Symlink Kind = 3
	Subdir  Kind = 4
)

// Entry is one name in a directory.
type Entry struct {
	Name   string // bytes as they are on disk; never empty, ".", "..", or with "/" or NUL
	Kind   Kind
	Mode   uint32 // permission bits with setuid, setgid, sticky: 07777; 0 for a symlink
	Size   uint64 // bytes; of a directory: the bytes of all files below
	Files  uint64 // of a directory: the number of files and symlinks below
	ID     ID     // content, list, or directory manifest; zero for a symlink
	Target string // of a symlink
}

// Dir is a directory manifest: entries sorted by Name, bytewise.
type Dir struct{ Entries []Entry }

// Append appends the canonical bytes. Same entries, same bytes.
func (d Dir) Append(dst []byte) []byte { panic("stub") }

// ParseDir parses canonical bytes and refuses all others (*FormatError).
func ParseDir(data []byte) (Dir, error) { panic("stub") }

// Lookup finds an entry by name (binary search).
func (d Dir) Lookup(name string) (Entry, bool) { panic("stub") }

// CheckpointID is 80 random bits, written as 16 letters from k to z.
type CheckpointID [10]byte

func (id CheckpointID) String() string                 { panic("stub") }
func ParseCheckpointID(s string) (CheckpointID, error) { panic("stub") }

// CheckpointKind says why a checkpoint was taken.
type CheckpointKind string

const (
	Manual       CheckpointKind = "manual"
	Prompt       CheckpointKind = "prompt"
	PreTool      CheckpointKind = "pre-tool"
	PostTool     CheckpointKind = "post-tool"
	SessionStart CheckpointKind = "session-start"
	Stop         CheckpointKind = "stop"
	SessionEnd   CheckpointKind = "session-end"
	Safety       CheckpointKind = "safety"
)

// Checkpoint is one moment: a tree, a place in the conversation, and why.
type Checkpoint struct {
	Seq                      uint64 // the commit's sequence number; not part of the payload
	ID                       CheckpointID
	Time                     time.Time // start of the scan, UTC, monotonic along the log
	Kind                     CheckpointKind
	Description              string
	Name                     string // as given at the save; later names are Mark records
	Pinned                   bool
	Root                     ID // root directory manifest
	Files                    uint64
	Bytes                    uint64
	Added, Modified, Deleted uint64       // against Parent
	Parent                   CheckpointID // the checkpoint before, zero for the first
	StoredBytes              uint64
	Coverage                 ID     // object listing what was not captured (JSON lines), zero for none
	Partial                  uint64 // paths that should have been captured and were not
	Rules                    ID     // object holding the ignore rules in force, zero for none
	Tool, Prompt, PromptID   string
	Session                  string // session id
	Agent                    string
	Subagent                 string
	GitHead, GitBranch       string
	Transcript               *Transcript
}

// Transcript is a place in a conversation and the bytes held of it.
type Transcript struct {
	Session string
	Agent   string
	Path    string // file path at capture
	Offset  uint64 // bytes of the transcript up to the last complete line
	EventID string // leaf event
	Content ID     // list of segments
}

// Record is one entry of the log: exactly one field is set.
type Record struct {
	Checkpoint *Checkpoint
	Mark       *Mark
	Delete     *Delete
	Operation  *Operation
	Rewrite    *Rewrite
	Session    *Session
}

// Mark names, renames, pins or unpins a checkpoint.
type Mark struct {
	Checkpoint CheckpointID
	Time       time.Time
	Name       *string // nil: as it was; "" takes the name away
	Pinned     *bool
}

// Delete forgets checkpoints (retention or gc).
type Delete struct {
	Time        time.Time
	Checkpoints []CheckpointID
	Reason      string
}

// Rewrite gives checkpoints new trees (forget): Roots[i] replaces the root of Checkpoints[i].
type Rewrite struct {
	Time        time.Time
	Checkpoints []CheckpointID
	Roots       []ID
}

// OperationKind is what an operation did.
type OperationKind string

const (
	OpRestore     OperationKind = "restore"
	OpUndo        OperationKind = "undo"
	OpUndoRestore OperationKind = "undo-restore"
	OpRedoRestore OperationKind = "redo-restore"
	OpGC          OperationKind = "gc"
	OpForget      OperationKind = "forget"
	OpRepair      OperationKind = "repair"
)

// Operation is one entry of the operation log, which undo-restore and redo-restore walk.
type Operation struct {
	Seq              uint64 // not part of the payload
	Time             time.Time
	Kind             OperationKind
	Checkpoint       CheckpointID // target, or zero
	Safety           CheckpointID // taken before anything was touched
	Before, After    ID           // root manifests around the operation, of the whole tree
	Paths            ID           // object listing the paths that the operation changed
	Undoes           uint64       // sequence number of the operation taken back or done again
	TranscriptBackup string
	Fork             string // file of the conversation fork that the operation made
}

// Session is an agent's session, as last seen.
type Session struct {
	ID, Agent, TranscriptPath, Parent, Source string
	Time                                      time.Time
}

// Append appends the record's canonical bytes.
func (r Record) Append(dst []byte) []byte { panic("stub") }

// ParseRecord parses them; unknown record kinds and fields are kept out, not refused, so that
// an older program reads a newer log of the same format version.
func ParseRecord(data []byte) (Record, error) { panic("stub") }

// Source is where the log and the trees are.
type Source interface {
	// Records yields the log from sequence number from on, in order.
	Records(from uint64) iter.Seq2[Sequenced, error]
	// Dir loads a directory manifest. Safe for concurrent use.
	Dir(id ID) (Dir, error)
}

// Sequenced is a record with its place in the log.
type Sequenced struct {
	Seq    uint64
	Record Record
}

// Options says where the database is.
type Options struct {
	Dir      string // manifests/
	Owner    func(file string) error
	ReadOnly bool
}

// Fold brings the database up to the log's end in a new generation. At most
// one fold runs at a time (a lock file in Dir); another's result is used.
func Fold(ctx context.Context, o Options, src Source) error { panic("stub") }

// DB answers queries. It is safe for concurrent use and must be closed.
type DB struct{ _ int }

// Open opens the current generation and reads the tail. A generation that
// does not open is dropped and folded anew; if that is not possible, the whole
// log is read in memory.
func Open(ctx context.Context, o Options, src Source) (*DB, error) { panic("stub") }
func (db *DB) Close() error                                        { panic("stub") }

// Query selects checkpoints, newest first.
type Query struct {
	Before  uint64 // sequence number, exclusive; 0: from the newest
	Limit   int    // 0: all
	Session string
	Kinds   []CheckpointKind // nil: all but safety
	All     bool             // safety checkpoints too
}

// Checkpoints yields checkpoints, newest first, with names and pins as they are now.
func (db *DB) Checkpoints(q Query) iter.Seq2[Checkpoint, error] { panic("stub") }

// ByID, ByName, ByPrefix find checkpoints. ByPrefix returns at most limit matches.
func (db *DB) ByID(id CheckpointID) (Checkpoint, bool, error)          { panic("stub") }
func (db *DB) ByName(name string) (Checkpoint, bool, error)            { panic("stub") }
func (db *DB) ByPrefix(prefix string, limit int) ([]Checkpoint, error) { panic("stub") }

// At finds the newest checkpoint at or before t (safety ones not counted).
func (db *DB) At(t time.Time) (Checkpoint, bool, error)    { panic("stub") }
func (db *DB) Count() (checkpoints, safety int, err error) { panic("stub") }

// Operations yields the operation log, newest first.
func (db *DB) Operations() iter.Seq2[Operation, error] { panic("stub") }
func (db *DB) Sessions() iter.Seq2[Session, error]     { panic("stub") }

// Change is one path that differs between a checkpoint and the one before.
type Change struct {
	Path     string
	Old, New *Entry // nil: absent
}

// Changes yields the entries of checkpoint seq that differ from its predecessor, by path.
func (db *DB) Changes(seq uint64) iter.Seq2[Change, error] { panic("stub") }

// History yields the versions of one path, newest first.
func (db *DB) History(path string) iter.Seq2[Sequenced, error] { panic("stub") }

// Diff walks two trees side by side, only where they differ, in path order
// (a directory before what is below it). A zero ID is the empty tree.
func Diff(load func(ID) (Dir, error), a, b ID, visit func(Change) error) error { panic("stub") }

// Walk visits every entry of a tree in path order.
func Walk(load func(ID) (Dir, error), root ID, visit func(path string, e Entry) error) error {
	panic("stub")
}
