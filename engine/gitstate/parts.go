package gitstate

import (
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/manifest"
)

// parts are the directories of the common git directory with a file for each reference, in the order in which they are
// scanned, each by itself: there can be tens of thousands, of which a commit changes one or two.
var parts = []string{refsDir, logsDir}

const (
	refsDir = "refs"
	logsDir = "logs"
)

// compareAgain is after what time all reflogs are compared, where something has changed: a git that was killed within the
// microsecond between its line in a reflog and the reference, and whose lock a person removed before any capture, left no other trace.
const compareAgain = time.Hour

// part is what was captured of one of them.
type part struct {
	ID    oid.ID `json:"id"`
	Files uint64 `json:"files"`
	Size  uint64 `json:"size"`
	Mode  uint32 `json:"mode"`
}

// partial is the scan of a part, "" for that of all else.
type partial struct {
	*scan.Result
	name string
}

func (p *partial) cacheSuffix() string {
	if p.name == "" {
		return ".head"
	}
	return "." + p.name
}

// scanFiles captures the files of the common git directory. skip are those that belong to no state.
func (c *captured) scanFiles(ctx context.Context, last signature, changed, skip []string, indexes []index) error {
	c.next.Parts = map[string]part{}
	refs := &noted{symbolic: map[string]bool{}}
	for _, name := range last.Symbolic {
		refs.symbolic[name] = true
	}
	rest := scan.Options{Beside: []manifest.Entry{}}
	late := c.o.Start.Sub(last.Compared).Abs() > compareAgain
	if c.next.Compared = last.Compared; late {
		c.next.Compared = c.o.Start
	}
	for _, name := range parts {
		info, err := os.Lstat(filepath.Join(c.repo.CommonDir, name))
		if err != nil || !info.IsDir() {
			continue // most likely a symbolic link
		}
		p, known := last.Parts[name]
		o := scan.Options{}
		paths := below(name, changed)
		all := !known || name == logsDir && (refs.dirGone || slices.Contains(changed, packedRefs) || late) // references can have come and gone as files
		switch {
		case all:
		case name == refsDir:
			o.Within = paths
		default:
			paths = append(paths, refs.logs(last, c.repo.CommonDir)...)
			o.Hints = &scan.Hints{Paths: paths}
			if added, err := c.addLogs(p, slices.Clone(paths), c.sink(name)); err == nil {
				p, paths = added, nil
			}
		}
		if all || len(paths) > 0 {
			sink := c.sink(name)
			if name == refsDir {
				sink.noted, o.Gone = refs, refs.gone
			}
			r, err := c.scan(ctx, name, p.ID, nil, sink, o)
			if err != nil {
				return err
			}
			p = part{ID: r.Root, Files: r.Files, Size: r.Bytes, Mode: r.Mode}
		}
		c.next.Parts[name] = p
		skip = append(skip, name)
		rest.Beside = append(rest.Beside, manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: p.Mode, Size: p.Size, Files: p.Files, ID: p.ID})
	}
	slices.SortFunc(rest.Beside, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
	if !last.Files.IsZero() {
		rest.Within = last.within(changed, indexes)
	}
	r, err := c.scan(ctx, "", last.Files, skip, c.sink(""), rest)
	if err != nil {
		return err
	}
	c.next.Files, c.next.Symbolic, c.next.Locked = r.Root, slices.Sorted(maps.Keys(refs.symbolic)), refs.locked
	c.files, c.bytes = r.Files, r.Bytes
	return nil
}

// below is a directory of the common git directory, relative to the project's root.
func (c *captured) below(name string) string {
	dir := filepath.Join(c.repo.CommonDir, name)
	if rel, err := filepath.Rel(c.p.Root(), dir); err == nil {
		dir = rel
	}
	return filepath.ToSlash(dir)
}

// sink is where a scan of a part, or of all else, puts what it finds.
func (c *captured) sink(name string) placed {
	return placed{Tx: c.o.Tx, dir: c.below(name), first: new(sync.Mutex)}
}

