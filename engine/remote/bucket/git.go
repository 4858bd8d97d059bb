package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// gitPlace is a bucket of refs in a git repository.
//
// The objects of one directory of names are the chain of a ref: each commit has one object more. A small object is the file
// in the commit's tree. Of a large one the tree has only a mark (an entry of the kind that submodules have, which git does not follow),
// and the object is the file in a commit that has a ref of its own. So a listing reads small objects alone, and to put an object needs the
// newest commit of one chain. Each push names the commit that it expects the ref to be at: of two that come at once, one is refused and
// begins anew.
//
// Each call has a temporary repository of its own, with what it needs of the host's. Nothing is written into a repository of the project.
type gitPlace struct {
	url      string
	prefix   string // of all refs, ends in "/"
	env      []string
	asked    sync.Once
	ssh      []string // what has ssh ask nothing
	timeout  time.Duration
	existing bool   // Options.Existing
	keep     string // Options.Keep

	putting sync.Mutex // one push at a time
	last    *chain     // of the last deletion
	mu      sync.Mutex
	sha256  bool             // the repository names its objects so
	flipped int              // how often that was found to be wrong
	tips    map[string]tip   // the newest commits of chains, by ref, as this bucket has pushed them; nil: the file was not read yet
	seen    map[string]entry // objects of the last listing
}

// Sizes of what is put, and of what a server may send, in bytes.
const (
	maxSmall    = 64 << 10 // of an object in a chain's tree
	maxChain    = 1 << 20  // commits in a chain
	slack       = 1 << 20  // of what comes with a large object
	refsBelow   = "refs/rewind/"
	chainName   = "LOG" // no name of an object has capital letters
	chainsBelow = "log/"
	largeBelow  = "large/"
	aloneName   = "object" // the file in the commit of a large object
	goneMark    = "@"      // behind the name of an object that is gone
)

// maxChains bounds all chains of a listing, in bytes, on their way and in memory. Tests make it small.
var maxChains int64 = 512 << 20

// entry is an object as a chain has it.
type entry struct {
	size  int64
	time  time.Time
	order int    // in its chain
	id    string // of the blob, or of the commit of a large object
	large bool
	gone  bool
	small []byte // nil for a large one
}

// chainOf is the ref of the chain that has the objects of a directory; "" is the directory of names without "/".
func (g *gitPlace) chainOf(dir string) string {
	return g.prefix + chainsBelow + path.Join(refText(dir), chainName)
}

func (g *gitPlace) largeRef(name string) string {
	return g.prefix + largeBelow + refText(name) + "/" + chainName
}

// refText is a name as a part of a ref, where ".." and ".lock" have a meaning.
func refText(name string) string { return strings.ReplaceAll(name, ".", "=") }

func dirOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func (g *gitPlace) Put(ctx context.Context, name string, body []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	g.putting.Lock()
	defer g.putting.Unlock()
	return about("put", name, g.change(ctx, dirOf(name), func(w *gitWriter, at tip) (next tip, push []update, err error) {
		blob, err := w.write("blob", body)
		if err != nil {
			return next, nil, err
		}
		e := entry{size: int64(len(body)), time: time.Now(), id: blob, large: len(body) > maxSmall}
		if !e.large && at.has == e.treeEntry(path.Base(name)) {
			return at, nil, nil // it was put by a request whose answer was lost
		}
		if e.large {
			alone, err := w.commit(tip{}, e.time, treeEntry{modeFile, aloneName, blob})
			if err != nil {
				return next, nil, err
			}
			// It is there before the chain has it. One that is there already is the same, or is replaced.
			e.id = alone.id
			push = append(push, update{ref: g.largeRef(name), to: e.id, force: true})
		}
		next, err = w.commit(at, e.time, e.treeEntry(path.Base(name)))
		return next, push, err
	}))
}

// change makes a new newest commit of a chain from the one that is there (zero: there is none), and pushes it after what else has to be pushed. It
// begins anew until nobody comes between.
func (g *gitPlace) change(ctx context.Context, dir string, make func(w *gitWriter, at tip) (next tip, before []update, err error)) error {
	ref := g.chainOf(dir)
	for try := 0; ; try++ {
		err := g.changeOnce(ctx, ref, make)
		if !errors.Is(err, errMoved) {
			return err
		}
		if try == maxMoved {
			return &UnreachableError{g.host(), errors.New("others push all the time")}
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(time.Duration(try+1) * 50 * time.Millisecond)):
		}
	}
}

