package cas

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/gofrs/flock"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Options says where a store is and how it behaves.
type Options struct {
	Dir      string                  // the objects directory
	Mirror   string                  // directory of the mirror: hard links of the packs; "" for none
	LockDir  string                  // directory of the lock files
	StoreID  [16]byte                // written into every pack header, checked on open
	FS       vfs.FS                  // nil: vfs.OS
	Owner    func(file string) error // gives a created file to its rightful owner; nil: nothing
	NoSync   bool                    // durability "fast": no fsync
	ReadOnly bool                    // never writes, takes no lock that needs a writable file
	Now      func() time.Time        // nil: time.Now
	// Returning is called before packs come back that only the mirror has, mostly under the append
	// lock; an error keeps them away. It may be nil.
	Returning func(Return) error
	// Reached is the highest sequence number that the log is known to have had; Shorter is called under the append lock with
	// the last commit of a log that has less, and whether it ends with that one. An error keeps anything from being
	// added. It may be nil: not known.
	Reached func() uint64
	Shorter func(last Position, whole bool) error
	// Purging reports that packs may hold what is to go for good: until that is over, none
	// that is there already gets into the mirror. nil: never.
	Purging func() bool
	// Mirroring is called before the mirror gets a pack, and with false after one could not be given. Linked is called before
	// packs are dropped of which one has names outside of the store and its mirror, with their number. Errors keep the packs
	// as they are. They may be nil.
	Mirroring func(gets bool) error
	Linked    func(names int) error
	// Waiting is called, from another goroutine, with the file of a lock that has been waited for
	// longer than WaitNotice. It may be nil.
	Waiting func(file string)
	Random  func() uint64 // names packs, safe for concurrent use; nil: crypto/rand
}

// Store is an open store. Opening reads a directory and no more: indexes are
// mapped at the first look-up that needs them.
type Store struct {
	o      Options
	fs     vfs.FS
	limits limits
	cache  blockCache

	mu         sync.RWMutex
	mirrorDir  string
	mirrorErr  error                    // why a pack is not in the mirror
	unmirrored error                    // the same, of a pack that was begun here
	packs      []*packFile              // log packs, newest first, then data packs
	left       []weak.Pointer[packFile] // those no longer in packs, whose files a reader may still read: see leave
	ready      bool                     // packs were listed, and what a look-up needs of them is known
	thorough   bool                     // data packs were walked too, where no index covers them
	generation uint64                   // when packs were listed
	listed     fs.FileInfo              // the directory, then
	held       []*flock.Flock           // locks
	home       fs.FileInfo              // the directory when the first of them was taken
	stays      fs.FileInfo              // the directory that it must be: see Stay
	distrusted bool                     // damage was found: the generation was bumped
	hidden     map[pack.Name]uint64     // commits that are left out of a log: from this sequence number on
	bad        map[oid.ID]bool          // objects that were found damaged: they are stored again when they come by
}

const tmpSuffix = ".tmp"

// Open opens the store in o.Dir, which it creates unless o.ReadOnly is set.
func Open(o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = randomName
	}
	s := &Store{o: o, fs: o.FS, mirrorDir: o.Mirror, limits: defaultLimits}
	info, err := s.fs.Lstat(o.Dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: o.Dir, Err: errors.New("not a directory")}
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist) || o.ReadOnly:
		return nil, err
	default:
		if err := s.makeDir(o.Dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func randomName() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// makeDir creates a directory of the store, and its parents: all of them are given to their owner. No link is in the place
// of the directory itself; those above it are the caller's choice.
func (s *Store) makeDir(dir string) error { return s.makeDirIn(dir, 0) }

func (s *Store) makeDirIn(dir string, allowed fs.FileMode) error {
	if info, err := s.fs.Lstat(dir); err == nil {
		if !info.IsDir() && info.Mode()&allowed == 0 {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("a link or file is in its place")}
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := s.makeDirIn(parent, fs.ModeSymlink); err != nil {
			return err
		}
	}
	if err := s.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if s.o.Owner != nil {
		return s.o.Owner(dir)
	}
	return nil
}

// Close releases files and mappings. Nothing of the store may be in use.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.forget()
	s.cache.clear()
	return err
}

// forget drops all that is known of the packs. The caller holds mu.
func (s *Store) forget() error {
	var errs []error
	for _, p := range s.packs {
		errs = append(errs, p.close())
	}
	for _, at := range s.left {
		if p := at.Value(); p != nil {
			errs = append(errs, p.close())
		}
	}
	s.packs, s.left, s.ready, s.thorough = nil, nil, false, false
	return errors.Join(errs...)
}

// leave lets go of a pack that is no longer listed. Its file stays open and its index mapped, because a reader that found a
// place in it may be reading: the garbage collector closes both after the last reader, and Close closes what is left. The
// caller holds mu.
func (s *Store) leave(p *packFile) {
	s.left = append(s.left, weak.Make(p))
}

// leaveAll lets go of all that is known of the packs, and of their objects: they are listed anew. The caller holds mu.
func (s *Store) leaveAll() {
	s.left = slices.DeleteFunc(s.left, func(at weak.Pointer[packFile]) bool { return at.Value() == nil })
	for _, p := range s.packs {
		s.leave(p)
	}
	s.packs, s.ready, s.thorough = nil, false, false
	s.cache.clear()
}

