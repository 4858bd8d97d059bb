package gitstate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// maxCopied is how much is copied in all where the file system has no second name for an object, in bytes: what is
// being worked on, and not the packs of a large repository's history.
const maxCopied = 256 << 20

// maxAlternates is how many object directories a repository may be made of: git follows five levels.
const maxAlternates = 16

// HeldDirs are the directories that hold the objects of a project's repositories, laid out as git's own, as far as they
// are there.
func HeldDirs(p *project.Project) []string {
	return slices.DeleteFunc(holdIn(p), func(dir string) bool { return !account.IsDir(dir) })
}

// holdIn is where objects are held: beside the mirror of the store, and in the store those of repositories on another file
// system than the account's.
func holdIn(p *project.Project) (dirs []string) {
	if mirror := account.MirrorDir(p.Env, p.ID); mirror != "" && !p.Copied {
		dirs = append(dirs, filepath.Join(mirror, account.GitName))
	}
	return append(dirs, filepath.Join(p.StoreDir(), account.GitName, "objects"))
}

// holder holds the objects of one repository.
type holder struct {
	p      *project.Project
	dirs   []string // where to; the first one that can
	there  []string // those of them that held something before
	made   map[string]bool
	signed account.MirrorUse // what the store knows of objects that this account holds
	gone   map[string]bool   // ids of objects that are forgotten; nil: not read yet
	copied int64             // bytes, in all
	left   int               // objects and packs that are not held, since they would have had to be copied
	last   heldState
	next   heldState
}

// heldState says which directories were looked through, and what they were like.
type heldState struct {
	State       oid.ID            `json:"state"` // of the repository, whose objects are held
	CopiedBytes int64             `json:"copiedBytes,omitempty"`
	dirs        map[string]uint64 // ctime in nanoseconds; only where nothing can have changed at the same time
}

// Hold gives each object and pack of the repository in the common git directory a second name; those of its alternates
// too. left is how many are not held, since the file system has no second name for them and there are too many bytes to copy.
// What was held before is not looked at again. An object that vanishes meanwhile is no error: git packed it. state is what the repository is in.
func Hold(ctx context.Context, p *project.Project, common string, state oid.ID, start time.Time) (left int, err error) {
	h := &holder{p: p, dirs: holdIn(p), there: HeldDirs(p), made: map[string]bool{}, last: readHeld(p, common), next: heldState{State: state, dirs: map[string]uint64{}}}
	h.copied = h.last.CopiedBytes
	for _, objects := range objectDirs(filepath.Join(common, "objects")) {
		if err := h.hold(ctx, objects, start); err != nil {
			return h.left, err
		}
	}
	h.next.CopiedBytes = h.copied
	data := encodePaths(h.next, h.next.dirs)
	for _, dir := range h.dirs { // it says what this directory holds, and is lost, copied and put back with it
		if err = h.makeDirs(dir); err == nil {
			err = account.WriteCache(filepath.Join(dir, heldName(common)), data, p.Owner)
		}
		if err == nil {
			break
		}
	}
	return h.left, err
}

// holds reports whether the objects of a repository in a state are held by this account.
func holds(p *project.Project, common string, state oid.ID) bool {
	return readHeld(p, common).State == state
}

// readHeld is what is held, as the directory says that holds it. Where it is missing or damaged, everything is looked at.
func readHeld(p *project.Project, common string) (s heldState) {
	for _, dir := range holdIn(p) {
		var ok bool
		if s.dirs, ok = readPaths(filepath.Join(dir, heldName(common)), &s); ok {
			return s
		}
		s = heldState{}
	}
	return s
}