// scan scans a part, or all else with the name "". What o names holds for the tree was alone: else everything is compared.
func (c *captured) scan(ctx context.Context, name string, was oid.ID, skip []string, sink scan.Sink, o scan.Options) (*scan.Result, error) {
	p := partial{name: name}
	rules, err := ignore.Compile(ignore.Config{NoIgnore: true, SessionPaths: skip})
	if err != nil {
		return nil, err
	}
	if o.Cache, err = scan.LoadCache(c.cacheFile(p.cacheSuffix())); err != nil {
		return nil, err
	}
	if o.Cache != nil && (project.ReadStamp(o.Cache.Stamp()).Generation != c.o.Generation || was.IsZero()) {
		o.Cache = nil // what was noted beside it is not known
	}
	if o.Cache.Root() != was {
		o.Within, o.Hints = nil, nil
	}
	o.Root, o.Rules, o.Sink, o.Start = filepath.Join(c.repo.CommonDir, name), rules, sink, c.o.Start
	o.Workers, o.MaxFileSize, o.Unsynced = c.o.Tx.Workers()-1, maxFile, c.p.Unsynced(o.Cache, c.o.Start)
	if p.Result, err = scan.Run(ctx, o); err == nil {
		c.scans = append(c.scans, p)
	}
	return p.Result, err
}

// below are those of the paths that lie in a directory, relative to it.
func below(dir string, paths []string) (list []string) {
	for _, file := range paths {
		if rest, ok := strings.CutPrefix(file, dir+"/"); ok {
			list = append(list, rest)
		} else if file == dir {
			list = append(list, "")
		}
	}
	return list
}

// placed is a transaction that knows where its files are, for when it only looks.
type placed struct {
	*commit.Tx
	dir   string // relative to the project's root
	noted *noted // nil: nothing is noted
	first *sync.Mutex
}

// as gives the worker of the transaction that puts what one of a scan has: the first, unless it is at work. So the little that a commit
// changes is in the same blocks, whichever of them finds it. done follows the put.
func (s placed) as(worker int) (first int, done func()) {
	if s.first.TryLock() {
		return 0, s.first.Unlock
	}
	return 1 + worker, func() {}
}

// Content puts a file.
func (s placed) Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	c := &content{Reader: f, dir: s.dir}
	if named, ok := f.(interface{ Path() string }); ok {
		c.path = named.Path()
	}
	worker, done := s.as(worker)
	kind, id, size, err := s.Tx.Content(worker, c, size, prev)
	done()
	if s.noted != nil {
		s.noted.note(c)
	}
	return kind, id, size, err
}

// content is a file that is read.
type content struct {
	io.Reader
	dir, path string
	begin     []byte // what it begins with
}

// Path is where it is, relative to the project's root.
func (c *content) Path() string { return path.Join(c.dir, c.path) }

// Read is the Reader's.
func (c *content) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if left := len(symbolicRef) - len(c.begin); left > 0 {
		c.begin = append(c.begin, b[:min(n, left)]...)
	}
	return n, err
}

const symbolicRef = "ref:"

// noted is what a scan of references tells about their reflogs. Git adds to a reflog, in place, while it holds the lock of the
// reference, and replaces the file of the reference then. Names are relative to the directory of references.
type noted struct {
	mu       sync.Mutex
	read     []string        // files that are another one, or were not there
	vanished []string        // and that are gone
	symbolic map[string]bool // references to others: what is written through them changes their reflogs and not them
	locked   []string        // references whose locks are there
	dirGone  bool            // a directory is gone
}

func (n *noted) note(c *content) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := strings.CutSuffix(c.path, ".lock"); ok {
		n.locked = append(n.locked, name)
		return
	}
	n.read = append(n.read, c.path)
	delete(n.symbolic, c.path)
	if string(c.begin) == symbolicRef {
		n.symbolic[c.path] = true
	}
}

func (n *noted) gone(file string, dir bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.vanished = append(n.vanished, file)
	n.dirGone = n.dirGone || dir
}

// logs are the paths below the directory of reflogs that may have changed although no directory there has.
func (n *noted) logs(last signature, common string) (list []string) {
	for _, name := range last.Locked { // a git that was ended then can have written into the reflog alone
		n.vanished = append(n.vanished, name)
		if !slices.Contains(n.locked, name) && account.Exists(filepath.Join(common, refsDir, filepath.FromSlash(name)+".lock")) {
			n.locked = append(n.locked, name)
		}
	}
	for _, names := range [][]string{n.read, n.vanished, n.locked, slices.Collect(maps.Keys(n.symbolic))} {
		for _, name := range names {
			list = append(list, path.Join(refsDir, name))
		}
	}
	return append(list, "HEAD")
}
