package gitstate

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// resolution is how long after a change a second one can leave the same ctime: docs/RACY.md.
const resolution = 10 * time.Millisecond

// signature decides without a look at each reference that a repository's state is that of the last capture, and else which
// of its directories differ. Git replaces a reference, and a reflog that it shortens, by renaming a lock file over it, which
// changes the directory; where it writes in place (the end of a reflog), it has changed a directory before. So of references
// and reflogs, which can be tens of thousands, the directories are enough; all other files, which editors and programs write
// in place, are looked at.
type signature struct {
	State      oid.ID             `json:"state"`
	Files      oid.ID             `json:"files"`      // the tree of the common git directory's files
	Generation uint64             `json:"generation"` // of the store
	Start      time.Time          `json:"start"`
	Left       int                `json:"left,omitempty"` // see captured
	Linked     []string           `json:"linked,omitempty"`
	Indexes    map[string]indexed `json:"indexes"`
	Parts      map[string]part    `json:"parts"`
	Symbolic   []string           `json:"symbolic,omitempty"` // see noted
	Locked     []string           `json:"locked,omitempty"`
	Compared   time.Time          `json:"compared"` // when all reflogs were compared
	paths      map[string]uint64  // below the common git directory, "" itself: a hash of its status
}

// indexed is an index that was captured.
type indexed struct {
	Kind manifest.Kind `json:"kind"`
	ID   oid.ID        `json:"id"`
	Size uint64        `json:"size"`
}

// unknown is the hash of a path that changed too late to be sure of: it differs from each that is looked at.
const unknown = 0

// also are files that are looked at, and that are not in the tree of a state, or among many.
var also = []string{"index", "objects/info/alternates", "logs/HEAD", "logs/refs/stash"}

// many reports whether a file is one of those of which there can be tens of thousands.
func many(file string) bool {
	if rest, ok := strings.CutPrefix(file, "worktrees/"); ok {
		_, file, _ = strings.Cut(rest, "/")
	}
	return strings.HasPrefix(file, "refs/") || strings.HasPrefix(file, "logs/")
}