// list brings packs up to date with the directory. The caller holds mu.
func (s *Store) list() error {
	names, err := s.names()
	if err != nil {
		return err
	}
	known := make(map[pack.Name]*packFile, len(s.packs))
	for _, p := range s.packs {
		known[p.name] = p
	}
	s.packs = make([]*packFile, 0, len(names))
	for _, n := range names {
		p := known[n]
		if p == nil {
			p = s.newPack(n)
		}
		delete(known, n)
		s.packs = append(s.packs, p)
	}
	for _, p := range known {
		s.leave(p)
	}
	return nil
}

// names lists the packs: log packs, newest first, then data packs.
func (s *Store) names() ([]pack.Name, error) {
	entries, err := s.fs.ReadDir(s.o.Dir)
	if err != nil {
		return nil, err
	}
	var names []pack.Name
	condemned := false
	for _, e := range entries {
		if n, ok := pack.ParseName(e.Name()); ok {
			if e.Type() != 0 {
				return nil, &DamagedError{Pack: n.File(), Reason: reasonNoFile}
			}
			names = append(names, n)
		}
		condemned = condemned || e.Name() == condemnedName
	}
	if condemned {
		going, err := s.condemned()
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(n pack.Name) bool { return slices.Contains(going, n) })
	}
	slices.SortFunc(names, func(a, b pack.Name) int {
		switch {
		case a.Kind != b.Kind:
			return int(a.Kind) - int(b.Kind)
		case a.Tag == b.Tag:
			return 0
		case (a.Tag > b.Tag) == (a.Kind == pack.Log):
			return -1
		}
		return 1
	})
	return names, nil
}

// refresh makes what other processes added known, also what no index covers of data packs: only an interrupted batch leaves such.
func (s *Store) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshLocked(true)
}

// refreshLocked walks what no index covers of data packs only where it is to be thorough.
func (s *Store) refreshLocked(thorough bool) error {
	if err := s.list(); err != nil {
		return err
	}
	for _, p := range s.packs {
		if err := s.learn(p, thorough); err != nil {
			return err
		}
	}
	s.ready = true
	s.thorough = s.thorough || thorough
	return nil
}

// prepare makes look-ups possible.
func (s *Store) prepare() error {
	s.mu.RLock()
	ready := s.ready
	s.mu.RUnlock()
	if ready {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	return s.refreshLocked(false)
}

// Mirrored says why packs are missing in the mirror; nil if all
// of them have one.
func (s *Store) Mirrored() error {
	s.mu.RLock()
	mirror, err := s.mirrorDir, s.mirrorErr
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	if mirror == "" {
		return errors.New("there is no directory for a mirror")
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, n := range names {
		first, err := s.fs.Lstat(filepath.Join(s.o.Dir, n.File()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // collected meanwhile
		}
		if err != nil {
			return err
		}
		second, err := s.fs.Lstat(filepath.Join(mirror, n.File()))
		if err != nil {
			return fmt.Errorf("%s is not in the mirror: %w", n.File(), err)
		}
		if !sameFile(first, second) {
			return fmt.Errorf("%s is another file in the mirror", n.File())
		}
	}
	return nil
}

// MirrorsNext reports whether the next commit gives the mirror the packs that it is without, as it does for what another
// account has committed: mend looks at the newest log pack, and links worked before.
func (s *Store) MirrorsNext() bool {
	mirror, err := s.ownMirror()
	names, nerr := s.names()
	if mirror == "" || s.Diverged() || s.purging() || errors.Join(err, nerr) != nil {
		return false
	}
	next, linked := false, false
	for i, n := range names {
		a, b := filepath.Join(s.o.Dir, n.File()), filepath.Join(mirror, n.File())
		first, err := s.fs.Lstat(a)
		if err != nil {
			return false
		}
		second, err := s.fs.Lstat(b)
		linked = linked || err == nil && sameDevice(first, second)
		if i == 0 { // the newest log pack
			next = errors.Is(err, fs.ErrNotExist)
			if err == nil {
				next, _ = s.stale(n, false)
			}
			next = next && ours(first) && !s.ahead(n.Tag)
		}
	}
	return linked && next
}

// create makes a new file of the store for reading and writing.
func (s *Store) create(file string) (vfs.File, error) {
	f, err := s.fs.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if s.o.Owner != nil {
		if err := s.o.Owner(file); err != nil {
			return nil, errors.Join(err, f.Close(), s.fs.Remove(file))
		}
	}
	return f, nil
}

// syncDir makes names in the objects directory durable.
func (s *Store) syncDir() error {
	if s.o.NoSync {
		return nil
	}
	return s.fs.SyncDir(s.o.Dir)
}

// syncMirror makes removals in the mirror durable.
func (s *Store) syncMirror() error {
	mirror := s.mirrorNow()
	if mirror == "" || s.o.NoSync {
		return nil
	}
	return ignoreMissing(s.fs.SyncDir(mirror))
}

func (s *Store) sync(f vfs.File) error {
	if s.o.NoSync {
		return nil
	}
	return f.Sync()
}

// temporary is a name beside file that no other process uses.
func (s *Store) temporary(file string) string {
	return fmt.Sprintf("%s.%016x%s", file, s.o.Random(), tmpSuffix)
}
