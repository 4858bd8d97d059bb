package gitstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// Objects is where a state is read from: the store, or a transaction.
type Objects interface {
	Load(id oid.ID) (manifest.Dir, error)
	Open(e manifest.Entry) (io.ReadCloser, error)
}

// InStore reads the states of a project's checkpoints.
func InStore(p *project.Project) Objects { return inStore{p} }

type inStore struct{ p *project.Project }

func (s inStore) Load(id oid.ID) (manifest.Dir, error) { return s.p.LoadDir(id) }
func (s inStore) Open(e manifest.Entry) (io.ReadCloser, error) {
	return project.ContentOf(s.p.Store.Get, e)
}

// State is a captured state of a repository.
type State struct {
	WorkTree string // absolute; "" of a submodule that is not checked out
	Common   string // the common git directory, absolute
	GitDir   string // the work tree's own git directory, absolute: Common, or below it

	Mode   fs.FileMode // permissions of Common; 0 of a state that does not say it
	Beside []string    // see Place

	objects Objects
	files   oid.ID
	indexes manifest.Dir
}

// ErrNoneAround is a captured state of repositories below a project alone.
var ErrNoneAround error = &FormatError{"there was no repository around the project"}

// Load reads the captured state of the repository around the project in root. Errors: of the store; ErrNoneAround; *FormatError.
func Load(objects Objects, id oid.ID, root string) (*State, error) {
	dir, err := objects.Load(id)
	if err != nil {
		return nil, err
	}
	return load(objects, dir, root)
}

// LoadAll reads the captured states of all repositories of the project in root, each before those in its git directory; around
// reports whether the first one is that of the repository around the project. Errors are those of Load.
func LoadAll(objects Objects, id oid.ID, root string) (list []*State, around bool, err error) {
	dir, err := objects.Load(id)
	if err != nil {
		return nil, false, err
	}
	if _, around = dir.Lookup(placeName); around {
		s, err := load(objects, dir, root)
		if err != nil {
			return nil, false, err
		}
		list = append(list, s)
	}
	others, err := othersIn(objects, dir)
	if err != nil {
		return nil, false, err
	}
	for _, id := range others {
		s, err := Load(objects, id, root)
		if err != nil {
			return nil, false, err
		}
		list = append(list, s)
	}
	first := 0
	if around {
		first = 1
	}
	slices.SortFunc(list[first:], func(a, b *State) int { return strings.Compare(a.Common, b.Common) })
	return list, around, nil
}

// Others are the states of submodules and of repositories below the project in a captured state, zero for none, by the hashes of
// their places; Load reads them. Errors: of the store.
func Others(objects Objects, id oid.ID) (map[string]oid.ID, error) {
	if id.IsZero() {
		return nil, nil
	}
	dir, err := objects.Load(id)
	if err != nil {
		return nil, err
	}
	return othersIn(objects, dir)
}

func othersIn(objects Objects, dir manifest.Dir) (map[string]oid.ID, error) {
	below, ok := dir.Lookup(belowName)
	if !ok || below.Kind != manifest.Subdir {
		return nil, nil
	}
	dir, err := objects.Load(below.ID)
	others := map[string]oid.ID{}
	for _, e := range dir.Entries {
		others[e.Name] = e.ID
	}
	return others, err
}

// Name is how a repository below the root is named: by its work tree, or else by its git directory.
func (s *State) Name(root string) string {
	place := s.WorkTree
	if place == "" {
		place = s.Common
	}
	if rel, err := filepath.Rel(root, place); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return place
}

func load(objects Objects, dir manifest.Dir, root string) (s *State, err error) {
	s = &State{objects: Whole(objects)}
	for _, e := range dir.Entries {
		switch {
		case e.Name == filesName && e.Kind == manifest.Subdir:
			s.files = e.ID
		case e.Name == indexName && e.Kind == manifest.Subdir:
			if s.indexes, err = objects.Load(e.ID); err != nil {
				return nil, err
			}
		case e.Name == placeName:
			if err := s.readPlace(e, root); err != nil {
				return nil, err
			}
		}
	}
	if _, below := dir.Lookup(belowName); below && s.files.IsZero() {
		return nil, ErrNoneAround
	}
	if s.Common == "" || s.files.IsZero() {
		return nil, &FormatError{"it does not say where the repository was"}
	}
	return s, nil
}

// FormatError is a captured state that is not what it should be.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return "the captured state of the git repository: " + e.Reason }

// maxPlace is more than two longest paths, quoted, in bytes.
const maxPlace = 64 << 10

func (s *State) readPlace(e manifest.Entry, root string) error {
	if e.Size > maxPlace {
		return &FormatError{"its place is too long"}
	}
	data, err := s.Read(e)
	if err != nil {
		return err
	}
	var place Place
	if err := json.Unmarshal(data, &place); err != nil {
		return &FormatError{err.Error()}
	}
	absolute := func(quoted string) string {
		path, err := strconv.Unquote(quoted)
		if err != nil || path == "" || strings.ContainsRune(path, 0) {
			return ""
		}
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		return filepath.Clean(path)
	}
	s.WorkTree, s.Common = absolute(place.WorkTree), absolute(place.Common)
	s.GitDir, s.Mode = s.Common, rootfs.GoMode(uint32(place.Mode))
	for _, name := range notHeld {
		if slices.Contains(place.Beside, name) {
			s.Beside = append(s.Beside, name)
		}
	}
	if place.GitDir != "" {
		below, err := strconv.Unquote(place.GitDir)
		if err != nil || !filepath.IsLocal(filepath.FromSlash(below)) {
			return &FormatError{"its worktree lies elsewhere"}
		}
		s.GitDir = filepath.Join(s.Common, filepath.FromSlash(below))
	}
	s.follow()
	return nil
}

