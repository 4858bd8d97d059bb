package gitstate

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/manifest"
)

// resolution is how long after a change a second one can leave the same ctime: docs/RACY.md.
const resolution = 10 * time.Millisecond

// signature decides without a look at each reference that a repository's state is that of the last capture. Git replaces a
// reference, and a reflog that it shortens, by renaming a lock file over it, which changes the directory; where
// it writes in place (the end of a reflog), it has changed a directory before. So of references and reflogs, which can be
// tens of thousands, the directories are enough; all other files, which editors and programs write in place, are looked at.
type signature struct {
	State      oid.ID            `json:"state"`
	Generation uint64            `json:"generation"` // of the store
	Start      time.Time         `json:"start"`
	Sum        uint64            `json:"sum"`            // over the stats of paths
	Left       int               `json:"left,omitempty"` // see Captured
	Indexes    map[string]oid.ID `json:"indexes"`
	paths      []string          // below the common git directory: "" itself
}

// also are files that are looked at, and that are not in the tree of a state, or among many.
var also = []string{"index", "objects/info/alternates", "logs/HEAD", "logs/refs/stash"}

// many reports whether a file is one of those of which there can be tens of thousands.
func many(path string) bool {
	if rest, ok := strings.CutPrefix(path, "worktrees/"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	return strings.HasPrefix(path, "refs/") || strings.HasPrefix(path, "logs/")
}

// take makes the signature of what was captured: files is its tree. It stays without a sum, and so fits nothing, where
// something changed too late to be sure of.
func (s *signature) take(common string, sink *commit.Tx, files oid.ID) error {
	s.paths = append([]string{""}, also...)
	for name := range s.Indexes {
		if w, ok := strings.CutPrefix(name, worktreeIndex); ok {
			s.paths = append(s.paths, "worktrees/"+w+"/index")
		}
	}
	slices.Sort(s.paths)
	err := manifest.Walk(sink.Load, files, func(path string, e manifest.Entry) error {
		if e.Kind == manifest.Subdir || !many(path) {
			s.paths = append(s.paths, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum, newest := s.look(common)
	if newest.Before(s.Start.Add(-resolution)) {
		s.Sum = sum
	}
	return nil
}

// look gives the hash of what the paths are like, and the newest ctime.
func (s *signature) look(common string) (sum uint64, newest time.Time) {
	var line [32]byte
	h := xxhash.New()
	for _, path := range s.paths {
		clear(line[:])
		if info, err := os.Lstat(filepath.Join(common, filepath.FromSlash(path))); err == nil {
			ctime, inode := account.ChangeTime(info)
			binary.LittleEndian.PutUint64(line[0:], uint64(ctime))
			binary.LittleEndian.PutUint64(line[8:], inode)
			binary.LittleEndian.PutUint64(line[16:], uint64(info.Size()))
			binary.LittleEndian.PutUint64(line[24:], uint64(info.Mode()))
			if at := time.Unix(0, ctime); at.After(newest) {
				newest = at
			}
		}
		h.Write(line[:])
	}
	return max(1, h.Sum64()), newest
}

// unchanged reports whether the repository is as it was when the signature was taken.
func (s *signature) unchanged(common string) bool {
	if s.Sum == 0 {
		return false
	}
	sum, _ := s.look(common)
	return sum == s.Sum
}

// fits reports whether the signature may be asked: its objects are in the store, and no power cut came since.
func (s *signature) fits(c *Captured) bool {
	boot := c.p.Env.BootTime()
	return s.Sum != 0 && s.Generation == c.o.Generation && (boot.IsZero() || s.Start.After(boot))
}

// encode gives the file's bytes: a line of JSON, then the paths, each with a NUL behind it.
func (s *signature) encode() []byte {
	head, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return append(append(head, '\n'), strings.Join(s.paths, "\x00")...)
}

// readSignature reads what encode wrote; what is missing or damaged fits nothing.
func readSignature(file string) (s signature) {
	data, err := account.ReadSmall(file, maxFile)
	if err != nil {
		return signature{}
	}
	head, paths, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(head, &s) != nil {
		return signature{}
	}
	s.paths = strings.Split(string(paths), "\x00")
	return s
}
