package project

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"rewind/cas"
)

// Names below the store directory; docs/FORMAT.md lists them.
const (
	formatName    = "format"
	ConfigName    = "config.json"
	ignoreName    = ".gitignore" // keeps git from seeing the store
	ObjectsName   = "objects"
	ManifestsName = "manifests"
	StatCacheName = "head"
	LockName      = "lock"
	TmpName       = "tmp"
	restoreName   = "restore"

	RestoreHistoryName = "restore-history.json" // for people and scripts: never read here
)

// FormatVersion is the newest store format that this program reads and writes.
const FormatVersion = 1

// StoreID is 16 random bytes that name a store on its account.
type StoreID [16]byte

func (id StoreID) String() string { return hex.EncodeToString(id[:]) }

func newStoreID() StoreID {
	var id StoreID
	rand.Read(id[:])
	return id
}

func ParseStoreID(s string) (StoreID, error) {
	var id StoreID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is not a store id", s)
	}
	copy(id[:], b)
	return id, nil
}

// format is the content of the store's format file. Id names the store on this
// account; Origin is what its packs carry, and stays when a copy gets an id of
// its own.
type format struct {
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
}

const hashName = "blake3-256"

// readFormat reads and checks the format file.
func readFormat(store string) (format, error) {
	var f format
	file := filepath.Join(store, formatName)
	data, err := ReadSmall(file, 1<<16)
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

func (f format) bytes() []byte {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err) // a struct of strings and numbers always marshals
	}
	return append(data, '\n')
}

const IndexStateName = "index-state.json"
