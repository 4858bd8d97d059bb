package scan

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/manifest"
)

var errNotDir = errors.New("not a directory")

// errDamaged says that the stat cache or a manifest it names cannot be used: the
// scan starts over without the stat cache.
var errDamaged = errors.New("the stat cache does not fit the store")

// node is a directory that the walk looks at. It is filled by one worker at a
// time; pending hands it from one to the next.
type node struct {
	parent   *node
	name     string
	depth    int
	ord      int32 // in the stat cache, -1 if it was not there
	descend  bool  // captured only for what is below
	redecide bool  // rules above changed: list and decide anew

	mode  uint16
	fp    uint64
	rules uint64
	scope *ignore.Scope // guarded by walk.scopes; nil until asked for

	ents    []entry
	changed bool // a captured name went
	loading sync.Mutex
	old     *manifest.Dir // of the stat cache, once loaded; guarded by loading
	pending atomic.Int32  // tasks and child nodes that are not finished

	// Results, for the parent and for Publish.
	built        bool // files and bytes are known
	same         bool // manifest and mode are as in the stat cache
	gone         bool // it is not there, or no directory any more
	problem      byte // kindExempt or kindFailed: not captured
	reason       string
	empty        bool // descend, and nothing below was captured: no entry
	id           oid.ID
	files, bytes uint64
	block        []byte // as for the stat cache; slots of directories are filled in by Publish
	count        int
	flags        uint16
	kids         []kid
}

// kid is a directory entry of a finished node.
type kid struct {
	slot int32 // index of its entry
	ord  int32 // in the stat cache, when node is nil
	node *node // nil: as in the stat cache
}

// entry is a name in a node.
type entry struct {
	name   string
	kind   byte // with flags; 0: vanished
	known  bool // unchanged: m comes from the old manifest
	was    bool // the stat cache has it as captured
	slot   uint64
	reason string
	child  *node // of a directory that is walked
	ord    int32 // of a directory that is as in the stat cache
	m      manifest.Entry
}

func (e *entry) captured() bool { return captured(e.kind) }

// descends: a directory that is captured only for what is below.
func (e *entry) descends() bool { return e.kind&kindMask == kindDir && e.kind&flagDescend != 0 }

// flags of a captured file that its decision gave it.
func (e *entry) flags() byte { return e.kind & (flagSmall | flagMarked) }

// captured reports whether a kind is one that manifests hold.
func captured(kind byte) bool {
	kind &= kindMask
	return kind == kindFile || kind == kindSymlink || kind == kindDir
}

// captured is false for the nil record too.
func (r *record) captured() bool { return r != nil && captured(r.kind) }

func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	size := -1
	for up := n; up.parent != nil; up = up.parent {
		size += 1 + len(up.name)
	}
	b := make([]byte, size)
	for up := n; up.parent != nil; up = up.parent {
		size -= copy(b[size-len(up.name):], up.name)
		if size > 0 {
			size--
			b[size] = '/'
		}
	}
	return string(b)
}

// scopeOf finds the rules for a node's entries, reading those of its
// ancestors that have none yet. rules is what n's rule files hold
// when it has just been listed, else nil.
func (k *worker) scopeOf(n *node, rules func(string) []byte) *ignore.Scope {
	k.w.scopes.Lock()
	defer k.w.scopes.Unlock()
	var chain []*node
	for up := n; up != nil && up.scope == nil; up = up.parent {
		chain = append(chain, up)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		up := chain[i]
		read := func(name string) []byte { return k.ruleFile(up, name) }
		if up == n && rules != nil {
			read = rules
		}
		if up.parent == nil {
			up.scope = k.w.rules.Root(read)
		} else {
			up.scope = up.parent.scope.Child(up.name, read)
		}
	}
	return n.scope
}

// decide asks the rules about a name, and gives the entry what they say.
func (n *node) decide(s *ignore.Scope, e *entry, dir bool) {
	d, rule := s.Decide(e.name, dir)
	e.kind, e.reason = 0, ""
	switch {
	case d == ignore.Skip, d == ignore.Descend && !dir:
		e.kind = kindIgnored
	case dir:
		e.kind = kindDir
		if d == ignore.Descend {
			e.kind |= flagDescend
		}
	case d == ignore.IfSmall:
		e.kind = kindFile | flagSmall
	case d == ignore.Precious:
		e.kind = kindFile | flagSmall | flagMarked
	case d == ignore.Marked:
		e.kind = kindFile | flagMarked
	default:
		e.kind = kindFile
	}
	// Below a directory that is itself reported, what is left out goes without saying.
	out := e.kind&kindMask == kindIgnored || e.descends()
	if out && rule != "" && !n.descend {
		e.kind |= flagReason
	}
	if out || e.kind&flagSmall != 0 {
		e.reason = "ignored: " + rule
	}
	if d == ignore.Precious {
		e.reason += ", and larger than the 10 MiB limit for precious files"
	}
}
