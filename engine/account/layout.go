package account

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Names below the account's directory.
const (
	MirrorsName = "vault"   // a mirror for each store, by its id
	StorageName = "storage" // the stores of global mode
)

// Names below the store directory; docs/FORMAT.md lists them.
const (
	FormatName    = "format"
	ConfigName    = "config.json"
	IgnoreName    = ".gitignore" // keeps git from seeing the store
	ObjectsName   = "objects"
	ManifestsName = "manifests"
	StatCacheName = "head"
	LockName      = "lock"
	TmpName       = "tmp"
	GitTemp       = "git-"      // before the name of a directory in tmp with git's own state as files
	GitName       = "git"       // of git repositories: caches, and objects that have no second name elsewhere; in the mirror, objects
	ForgottenName = "forgotten" // there: which of the objects are not to be held, and in the mirror, which such note was obeyed
	RestoreName   = "restore"
	RemotesName   = "remotes"      // of each remote: what is there already
	RemotesFile   = "remotes.json" // where the remotes are

	RestoreHistoryName = "restore-history.json" // for people and scripts: never read here
	SessionName        = "session.json"         // the newest session, for people and scripts
)

// FormatVersion is the newest store format that this program reads and writes.
const FormatVersion = 1

// StoreID is 16 random bytes that name a store on its account.
type StoreID [16]byte

func (id StoreID) String() string { return hex.EncodeToString(id[:]) }

// NewStoreID makes one that no store has.
func NewStoreID() StoreID {
	var id StoreID
	rand.Read(id[:])
	return id
}

// ParseStoreID reads 32 hexadecimal digits.
func ParseStoreID(s string) (StoreID, error) {
	var id StoreID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is not a store id", s)
	}
	copy(id[:], b)
	return id, nil
}

// Format is the content of the store's format file. Id names the store on this
// account; Origin is what its packs carry, and stays when a copy gets an id of
// its own.
type Format struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Origin  string `json:"origin"`
	Hash    string `json:"hash"`
	Chunker string `json:"chunker"`
	Root    string `json:"root"` // quoted as Go does, so that any byte survives
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Birth   int64  `json:"birth,omitempty"` // nanoseconds since 1970
	Next    string `json:"next,omitempty"`  // the id that a copy is about to get
	// Cloning says that the store is being filled by a clone. Where its log is empty, the clone was interrupted, or is under way.
	Cloning bool `json:"cloning,omitempty"`
}

const hashName = "blake3-256"

// ReadFormat reads and checks the format file.
func ReadFormat(store string) (Format, error) {
	var f Format
	file := filepath.Join(store, FormatName)
	data, err := vfs.ReadSmall(file, 1<<16, vfs.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return f, &FormatError{What: "its format file is missing", Err: err}
	}
	if err != nil {
		return f, fmt.Errorf("read %s: %w", file, err)
	}
	var probe struct {
		Version json.Number `json:"version"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return f, &FormatError{What: "its format file is not readable", Err: err}
	}
	if probe.Version == "" {
		return f, &FormatError{What: "its format file is not readable", Err: errors.New("it names no version")}
	}
	if probe.Version.String() != fmt.Sprint(FormatVersion) {
		return f, &FutureFormatError{Store: store, Version: probe.Version.String()}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, &FormatError{What: "its format file is not readable", Err: err}
	}
	if f.Hash == "" || f.Chunker == "" { // a later version has others, but not none
		return f, &FormatError{What: "its format file is not readable", Err: errors.New("it names no hash or no chunker")}
	}
	if f.Hash != hashName {
		return f, &FutureFormatError{Store: store, Version: fmt.Sprintf("%d with hash %q", f.Version, f.Hash)}
	}
	if f.Chunker != cas.Chunker {
		return f, &FutureFormatError{Store: store, Version: fmt.Sprintf("%d with chunker %q", f.Version, f.Chunker)}
	}
	if _, err := ParseStoreID(f.ID); err != nil {
		return f, &FormatError{What: "its format file is not readable", Err: err}
	}
	if _, err := ParseStoreID(f.Origin); err != nil {
		return f, &FormatError{What: "its format file is not readable", Err: err}
	}
	return f, nil
}

// Bytes is the content of the format file.
func (f Format) Bytes() []byte {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err) // a struct of strings and numbers always marshals
	}
	return append(data, '\n')
}

// IndexStateName is the file of what git's index was like when the rules were gathered last.
const IndexStateName = "index-state.json"

// IsStore reports whether dir has something of a store. A directory that has
// lost its format file still counts: it must be diagnosed, not made anew. One
// without packs as well is what is left of an init that was killed.
func IsStore(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, FormatName)); !vfs.IsMissing(err) {
		return true
	}
	if _, err := os.Lstat(filepath.Join(dir, RebuildingName)); err == nil {
		return false // it is being brought back, or was when the process died
	}
	names, err := os.ReadDir(filepath.Join(dir, ObjectsName))
	return len(names) > 0 || err != nil && !vfs.IsMissing(err)
}

// Own writes whose store it is into the format.
func (f *Format) Own(k KnownStore) {
	f.ID, f.Next, f.Root = k.ID.String(), "", quoteRoot(k.Root)
	f.Device, f.Inode, f.Birth = k.Device, k.Inode, k.Birth
}

// NewFormat is that of a store with that id, whose packs carry origin, for the directory of k.
func NewFormat(id, origin StoreID, k KnownStore) Format {
	return Format{
		Version: FormatVersion, ID: id.String(), Origin: origin.String(),
		Hash: hashName, Chunker: cas.Chunker,
		Root: quoteRoot(k.Root), Device: k.Device, Inode: k.Inode, Birth: k.Birth,
	}
}

func quoteRoot(root string) string { return strconv.Quote(root) }

// StoreName is where a project's own store lies below its root.
const StoreName = ".agent/rewind"
