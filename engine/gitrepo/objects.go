package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rewind-cli/rewind/cas/vfs"
)

const (
	maxObject     = 128 << 20 // of a tree or a rule file, in bytes
	maxDeltaChain = 4096
	maxAlternates = 100
)

// errNoObject: neither loose nor in a pack, as in a partial clone.
var errNoObject = errors.New("the object is not here")

type objectType uint8

// Types of objects in packs.
const (
	commitObject objectType = 1
	treeObject   objectType = 2
	blobObject   objectType = 3
	offsetDelta  objectType = 6
	refDelta     objectType = 7
)

// objects reads single objects of a repository: trees and the blobs of rule files, never
// many. It opens what it needs, and keeps nothing open. It is safe for concurrent use.
type objects struct {
	dir string // the repository's own
	oid int    // bytes of an object id

	once sync.Once
	dirs []string // that and its alternates

	mu    sync.Mutex
	trees map[string][]byte // by id
}

func (r Repo) objects(oid int) *objects {
	return &objects{dir: filepath.Join(r.CommonDir, "objects"), oid: oid, trees: map[string][]byte{}}
}

// all are the directories with objects, the repository's own first.
func (o *objects) all() []string {
	o.once.Do(func() {
		o.dirs = []string{o.dir}
		for i := 0; i < len(o.dirs) && len(o.dirs) < maxAlternates; i++ {
			text, err := readFile(filepath.Join(o.dirs[i], "info", "alternates"), maxConfig)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				line = strings.TrimRight(line, "\r\n")
				if line == "" || line[0] == '#' {
					continue
				}
				if !filepath.IsAbs(line) {
					line = filepath.Join(o.dirs[i], line)
				}
				o.dirs = append(o.dirs, line)
			}
		}
	})
	return o.dirs
}

// tree reads a tree object, once.
func (o *objects) tree(id string) ([]byte, error) {
	o.mu.Lock()
	data, ok := o.trees[id]
	o.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := o.read(id, treeObject)
	if err == nil {
		o.mu.Lock()
		o.trees[id] = data
		o.mu.Unlock()
	}
	return data, err
}

// find walks from a tree down a path. There is nothing at it if mode is 0.
func (o *objects) find(tree, path string) (mode uint32, id string, err error) {
	for {
		name, rest, more := strings.Cut(path, "/")
		data, err := o.tree(tree)
		if err != nil {
			return 0, "", err
		}
		mode, id = 0, ""
		for len(data) > 0 {
			m, n, next, ok := o.treeEntry(data)
			if !ok {
				return 0, "", &FormatError{hex.EncodeToString([]byte(tree)), "not a tree"}
			}
			if n == name {
				mode, id = m, string(data[next-o.oid:next])
				break
			}
			data = data[next:]
		}
		if !more || mode != modeDirectory {
			if more {
				mode = 0
			}
			return mode, id, nil
		}
		tree, path = id, rest
	}
}

// treeEntry reads the first entry: "mode name", NUL and the id, which ends at next.
func (o *objects) treeEntry(data []byte) (mode uint32, name string, next int, ok bool) {
	space, nul := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
	next = nul + 1 + o.oid
	if space < 1 || nul < space || next > len(data) {
		return 0, "", 0, false
	}
	for _, c := range data[:space] {
		if c < '0' || c > '7' {
			return 0, "", 0, false
		}
		mode = mode<<3 | uint32(c-'0')
	}
	return mode, string(data[space+1 : nul]), next, true
}

// read reads an object that must be of the type.
func (o *objects) read(id string, typ objectType) ([]byte, error) {
	name := hex.EncodeToString([]byte(id))
	for _, dir := range o.all() {
		data, err := readLoose(filepath.Join(dir, name[:2], name[2:]), typ)
		if !vfs.IsMissing(err) {
			return data, err
		}
	}
	got, data, err := o.packed(id)
	if err == nil && got != typ {
		err = &FormatError{name, "not of the type that it should be"}
	}
	return data, err
}

func readLoose(file string, typ objectType) ([]byte, error) {
	f, _, err := openRegular(file, maxObject, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	bad := func() ([]byte, error) { return nil, &FormatError{file, "not the object that it should be"} }
	z, err := zlib.NewReader(f)
	if err != nil {
		return bad()
	}
	b := bufio.NewReader(z)
	head, err := b.ReadString(0)
	if err != nil || len(head) > 64 {
		return bad()
	}
	var kind string
	var size int64
	if _, err := fmt.Sscanf(strings.TrimSuffix(head, "\x00"), "%s %d", &kind, &size); err != nil || size < 0 || size > maxObject ||
		kind != map[objectType]string{commitObject: "commit", treeObject: "tree", blobObject: "blob"}[typ] {
		return bad()
	}
	data, err := io.ReadAll(io.LimitReader(b, size+1))
	if err != nil || int64(len(data)) != size {
		return bad()
	}
	return data, nil
}

// packed looks an object up in the packs.
func (o *objects) packed(id string) (objectType, []byte, error) {
	for _, dir := range o.all() {
		names, _ := os.ReadDir(filepath.Join(dir, "pack"))
		for _, e := range names {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok {
				continue
			}
			base = filepath.Join(dir, "pack", base)
			at, ok := o.lookUp(base+".idx", id)
			if !ok {
				continue
			}
			f, size, err := openRegular(base+".pack", 1<<62, 0)
			if err != nil {
				continue // replaced by a new one: the object is in that
			}
			typ, data, err := o.unpack(f, size, at)
			f.Close() // read only: nothing can be lost
			return typ, data, err
		}
	}
	return 0, nil, errNoObject
}

// lookUp finds where a pack has an object, by the pack's index of version 1 or 2.
func (o *objects) lookUp(file, id string) (at int64, ok bool) {
	f, size, err := openRegular(file, 1<<62, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close() // read only: nothing can be lost
	u32 := func(off int64) uint32 {
		var b [4]byte
		if _, rerr := f.ReadAt(b[:], off); rerr != nil {
			err = rerr
		}
		return binary.BigEndian.Uint32(b[:])
	}
	const fanout = 256 * 4
	v2 := u32(0) == 0xff744f63 // no fan-out begins so
	start, step, skip := int64(0), int64(4+o.oid), int64(4)
	if v2 {
		if u32(4) != 2 {
			return 0, false
		}
		start, step, skip = 8, int64(o.oid), 0
	}
	count := int64(u32(start + fanout - 4))
	lo, hi := int64(0), int64(u32(start+4*int64(id[0])))
	if id[0] > 0 {
		lo = int64(u32(start + 4*int64(id[0]) - 4))
	}
	table := start + fanout
	if err != nil || hi > count || lo > hi || table+count*step > size {
		return 0, false
	}
	got := make([]byte, o.oid)
	for lo < hi {
		mid := (lo + hi) / 2
		if _, err := f.ReadAt(got, table+mid*step+skip); err != nil {
			return 0, false
		}
		switch c := strings.Compare(id, string(got)); {
		case c < 0:
			hi = mid
		case c > 0:
			lo = mid + 1
		case !v2:
			at = int64(u32(table + mid*step))
			return at, err == nil
		default:
			small := table + count*step + 4*count // behind the checksums
			at = int64(u32(small + 4*mid))
			if at&(1<<31) != 0 {
				large := small + 4*count + 8*(at&^(1<<31))
				at = int64(u32(large))<<32 | int64(u32(large+4))
			}
			return at, err == nil
		}
	}
	return 0, false
}