func (g *gitPlace) changeOnce(ctx context.Context, ref string, make func(w *gitWriter, at tip) (next tip, before []update, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.tips == nil {
		g.tips = g.readKept()
	}
	at, known := g.tips[ref]
	delete(g.tips, ref)
	g.mu.Unlock()
	if !known {
		var err error
		if at, err = g.fetchTip(ctx, ref); err != nil {
			return err
		}
	}
	repo, err := g.repository()
	if err != nil {
		return err
	}
	defer os.RemoveAll(repo)
	w := &gitWriter{repo, g.isSHA256()}
	if err := w.shallow(at); err != nil {
		return err
	}
	next, before, err := make(w, at)
	if err != nil || next.id == at.id {
		return err
	}
	for _, u := range append(before, update{ref: ref, from: at.id, to: next.id}) {
		if err := g.push(ctx, repo, u); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tips[ref], g.seen = next, nil
	g.writeKept()
	return nil
}

// maxMoved bounds how often a push begins anew because another one came first.
const maxMoved = 30

func (g *gitPlace) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := CheckPrefix(prefix); err != nil {
		return nil, err
	}
	dir := ""
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		dir = prefix[:i]
	}
	all, _, err := g.fetchChains(ctx, dir, true)
	if err != nil {
		return nil, about("list", prefix+"*", err)
	}
	var found []Object
	for name, e := range all {
		found = append(found, Object{name, e.size, e.time})
	}
	g.mu.Lock()
	g.seen = all
	g.mu.Unlock()
	return listing(found, prefix), nil
}

func (g *gitPlace) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	e, ok := g.seen[name]
	g.mu.Unlock()
	if !ok {
		all, _, err := g.fetchChains(ctx, dirOf(name), false)
		if err != nil {
			return nil, about("get", name, err)
		}
		if e, ok = all[name]; !ok {
			return nil, about("get", name, fs.ErrNotExist)
		}
	}
	if e.size > limit {
		return nil, &TooLargeError{name, limit}
	}
	if !e.large {
		return slices.Clone(e.small), nil
	}
	body, err := g.fetchLarge(ctx, name, e)
	return body, about("get", name, err)
}

// Delete adds to the chain that the object is gone. When as much is gone as is left, the chain is written anew; the commits before are in no ref then, and
// when their bytes are removed is the host's choice.
func (g *gitPlace) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	g.putting.Lock()
	defer g.putting.Unlock()
	large := false
	err := g.change(ctx, dirOf(name), func(w *gitWriter, at tip) (next tip, before []update, err error) {
		c, err := g.whole(ctx, dirOf(name), at)
		if err != nil {
			return at, nil, err
		}
		e, ok := c.objects[name]
		if !ok {
			return at, nil, nil
		}
		large = e.large
		delete(c.objects, name)
		if c.gone++; c.gone < len(c.objects) {
			if _, err = w.write("blob", nil); err == nil {
				next, err = w.commit(at, time.Now(), treeEntry{modeFile, path.Base(name) + goneMark, objectID(w.sha256, "blob", nil)})
			}
			c.at = next.id
			return next, nil, err
		}
		c.gone = 0
		for _, n := range slices.SortedFunc(maps.Keys(c.objects), func(a, b string) int { return cmp.Compare(c.objects[a].order, c.objects[b].order) }) {
			e := c.objects[n]
			if !e.large {
				if _, err := w.write("blob", e.small); err != nil {
					return at, nil, err
				}
			}
			if next, err = w.commit(next, e.time, e.treeEntry(path.Base(n))); err != nil {
				return at, nil, err
			}
		}
		c.at = next.id
		return next, nil, nil
	})
	if err == nil && large {
		err = g.unref(ctx, g.largeRef(name))
	}
	return about("delete", name, err)
}

// whole is all of a chain: what the deletion before this one has left, or the host's.
func (g *gitPlace) whole(ctx context.Context, dir string, at tip) (*chain, error) {
	if c := g.last; c != nil && c.dir == dir && c.at == at.id {
		return c, nil
	}
	all, gone, err := g.fetchChains(ctx, dir, false)
	g.last = &chain{dir, at.id, all, gone}
	return g.last, err
}

// chain is what is in a chain.
type chain struct {
	dir, at string // at is its newest commit
	objects map[string]entry
	gone    int // how many objects it had that are gone
}

// repository makes a temporary repository: files of git's oldest format, so that no program is needed, and no template is used. The caller removes it.
func (g *gitPlace) repository() (dir string, err error) {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if g.isSHA256() {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	if dir, err = os.MkdirTemp("", "rewind-git-"); err != nil {
		return "", err
	}
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700), os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600), os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600))
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func (g *gitPlace) isSHA256() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sha256
}

func (g *gitPlace) host() string { return withoutSecrets(g.url) }

func (e entry) treeEntry(base string) treeEntry {
	if e.large {
		return treeEntry{modeMark, fmt.Sprintf("%s@%d", base, e.size), e.id}
	}
	return treeEntry{modeFile, base, e.id}
}
