package project

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KnownStore is one line of ~/.rewind/known: a store that was made or trusted
// on this account. A repository can ship a hostile store; it cannot get here.
type KnownStore struct {
	ID    StoreID
	DirID // of the root
	Mode  Mode
	Root  string // real path
	Going bool   // it is being removed, or was when the process died: nobody believes it any more
	// storage is the directory of a global store that does not lie where root would have
	// it: its directory was moved, or another one had the place. "": it does.
	storage string
	link    string // the store's real path, where it lies behind a link that the person allowed; "": no link
}

const knownHeader = "# rewind: stores of this account: id device inode mode root [birth N] [going 1] [storage path] [link path]\n"

func (k KnownStore) Line() string {
	line := fmt.Sprintf("%s %d %d %s %s", k.ID, k.Device, k.Inode, k.Mode, strconv.Quote(k.Root))
	if k.Birth != 0 {
		line += fmt.Sprintf(" birth %d", k.Birth)
	}
	if k.storage != "" {
		line += " storage " + strconv.Quote(k.storage)
	}
	if k.Going {
		line += " going 1"
	}
	if k.link != "" {
		line += " link " + strconv.Quote(k.link)
	}
	return line + "\n"
}

func ParseKnown(line string) (KnownStore, bool) {
	var k KnownStore
	fields := strings.SplitN(line, " ", 5)
	if len(fields) != 5 {
		return k, false
	}
	var err error
	if k.ID, err = ParseStoreID(fields[0]); err != nil {
		return k, false
	}
	if k.Device, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return k, false
	}
	if k.Inode, err = strconv.ParseUint(fields[2], 10, 64); err != nil {
		return k, false
	}
	k.Mode = Mode(fields[3])
	if k.Mode != ProjectMode && k.Mode != GlobalMode {
		return k, false
	}
	root, rest, err := cutQuoted(fields[4])
	if err != nil || !filepath.IsAbs(root) {
		return k, false
	}
	k.Root = root
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
				k.link = text
			case "storage":
				k.storage = text
			}
		default:
			text, rest, _ = strings.Cut(value, " ")
			switch word {
			case "birth":
				k.Birth, err = strconv.ParseInt(text, 10, 64)
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
	all, err := registry(env)
	return slices.DeleteFunc(all, func(k KnownStore) bool { return k.Going }), err
}

// going reports whether the removal of a store has begun.
func going(env Env, id StoreID) bool {
	all, _ := registry(env) // what cannot be read says nothing
	return slices.ContainsFunc(all, func(k KnownStore) bool { return k.ID == id && k.Going })
}

// registry reads all of the registry. Lines that do not parse are left out: the
// worst that follows is a store that must be trusted again.
func registry(env Env) ([]KnownStore, error) {
	account := env.AccountDir()
	if account == "" {
		return nil, nil
	}
	data, err := ReadSmall(filepath.Join(account, "known"), 64<<20)
	if errors.Is(err, fs.ErrNotExist) || IsNotDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []KnownStore
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if k, ok := ParseKnown(lines.Text()); ok {
			all = append(all, k)
		}
	}
	return all, lines.Err()
}

var errNoHome = errors.New("there is no home directory to register the store in")

// Register puts k into the registry in place of any line with its id, or,
// where drop is set, only takes its id out.
func Register(ctx context.Context, env Env, k KnownStore, drop bool) error {
	account := env.AccountDir()
	if account == "" {
		return errNoHome
	}
	owner := OwnerOf(env.Home)
	if err := MakeDir(account, owner); err != nil {
		return err
	}
	lock, err := LockFile(ctx, filepath.Join(account, "known.lock"), "registry", true)
	if err != nil {
		return err
	}
	defer lock.Release()
	all, err := registry(env)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(knownHeader)
	for _, old := range all {
		if old.ID != k.ID {
			out.WriteString(old.Line())
		}
	}
	if !drop {
		out.WriteString(k.Line())
	}
	return WriteFile(filepath.Join(account, "known"), []byte(out.String()), owner)
}

// unfinished reports whether k is of an init that was killed before there was
// anything in its store: it has not vanished, and init takes its id up.
func (k KnownStore) unfinished(env Env) bool {
	store := k.store(env)
	return !isStore(store) && Exists(filepath.Join(store, ObjectsName)) && !Exists(MirrorDir(env, k.ID))
}

// store is the directory that k has its store in, when it has one.
func (k KnownStore) store(env Env) string {
	switch {
	case k.storage != "":
		return k.storage
	case k.Mode == GlobalMode:
		return GlobalStore(env, k.Root)
	}
	return filepath.Join(k.Root, filepath.FromSlash(StoreName))
}

// packs is the mirror of k, or of its objects where it lives
// without; "" where there is neither.
func (k KnownStore) packs(env Env) string {
	if mirror := MirrorDir(env, k.ID); isDir(mirror) {
		return mirror
	}
	if k.state(env) == StoreLive || k.Mode == GlobalMode && isStore(k.store(env)) {
		return filepath.Join(k.store(env), ObjectsName)
	}
	return ""
}

// newestChange is when the newest pack of a directory was added to.
func newestChange(dir string) time.Time {
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

// state says what has become of k.
func (k KnownStore) state(env Env) StoreState {
	now, _, err := identity(k.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist), IsNotDir(err):
		return StoreGone
	case err != nil:
		return StoreUnreachable
	case !k.IsOf(env, k.Root, now):
		return StoreReplaced
	}
	f, err := readFormat(k.store(env))
	switch {
	case err == nil && f.ID == k.ID.String(), err != nil && isStore(k.store(env)):
		return StoreLive // one that cannot be read is still there
	case err == nil:
		return StoreReplaced
	case k.unfinished(env):
		return StoreUnfinished
	}
	return StoreLost
}

// MirrorDir is where a store's packs are mirrored, "" without a home.
func MirrorDir(env Env, id StoreID) string {
	account := env.AccountDir()
	if account == "" {
		return ""
	}
	return filepath.Join(account, "vault", id.String())
}
