package engine

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/cas"
	"rewind/cas/vfs"
)

// Names below the store directory; DESIGN "On disk" and docs/FORMAT.md list them.
const (
	formatName    = "format"
	configName    = "config.json"
	ignoreName    = ".gitignore" // keeps git from seeing the store
	objectsName   = "objects"
	manifestsName = "manifests"
	headName      = "head"
	lockName      = "lock"
	tmpName       = "tmp"
	restoreName   = "restore"
)

// formatVersion is the newest store format that this program reads and writes.
const formatVersion = 1

// storeID is 16 random bytes that name a store on its account.
type storeID [16]byte

func (id storeID) String() string { return hex.EncodeToString(id[:]) }

func newStoreID() storeID {
	var id storeID
	rand.Read(id[:])
	return id
}

func parseStoreID(s string) (storeID, error) {
	var id storeID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%q is no store id", s)
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
	data, err := readSmall(file, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return f, &DamagedStoreError{What: "its format file is missing", Err: err}
	}
	if err != nil {
		return f, fmt.Errorf("read %s: %w", file, err)
	}
	var probe struct {
		Version json.Number `json:"version"`
	}
	if err := json.Unmarshal(data, &probe); err != nil {
		return f, &DamagedStoreError{What: "its format file is not readable", Err: err}
	}
	if probe.Version.String() != fmt.Sprint(formatVersion) {
		return f, &FutureFormatError{Store: store, Version: probe.Version.String()}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, &DamagedStoreError{What: "its format file is not readable", Err: err}
	}
	if f.Hash != hashName {
		return f, &FutureFormatError{Store: store, Version: fmt.Sprintf("%d with hash %q", f.Version, f.Hash)}
	}
	if f.Chunker != cas.Chunker {
		return f, &FutureFormatError{Store: store, Version: fmt.Sprintf("%d with chunker %q", f.Version, f.Chunker)}
	}
	if _, err := parseStoreID(f.ID); err != nil {
		return f, &DamagedStoreError{What: "its format file is not readable", Err: err}
	}
	if _, err := parseStoreID(f.Origin); err != nil {
		return f, &DamagedStoreError{What: "its format file is not readable", Err: err}
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

// writeFile replaces file atomically: a temporary file beside it, fsync,
// rename, fsync of the directory. A crash leaves the old or the new content.
func writeFile(file string, data []byte, owner func(string) error) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	// CreateTemp has made it 0600, whatever the umask adds to that.
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if owner != nil {
		if err := owner(f.Name()); err != nil {
			return err
		}
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	return vfs.OS.SyncDir(dir)
}

// makeDir makes one private directory; that it is there already is fine.
func makeDir(dir string, owner func(string) error) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		if isDir(dir) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask
		return err
	}
	if owner != nil {
		return owner(dir)
	}
	return nil
}

// readSmall reads a regular file of at most limit bytes. It does not follow a link.
func readSmall(file string, limit int64) ([]byte, error) {
	return readBounded(file, limit, openNoFollow)
}

// readRule is readSmall for a person's own file, which may be a link.
func readRule(file string, limit int64) ([]byte, error) { return readBounded(file, limit, 0) }

func readBounded(file string, limit int64, how int) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|openNonblock|how, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that it may have", file, info.Size(), limit)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, info.Size())) // its writer may be as fast as we are
	return buf.Bytes(), err
}