// follow takes the place where the repository is now, if the git directory was elsewhere than the work tree and was moved: git knows
// the place from the work tree (git worktree repair).
func (s *State) follow() {
	if s.WorkTree == "" || vfs.Within(s.WorkTree, s.Common) || gitrepo.IsGitDir(s.Common) {
		return
	}
	now, ok := gitrepo.Find(s.WorkTree)
	if ok && now.WorkTree == s.WorkTree && (now.GitDir == now.CommonDir) == (s.GitDir == s.Common) {
		below, _ := filepath.Rel(s.Common, s.GitDir) // both are absolute
		s.Common, s.GitDir = now.CommonDir, filepath.Join(now.CommonDir, below)
	}
}

// Files is the tree of the files of the common git directory.
func (s *State) Files() oid.ID { return s.files }

// Read gives the content of a file of the state.
func (s *State) Read(e manifest.Entry) ([]byte, error) {
	f, err := s.objects.Open(e)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	return io.ReadAll(f)
}

// WriteFiles writes the files of the common git directory into dir, which must be there and empty: without objects, without
// any index, and without locks, whose owners are gone.
//
// present, if not nil, is what the repository has now: reflogs of references that are the same there are left out, but for that of the
// stash. There can be tens of thousands.
func (s *State) WriteFiles(dir string, present *State) error {
	if present == nil {
		return s.write(dir, func(string) bool { return true })
	}
	differ := map[string]bool{}
	err := Diff(s.objects, present.files, s.files, func(c manifest.Change) error {
		differ[c.Path] = true
		return nil
	})
	if err != nil {
		return err
	}
	return s.write(dir, func(path string) bool {
		_, name, inLogs := strings.Cut("/"+path, "/logs/refs/")
		return !inLogs || name == "stash" || differ[path]
	})
}

// WriteIndexes writes each index as a file into dir, and gives the files: that of the main worktree (""), and those of linked
// ones by their names.
func (s *State) WriteIndexes(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := map[string]string{}
	for _, e := range s.indexes.Entries {
		name, linked := strings.CutPrefix(e.Name, worktreeIndex)
		if !linked && e.Name != mainIndex {
			continue
		} else if !linked {
			name = ""
		}
		if err := s.writeFile(root, e.Name, e); err != nil {
			return nil, err
		}
		files[name] = filepath.Join(dir, e.Name)
	}
	return files, nil
}

func (s *State) write(dir string, wanted func(path string) bool) error {
	top, err := os.OpenRoot(dir) // what the state says leads nowhere else
	if err != nil {
		return err
	}
	w := writer{top: top, at: top}
	defer w.close()
	return manifest.Walk(s.objects.Load, s.files, func(path string, e manifest.Entry) error {
		if strings.HasSuffix(path, ".lock") || e.Kind != manifest.Subdir && !wanted(path) {
			return nil
		}
		root, name, err := w.parent(path)
		switch {
		case err != nil:
			return err
		case e.Kind == manifest.Subdir:
			return makeDir(root, name, rootfs.GoMode(e.Mode)|0o700)
		case e.Kind == manifest.Symlink:
			return root.Symlink(e.Target, name)
		}
		return s.writeFile(root, name, e)
	})
}

// makeDir makes a directory, also one that is setgid or sticky.
func makeDir(root *os.Root, name string, mode fs.FileMode) error {
	err := root.Mkdir(name, mode.Perm())
	if err == nil && mode != mode.Perm() {
		err = root.Chmod(name, mode)
	}
	return err
}

// writer keeps the directory open that was written to last: there can be thousands of files in one.
type writer struct {
	top, at *os.Root
	dir     string // which at is, below top
}

// parent gives the directory that a path is in, and its name there.
func (w *writer) parent(path string) (dir *os.Root, name string, err error) {
	above, name := filepath.Split(path)
	if above = strings.TrimSuffix(above, "/"); above == w.dir {
		return w.at, name, nil
	}
	at := w.top
	if above != "" {
		if at, err = w.top.OpenRoot(above); err != nil {
			return nil, "", err
		}
	}
	if w.at != w.top {
		err = w.at.Close()
	}
	w.at, w.dir = at, above
	return at, name, err
}

func (w *writer) close() {
	w.at.Close() // nothing is written through a directory
	w.top.Close()
}

func (s *State) writeFile(root *os.Root, path string, e manifest.Entry) (err error) {
	from, err := s.objects.Open(e)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer from.Close() // read only: nothing can be lost
	to, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(e.Mode)&fs.ModePerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.Copy(to, from)
	return err
}