// take makes the signature of what was captured; the last one has most of its paths.
func (c *captured) take(sink *commit.Tx) error {
	common, s, last := c.repo.CommonDir, &c.next, &c.last
	s.paths = map[string]uint64{"": unknown}
	looked := map[string]bool{} // parts
	for _, p := range c.scans {
		looked[p.name] = true
	}
	for file := range last.paths {
		gone, _ := path.Match("worktrees/*/index", file) // its worktree may be
		dir, _, _ := strings.Cut(file, "/")
		if _, there := s.Parts[dir]; !gone && !looked[dir] && (there || !slices.Contains(parts, dir)) {
			s.paths[file] = unknown
		}
	}
	for _, file := range also {
		s.paths[file] = unknown
	}
	for _, index := range indexesOf(common) {
		s.paths[index.path] = unknown
	}
	load := func(id oid.ID) (manifest.Dir, error) {
		dir, err := join(sink.Load, id)
		if id == s.Files || id == last.Files { // without the parts, whose directories are known
			dir.Entries = slices.DeleteFunc(slices.Clone(dir.Entries), func(e manifest.Entry) bool {
				return e.Kind == manifest.Subdir && slices.Contains(parts, e.Name)
			})
		}
		return dir, err
	}
	err := manifest.Diff(load, last.Files, s.Files, func(c manifest.Change) error {
		if c.Old != nil && !many(c.Path) || c.Old != nil && c.Old.Kind == manifest.Subdir {
			delete(s.paths, c.Path)
		}
		if c.New != nil && (c.New.Kind == manifest.Subdir || !many(c.Path)) {
			s.paths[c.Path] = unknown
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range c.scans {
		if p.name != "" {
			for _, dir := range p.Directories() {
				s.paths[path.Join(p.name, dir)] = unknown
			}
		}
	}
	settled := s.Start.Add(-resolution)
	for file := range s.paths {
		if sum, changed := statusOf(common, file); changed.Before(settled) {
			s.paths[file] = sum
		}
	}
	return nil
}

// statusOf gives the hash of what a path is like, and its ctime.
func statusOf(common, file string) (sum uint64, changed time.Time) {
	var line [32]byte
	if info, err := os.Lstat(filepath.Join(common, filepath.FromSlash(file))); err == nil {
		ctime, inode := account.ChangeTime(info)
		binary.LittleEndian.PutUint64(line[0:], uint64(ctime))
		binary.LittleEndian.PutUint64(line[8:], inode)
		binary.LittleEndian.PutUint64(line[16:], uint64(info.Size()))
		binary.LittleEndian.PutUint64(line[24:], uint64(info.Mode()))
		changed = time.Unix(0, ctime)
	}
	return max(unknown+1, xxhash.Sum64(line[:])), changed
}

// changed are the paths that are not as they were when the signature was taken; none: the repository is unchanged.
func (s *signature) changed(common string) (paths []string) {
	for file, was := range s.paths {
		if sum, _ := statusOf(common, file); sum != was {
			paths = append(paths, file)
		}
	}
	return paths
}

// within are the paths that can differ from the captured tree of files, but for the parts, where these have changed: with a directory of
// a linked worktree's own references that of their reflogs, and those that have no such directory, since their references are packed, with the one
// above; and the reflogs of every HEAD. At the end of those git writes in place.
func (s *signature) within(changed []string, indexes []index) []string {
	all := slices.Clone(changed)
	for file := range s.paths {
		rest, ok := strings.CutPrefix(file, "worktrees/")
		name, log, _ := strings.Cut(rest, "/")
		log, isLog := strings.CutPrefix(log, "logs/")
		if !ok || !isLog {
			continue
		}
		dir := "worktrees/" + name
		up := path.Join(dir, log)
		for ; up != "."; up = path.Dir(up) {
			if _, known := s.paths[up]; known {
				break
			}
		}
		if slices.Contains(changed, strings.TrimPrefix(up, ".")) {
			all = append(all, file)
		}
	}
	for _, index := range indexes {
		all = append(all, path.Join(path.Dir(index.path), "logs/HEAD"))
	}
	return all
}

// fits reports whether what was kept of a capture may be relied on: its objects are in the store, and no power cut came since.
func (o *Options) fits(p *project.Project, generation uint64, start time.Time) bool {
	boot := p.Env.BootTime()
	return generation == o.Generation && (boot.IsZero() || start.After(boot))
}

// encode gives the file's bytes.
func (s *signature) encode() []byte { return encodePaths(s, s.paths) }

// readSignature reads what encode wrote; what is missing or damaged fits nothing.
func readSignature(file string) (s signature) {
	if paths, ok := readPaths(file, &s); ok {
		s.paths = paths
		return s
	}
	return signature{}
}

// encodePaths gives the bytes of a file of the store: a line of JSON, then a number and a path, with a NUL behind it, for each
// path: JSON alone would cost a hook a millisecond.
func encodePaths(head any, paths map[string]uint64) []byte {
	data, err := json.Marshal(head)
	if err != nil {
		return nil
	}
	data = append(data, '\n')
	for path, n := range paths {
		data = binary.LittleEndian.AppendUint64(data, n)
		data = append(append(data, path...), 0)
	}
	return data
}

// readPaths reads what encodePaths gave. ok is false where the file is missing or damaged.
func readPaths(file string, head any) (paths map[string]uint64, ok bool) {
	data, err := vfs.ReadSmall(file, maxFile, vfs.NoFollow)
	if err != nil {
		return nil, false
	}
	line, rest, found := bytes.Cut(data, []byte("\n"))
	if !found || json.Unmarshal(line, head) != nil {
		return nil, false
	}
	paths = map[string]uint64{}
	for len(rest) > 8 {
		path, more, found := bytes.Cut(rest[8:], []byte{0})
		if !found {
			return nil, false
		}
		paths[string(path)] = binary.LittleEndian.Uint64(rest)
		rest = more
	}
	return paths, len(rest) == 0
}
