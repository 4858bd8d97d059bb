package account

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// KnownStore is one line of ~/.rewind/known: a store that was made or trusted
// on this account. A repository can ship a hostile store; it cannot get here.
type KnownStore struct {
	ID    StoreID
	DirID // of the root
	Mode  Mode
	Root  string // real path
	Going bool   // it is being removed, or was when the process died: it does not count any more
	// storage is the directory of a global store that does not lie where root would have
	// it: its directory was moved, or another one had the place. "": it does.
	Storage string
	Parent  uint64 // inode of the directory that root is in, 0 where that is not known
	// FileSystem is that of the same directory, as fileSystemID has it: another disk that is mounted at the place of this
	// one can have its device number, and the inode of its root.
	FileSystem uint64
	Link       string // the store's real path, where it lies behind a link that the person allowed; "": no link
}

const knownHeader = "# rewind: stores of this account: id device inode mode root [birth N] [parent N] [filesystem N] [going 1] [storage path] [link path]\n"

// line is k as a line of the registry.
func (k KnownStore) line() string {
	line := fmt.Sprintf("%s %d %d %s %s", k.ID, k.Device, k.Inode, k.Mode, strconv.Quote(k.Root))
	if k.Birth != 0 {
		line += fmt.Sprintf(" birth %d", k.Birth)
	}
	if k.Parent != 0 {
		line += fmt.Sprintf(" parent %d", k.Parent)
	}
	if k.FileSystem != 0 {
		line += fmt.Sprintf(" filesystem %d", k.FileSystem)
	}
	if k.Storage != "" {
		line += " storage " + strconv.Quote(k.Storage)
	}
	if k.Going {
		line += " going 1"
	}
	if k.Link != "" {
		line += " link " + strconv.Quote(k.Link)
	}
	return line + "\n"
}

// parseKnown reads a line of the registry.
func parseKnown(line string) (KnownStore, bool) {
	var k KnownStore
	fields := strings.SplitN(line, " ", 5)
	if len(fields) != 5 {
		return k, false
	}
	var bad [4]error
	k.ID, bad[0] = ParseStoreID(fields[0])
	k.Device, bad[1] = strconv.ParseUint(fields[1], 10, 64)
	k.Inode, bad[2] = strconv.ParseUint(fields[2], 10, 64)
	k.Mode = Mode(fields[3])
	var rest string
	k.Root, rest, bad[3] = cutQuoted(fields[4])
	if bad != [4]error{} || k.Mode != ProjectMode && k.Mode != GlobalMode || !filepath.IsAbs(k.Root) {
		return k, false
	}
	return k, k.parseMore(rest)
}

// parseMore reads what versions after the first have added to a line: words, each
// with a value. Words that a later version may add are skipped.
func (k *KnownStore) parseMore(rest string) bool {
	for rest != "" {
		word, value, ok := strings.Cut(strings.TrimPrefix(rest, " "), " ")
		if !ok || word == "" {
			return false
		}
		var err error
		switch text := ""; {
		case strings.HasPrefix(value, `"`):
			text, rest, err = cutQuoted(value)
			switch word {
			case "link":
				k.Link = text
			case "storage":
				k.Storage = text
			}
		default:
			text, rest, _ = strings.Cut(value, " ")
			switch word {
			case "birth":
				k.Birth, err = strconv.ParseInt(text, 10, 64)
			case "parent":
				k.Parent, err = strconv.ParseUint(text, 10, 64)
			case "filesystem":
				k.FileSystem, err = strconv.ParseUint(text, 10, 64)
			case "going":
				k.Going = true
			}
		}
		if err != nil {
			return false
		}
	}
	return true
}

// cutQuoted takes a quoted string from the front of s.
func cutQuoted(s string) (text, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", err
	}
	text, err = strconv.Unquote(quoted)
	return text, s[len(quoted):], err
}

// KnownStores reads the registry, without the stores that are being removed.
func KnownStores(env Env) ([]KnownStore, error) {
	all, err := Registry(env)
	return slices.DeleteFunc(all, func(k KnownStore) bool { return k.Going }), err
}

// IsGoing reports whether the removal of a store has begun.
func IsGoing(env Env, id StoreID) bool {
	all, _ := Registry(env) // what cannot be read says nothing
	return slices.ContainsFunc(all, func(k KnownStore) bool { return k.ID == id && k.Going })
}

// Registry reads all of the registry. Lines that do not parse are left out: the
// worst that follows is a store that must be trusted again.
func Registry(env Env) ([]KnownStore, error) {
	account := env.AccountDir()
	if account == "" {
		return nil, nil
	}
	if _, err := followAccountLink(account); err != nil {
		return nil, err
	}
	file := filepath.Join(account, "known")
	data, err := vfs.ReadSmall(file, 64<<20, vfs.NoFollow)
	if vfs.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, InPlace(file, false, err)
	}
	var all []KnownStore
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if k, ok := parseKnown(lines.Text()); ok {
			all = append(all, k)
		}
	}
	return all, lines.Err()
}

// ErrNoHome: without a home directory there is no registry.
var ErrNoHome = errors.New("there is no home directory to register the store in")

