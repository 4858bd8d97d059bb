package gitstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/manifest"
)

// Names in a captured state.
const (
	placeName = "place.json" // Place
	filesName = "files"      // the files of the common git directory
	indexName = "index"      // a directory with each index
	belowName = "below"      // a directory with the states of other repositories, by the hash of their place

	mainIndex     = "main"      // the index of the main worktree
	worktreeIndex = "worktree-" // and of a linked one, before its name
)

// maxFile is the largest file of a git directory that is captured, in bytes: packed references of a million branches
// have 70 MB. Objects are not meant: they are held.
const maxFile = 256 << 20

// outside are the names in a git directory that are no part of its state: objects are held, and what else is large is
// derived or comes from elsewhere.
var outside = []string{"objects", "lfs", "annex", modulesName, "fsmonitor--daemon*", "gc.pid", "index", "index.lock", "rewind-remains", "rewind-restore-*"}

// Place says where the repository of a captured state was. Paths are quoted as Go does, so that any byte survives, and
// relative to the project's root where they lie below it.
type Place struct {
	WorkTree string `json:"worktree"`
	Common   string `json:"common"`           // the common git directory
	GitDir   string `json:"gitdir,omitempty"` // of a linked worktree: its own, below Common

	Mode   fs.FileMode `json:"mode,omitempty"`     // permissions of Common, the bits 07777
	Beside []string    `json:"not_held,omitempty"` // names in Common of what has objects that are not held: "lfs", "annex"
}

// notHeld are directories in a git directory with objects that are not held.
var notHeld = []string{"lfs", "annex"}

// captured is a repository's state in a transaction that is not committed yet.
type captured struct {
	id     oid.ID   // the state's tree
	new    bool     // it had to be looked at: the signature was not that of the last capture
	left   int      // objects and packs that the state may need and that are not held
	linked []string // see gitrepo.LinkedRefs: these references are not in the state

	p     *project.Project
	o     Options
	repo  gitrepo.Repo
	scans []partial
	files uint64 // in all
	bytes uint64
	next  signature
	last  signature
}

// capture captures the state of one repository, and holds nothing.
func capture(ctx context.Context, p *project.Project, repo gitrepo.Repo, o Options) (*captured, error) {
	c := &captured{p: p, o: o, repo: repo}
	last := readSignature(c.cacheFile(".signature"))
	var changed []string
	if o.fits(p, last.Generation, last.Start) && len(last.paths) > 0 {
		if changed = last.changed(repo.CommonDir); len(changed) == 0 {
			c.id, c.left, c.linked = last.State, last.Left, last.Linked
			return c, nil
		}
	} else {
		last = signature{}
	}
	c.new = true
	return c, c.look(ctx, last, changed)
}

// hold holds the objects of the state, after it was captured: those that its references name are there by then.
func (c *captured) hold(ctx context.Context) (err error) {
	if !c.new && holds(c.p, c.repo.CommonDir, c.id) { // else another account captured it, or what was held is gone
		return nil
	}
	c.left, err = Hold(ctx, c.p, c.repo.CommonDir, c.id, c.o.Start)
	c.next.Left = c.left
	return err
}

// cacheFile is a file of the store that belongs to this repository.
func (c *captured) cacheFile(suffix string) string {
	sum := oid.Sum([]byte(c.repo.CommonDir + "\x00" + c.repo.GitDir))
	return filepath.Join(c.p.StoreDir(), account.GitName, sum.String()[:16]+suffix)
}

// name is the state's among those of other repositories.
func (c *captured) name() string {
	sum := oid.Sum([]byte(c.relative(c.repo.CommonDir)))
	return sum.String()[:16]
}

