package engine

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

// knownStore is one line of ~/.rewind/known: a store that was made or trusted
// on this account. A repository can ship a hostile store; it cannot get here.
type knownStore struct {
	id    storeID
	dirID // of the root
	mode  Mode
	root  string // real path
	going bool   // it is being removed, or was when the process died: nobody believes it any more
	// storage is the directory of a global store that does not lie where root would have
	// it: its directory was moved, or another one had the place. "": it does.
	storage string
	link    string // the store's real path, where it lies behind a link that the person allowed; "": no link
}

const knownHeader = "# rewind: stores of this account: id device inode mode root [birth N] [going 1] [storage path] [link path]\n"

func (k knownStore) line() string {
	line := fmt.Sprintf("%s %d %d %s %s", k.id, k.device, k.inode, k.mode, strconv.Quote(k.root))
	if k.birth != 0 {
		line += fmt.Sprintf(" birth %d", k.birth)
	}
	if k.storage != "" {
		line += " storage " + strconv.Quote(k.storage)
	}
	if k.going {
		line += " going 1"
	}
	if k.link != "" {
		line += " link " + strconv.Quote(k.link)
	}
	return line + "\n"
}

func parseKnown(line string) (knownStore, bool) {
	var k knownStore
	fields := strings.SplitN(line, " ", 5)
	if len(fields) != 5 {
		return k, false
	}
	var err error
	if k.id, err = parseStoreID(fields[0]); err != nil {
		return k, false
	}
	if k.device, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return k, false
	}
	if k.inode, err = strconv.ParseUint(fields[2], 10, 64); err != nil {
		return k, false
	}
	k.mode = Mode(fields[3])
	if k.mode != ProjectMode && k.mode != GlobalMode {
		return k, false
	}
	root, rest, err := cutQuoted(fields[4])
	if err != nil || !filepath.IsAbs(root) {
		return k, false
	}
	k.root = root
	return k, k.parseMore(rest)
}

// parseMore reads what versions after the first have added to a line: words, each
// with a value. Words that a later version may add are skipped.
func (k *knownStore) parseMore(rest string) bool {
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
				k.birth, err = strconv.ParseInt(text, 10, 64)
			case "going":
				k.going = true
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

// knownStores reads the registry, without the stores that are being removed.
func knownStores(env Env) ([]knownStore, error) {
	all, err := registry(env)
	return slices.DeleteFunc(all, func(k knownStore) bool { return k.going }), err
}

// going reports whether the removal of a store has begun.
func going(env Env, id storeID) bool {
	all, _ := registry(env) // what cannot be read says nothing
	return slices.ContainsFunc(all, func(k knownStore) bool { return k.id == id && k.going })
}

// registry reads all of the registry. Lines that do not parse are left out: the
// worst that follows is a store that must be trusted again.
func registry(env Env) ([]knownStore, error) {
	account := env.accountDir()
	if account == "" {
		return nil, nil
	}
	data, err := readSmall(filepath.Join(account, "known"), 64<<20)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []knownStore
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if k, ok := parseKnown(lines.Text()); ok {
			all = append(all, k)
		}
	}
	return all, lines.Err()
}

var errNoHome = errors.New("there is no home directory to register the store in")

// register puts k into the registry in place of any line with its id, or,
// where drop is set, only takes its id out.
func register(ctx context.Context, env Env, k knownStore, drop bool) error {
	account := env.accountDir()
	if account == "" {
		return errNoHome
	}
	owner := ownerOf(env.Home)
	if err := makeDir(account, owner); err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(account, "known.lock"), "registry", true)
	if err != nil {
		return err
	}
	defer lock.release()
	all, err := registry(env)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(knownHeader)
	for _, old := range all {
		if old.id != k.id {
			out.WriteString(old.line())
		}
	}
	if !drop {
		out.WriteString(k.line())
	}
	return writeFile(filepath.Join(account, "known"), []byte(out.String()), owner)
}

// unfinished reports whether k is of an init that was killed before there was
// anything in its store: it has not vanished, and init takes its id up.
func (k knownStore) unfinished(env Env) bool {
	store := k.store(env)
	return !isStore(store) && exists(filepath.Join(store, objectsName)) && !exists(vaultDir(env, k.id))
}

// store is the directory that k has its store in, when it has one.
func (k knownStore) store(env Env) string {
	switch {
	case k.storage != "":
		return k.storage
	case k.mode == GlobalMode:
		return globalStore(env, k.root)
	}
	return filepath.Join(k.root, filepath.FromSlash(storeName))
}

// packs is the directory of second names of k, or of its objects where it lives
// without; "" where there is neither.
func (k knownStore) packs(env Env) string {
	if vault := vaultDir(env, k.id); isDir(vault) {
		return vault
	}
	if k.state(env) == StoreLive || k.mode == GlobalMode && isStore(k.store(env)) {
		return filepath.Join(k.store(env), objectsName)
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
func (k knownStore) state(env Env) StoreState {
	now, _, err := identity(k.root)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return StoreGone
	case err != nil:
		return StoreUnreachable
	case !k.isOf(env, k.root, now):
		return StoreReplaced
	}
	f, err := readFormat(k.store(env))
	switch {
	case err == nil && f.ID == k.id.String(), err != nil && isStore(k.store(env)):
		return StoreLive // one that cannot be read is still there
	case err == nil:
		return StoreReplaced
	case k.unfinished(env):
		return StoreUnfinished
	}
	return StoreLost
}

// vaultDir is where a store's packs have their second names, "" without a home.
func vaultDir(env Env, id storeID) string {
	account := env.accountDir()
	if account == "" {
		return ""
	}
	return filepath.Join(account, "vault", id.String())
}