// Register puts k into the registry in place of any line with its id, or,
// where drop is set, only takes its id out.
func Register(ctx context.Context, env Env, k KnownStore, drop bool) error {
	account, owner, err := env.MakeAccountDir()
	if err != nil {
		return err
	}
	lock, err := LockFile(ctx, filepath.Join(account, "known.lock"), "registry", true)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := Registry(env)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(knownHeader)
	for _, old := range all {
		if old.ID != k.ID {
			out.WriteString(old.line())
		}
	}
	if !drop {
		if parent, _, err := Identity(filepath.Dir(k.Root)); err == nil && Exists(k.Root) {
			k.Parent, k.FileSystem = parent.Inode, fileSystemID(filepath.Dir(k.Root))
		}
		out.WriteString(k.line())
	}
	return WriteFile(filepath.Join(account, "known"), []byte(out.String()), owner)
}

// Unfinished reports whether k is of an init that was killed before there was
// anything in its store: it has not vanished, and init takes its id up.
func (k KnownStore) Unfinished(env Env) bool {
	store := k.Store(env)
	return !IsStore(store) && Exists(filepath.Join(store, ObjectsName)) && !Exists(MirrorDir(env, k.ID))
}

// Store is the directory that k has its store in, when it has one.
func (k KnownStore) Store(env Env) string {
	switch {
	case k.Storage != "":
		return k.Storage
	case k.Mode == GlobalMode:
		return GlobalStore(env, k.Root)
	}
	return filepath.Join(k.Root, filepath.FromSlash(StoreName))
}

// Packs is the mirror of k, or of its objects where it lives
// without; "" where there is neither.
func (k KnownStore) Packs(env Env) string {
	if mirror := MirrorDir(env, k.ID); IsDir(mirror) {
		return mirror
	}
	if k.State(env) == Live || k.Mode == GlobalMode && IsStore(k.Store(env)) {
		return filepath.Join(k.Store(env), ObjectsName)
	}
	return ""
}

// NewestChange is when the newest pack of a directory was added to.
func NewestChange(dir string) time.Time {
	var newest time.Time
	entries, _ := os.ReadDir(dir) // what cannot be read has no time
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".pack" {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

// State says what has become of k.
func (k KnownStore) State(env Env) State {
	now, _, err := Identity(k.Root)
	switch {
	case vfs.IsMissing(err) && k.wasThere():
		return Gone
	case err != nil:
		return Unreachable
	case !k.IsOf(env, k.Root, now):
		return Replaced
	}
	f, err := ReadFormat(k.Store(env))
	switch {
	case err == nil && f.ID == k.ID.String(), err != nil && IsStore(k.Store(env)):
		return Live // one that cannot be read is still there
	case err == nil:
		return Replaced
	case k.Unfinished(env):
		return Unfinished
	}
	return Lost
}

// wasThere reports whether root, where nothing is, is the place that the project had: what is around it is on the same
// file system. Else a disk is not mounted, or this is a container that sees other directories. A global store is the only
// one of its project: the directory that root was in must be there, and the same one.
func (k KnownStore) wasThere() bool {
	parent := filepath.Dir(k.Root)
	around := parent
	for {
		now, _, err := Identity(around)
		switch {
		case err == nil && now.Inode == 0 || k.Inode == 0:
			return true // there is nothing to compare here
		case err == nil && now.Device != k.Device:
			return false
		case err == nil && around == parent:
			return (k.Parent == 0 || k.Parent == now.Inode) && (k.FileSystem == 0 || k.FileSystem == fileSystemID(parent))
		case err == nil:
			return k.Mode != GlobalMode
		case around == filepath.Dir(around):
			return false
		}
		around = filepath.Dir(around)
	}
}

// MirrorDir is where a store's packs are mirrored, "" without a home.
func MirrorDir(env Env, id StoreID) string {
	account := env.AccountDir()
	if account == "" {
		return ""
	}
	return filepath.Join(account, MirrorsName, id.String())
}

// HasMirrors reports whether the account has the mirror of any store.
func HasMirrors(env Env) bool {
	if env.AccountDir() == "" {
		return false
	}
	entries, _ := os.ReadDir(filepath.Join(env.AccountDir(), MirrorsName)) // what cannot be listed has none to offer
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := ParseStoreID(e.Name())
		return err == nil
	})
}

// PlaceIn is where the store of k lies, or would; "" where that is not known.
func (k KnownStore) PlaceIn(env Env) string {
	if k.Root == "" {
		return k.Storage
	}
	return k.Store(env)
}

// GlobalStore is the directory of the global store of root, "" without a home.
func GlobalStore(env Env, root string) string {
	account := env.AccountDir()
	if account == "" {
		return ""
	}
	id := oid.Sum([]byte(root))
	return filepath.Join(account, StorageName, hex.EncodeToString(id[:16]))
}

// Mode says where a store lies.
type Mode string

const (
	ProjectMode Mode = "project" // .agent/rewind below the root
	GlobalMode  Mode = "global"  // ~/.rewind/storage/<hash of the root's real path>
)