// look captures the state anew. Where there is a last one, only what has changed since is looked at.
func (c *captured) look(ctx context.Context, last signature, changed []string) error {
	common := c.repo.CommonDir
	indexes := indexesOf(common)
	skip := slices.Clone(outside)
	for _, index := range indexes {
		skip = append(skip, index.path, index.path+".lock", path.Join(path.Dir(index.path), modulesName))
	}
	c.next = signature{Start: c.o.Start, Generation: c.o.Generation, Indexes: map[string]indexed{}}
	if err := c.scanFiles(ctx, last, changed, skip, indexes); err != nil {
		return err
	}
	state := tree{sink: c.o.Tx}
	state.subdir(filesName, c.next.Files, c.files, c.bytes)
	staged := tree{sink: c.o.Tx}
	for _, index := range indexes {
		was, known := last.Indexes[index.name]
		if known && !slices.Contains(changed, index.path) {
			c.next.Indexes[index.name] = was
			staged.add(index.name, was)
			continue
		}
		if err := c.index(&staged, index, was.ID); err != nil {
			return err
		}
	}
	if err := state.tree(indexName, &staged); err != nil {
		return err
	}
	place, err := json.Marshal(c.place())
	if err != nil {
		return err
	}
	if err := state.file(placeName, bytes.NewReader(place), int64(len(place)), oid.ID{}); err != nil {
		return err
	}
	if c.id, err = state.put(); err != nil {
		return err
	}
	c.linked = gitrepo.LinkedRefs(common)
	c.next.State, c.next.Linked, c.last = c.id, c.linked, last
	return c.o.Tx.Flush()
}

// place is where the repository is.
func (c *captured) place() Place {
	r := c.repo
	place := Place{WorkTree: c.relative(r.WorkTree), Common: c.relative(r.CommonDir)}
	if info, err := os.Stat(r.CommonDir); err == nil {
		place.Mode = fs.FileMode(rootfs.Bits(info.Mode()))
	}
	for _, name := range notHeld {
		if account.IsDir(filepath.Join(r.CommonDir, name, "objects")) {
			place.Beside = append(place.Beside, name)
		}
	}
	if r.GitDir != r.CommonDir {
		if rel, err := filepath.Rel(r.CommonDir, r.GitDir); err == nil && filepath.IsLocal(rel) {
			place.GitDir = strconv.Quote(filepath.ToSlash(rel))
		}
	}
	return place
}

func (c *captured) relative(file string) string {
	if rel, err := filepath.Rel(c.p.Root(), file); err == nil && filepath.IsLocal(rel) {
		file = filepath.ToSlash(rel)
	}
	return strconv.Quote(file)
}

// index is one of a repository's indexes.
type index struct {
	name string // in a captured state: "main", or "worktree-" and the linked worktree's
	path string // below the common git directory
}

// indexesOf are the indexes of the main and of each linked worktree.
func indexesOf(common string) []index {
	all := []index{{mainIndex, "index"}}
	worktrees, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return all // most repositories have none
	}
	for _, w := range worktrees {
		all = append(all, index{worktreeIndex + w.Name(), "worktrees/" + w.Name() + "/index"})
	}
	return all
}

// publish keeps what the next capture compares with.
func (c *captured) publish(stamp scan.Stamp) error {
	if !c.new {
		return nil
	}
	var errs []error
	for _, p := range slices.Backward(c.scans) { // reflogs first: that of references says which of them have been looked at
		errs = append(errs, p.Publish(c.cacheFile(p.cacheSuffix()), stamp, c.p.Owner))
	}
	return errors.Join(append(errs, account.WriteCache(c.cacheFile(".signature"), c.next.encode(), c.p.Owner))...)
}

// tree builds one directory of a state.
type tree struct {
	sink *commit.Tx
	dir  manifest.Dir
}

func (t *tree) subdir(name string, id oid.ID, files, size uint64) {
	t.dir.Entries = append(t.dir.Entries, manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: 0o700, ID: id, Files: files, Size: size})
}

// add adds a file that is in the transaction.
func (t *tree) add(name string, x indexed) {
	t.dir.Entries = append(t.dir.Entries, manifest.Entry{Name: name, Kind: x.Kind, Mode: 0o600, ID: x.ID, Size: x.Size})
}

// file adds a file; prev is what its content is likely to resemble.
func (t *tree) file(name string, f interface{ Read([]byte) (int, error) }, size int64, prev oid.ID) error {
	kind, id, n, err := t.sink.Content(0, f, size, prev)
	if err != nil {
		return err
	}
	t.add(name, indexed{kind, id, uint64(n)})
	return nil
}

func (t *tree) tree(name string, below *tree) error {
	files, size := below.dir.Totals()
	id, err := below.put()
	t.subdir(name, id, files, size)
	return err
}

func (t *tree) put() (oid.ID, error) {
	slices.SortFunc(t.dir.Entries, func(a, b manifest.Entry) int { return strings.Compare(a.Name, b.Name) })
	return t.sink.Dir(0, t.dir.Append(nil), oid.ID{})
}