// Recheck has the next capture look at every object anew.
func Recheck(p *project.Project) error {
	var errs []error
	for _, dir := range append(holdIn(p), filepath.Join(p.StoreDir(), account.GitName)) {
		names, err := os.ReadDir(dir)
		if err != nil && !vfs.IsMissing(err) {
			return err
		}
		for _, name := range names {
			if suffix := filepath.Ext(name.Name()); suffix == heldSuffix || suffix == ".signature" {
				errs = append(errs, account.RemoveIfThere(filepath.Join(dir, name.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

const heldSuffix = ".held"

func heldName(common string) string {
	sum := oid.Sum([]byte(common))
	return sum.String()[:16] + heldSuffix
}

// objectDirs are an object directory and its alternates.
func objectDirs(objects string) []string {
	all := []string{objects}
	for i := 0; i < len(all) && len(all) < maxAlternates; i++ {
		text, err := vfs.ReadRegular(filepath.Join(all[i], "info", "alternates"), 0)
		if err != nil {
			continue // most have none
		}
		for line := range strings.Lines(string(text)) {
			dir := filepath.FromSlash(strings.TrimRight(line, "\r\n"))
			if dir == "" || strings.HasPrefix(dir, "#") {
				continue
			}
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(all[i], dir)
			}
			all = append(all, filepath.Clean(dir))
		}
	}
	return all
}

// hold holds what one object directory has.
func (h *holder) hold(ctx context.Context, objects string, start time.Time) error {
	names, err := os.ReadDir(objects)
	if vfs.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range names {
		name := entry.Name()
		wanted := isObject
		switch {
		case name == "pack":
			wanted = isPack
		case len(name) != 2 || !isHex(name):
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := objects + string(filepath.Separator) + name
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		ctime, _ := account.ChangeTime(info)
		left := h.left
		if h.last.dirs[dir] != uint64(ctime) {
			if err := h.holdDir(dir, name, wanted); err != nil {
				return err
			}
		}
		if h.left == left && time.Unix(0, ctime).Before(start.Add(-resolution)) {
			h.next.dirs[dir] = uint64(ctime)
		}
	}
	return nil
}

// holdDir holds the files of one directory of objects or packs.
func (h *holder) holdDir(dir, name string, wanted func(string) bool) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var held []fs.DirEntry // one look at each directory: a repository can have thousands of loose objects
	for _, dir := range h.there {
		names, _ := os.ReadDir(filepath.Join(dir, name)) // it may hold none of this name
		held = append(held, names...)
	}
	if len(h.there) > 1 {
		slices.SortFunc(held, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	for _, file := range files {
		if !file.Type().IsRegular() || !wanted(file.Name()) {
			continue
		}
		if _, is := slices.BinarySearchFunc(held, file.Name(), func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }); is {
			continue
		}
		if err := h.file(filepath.Join(dir, file.Name()), filepath.Join(name, file.Name())); err != nil && !vfs.IsMissing(err) {
			return err
		}
	}
	return nil
}

// file holds one file, which is not held, under its name below the object directory.
func (h *holder) file(from, name string) error {
	for len(h.dirs) > 0 {
		to := filepath.Join(h.dirs[0], name)
		err := h.makeDirs(filepath.Dir(to))
		if err == nil {
			err = h.signUp(from, filepath.Dir(to))
		}
		if err == nil {
			err = os.Link(from, to)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return nil
		case vfs.IsMissing(err):
			return err
		case len(h.dirs) == 1:
			return h.copy(from, to)
		}
		h.dirs = h.dirs[1:] // another file system, most often
		if h.signed != account.MirrorLooked {
			_ = h.p.SignUp(account.MirrorLacks) // else it seems to hold something
		}
	}
	return nil
}

// signUp tells the store that objects are about to be held in the account, if that can be, and whether that may be some that are forgotten.
func (h *holder) signUp(from, dir string) error {
	if len(h.dirs) == 1 || h.signed == account.MirrorHoldsForgotten {
		return nil
	}
	use := account.MirrorHolds
	if h.isForgotten(from) {
		use = account.MirrorHoldsForgotten
	}
	if use == h.signed {
		return nil
	}
	a, _, err := account.Identity(from)
	b, _, berr := account.Identity(dir)
	if err = errors.Join(err, berr); err != nil || a.Device != b.Device {
		return err // or the link is refused
	}
	h.signed = use
	return h.p.SignUp(use)
}

// isForgotten reports whether a loose object, or one in a pack, may be forgotten. Of the files of a pack it asks that with the objects.
func (h *holder) isForgotten(file string) bool {
	if h.gone == nil {
		h.gone = setOf(Forgotten(h.p))
	}
	switch base, isPack := strings.CutSuffix(file, ".pack"); {
	case len(h.gone) == 0:
		return false
	case isPack:
		has, err := packHas(base, h.gone)
		return err != nil || len(has) > 0
	}
	return h.gone[filepath.Base(filepath.Dir(file))+filepath.Base(file)]
}

func (h *holder) makeDirs(dir string) error {
	if h.made[dir] {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	h.made[dir] = true
	return nil
}

// copy holds a file that cannot have a second name.
func (h *holder) copy(from, to string) error {
	if account.Exists(to) { // an alternate has it, too
		return nil
	}
	f, info, err := vfs.OpenRegular(from, vfs.NoFollow)
	if err != nil {
		return err
	}
	defer f.Close() // read only: nothing can be lost
	if h.copied+info.Size() > maxCopied {
		h.left++
		return nil
	}
	err = vfs.Replace(vfs.OS, to, vfs.Replacement{Mode: 0o444, Own: h.p.Owner, NoSync: true, KeepDir: true}, func(w vfs.File) error {
		n, err := io.Copy(w, f)
		h.copied += n
		return err
	})
	return err
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func isObject(name string) bool { return (len(name) == 38 || len(name) == 62) && isHex(name) }

// isPack: a pack, its index, and the mark of a pack from a partial clone. What else lies there can be made from these.
func isPack(name string) bool {
	rest, ok := strings.CutPrefix(name, "pack-")
	hex, suffix, _ := strings.Cut(rest, ".")
	return ok && (len(hex) == 40 || len(hex) == 64) && isHex(hex) && (suffix == "pack" || suffix == "idx" || suffix == "promisor")
}
