package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// knownStore is one line of ~/.rewind/known: a store that was made or trusted
// on this account. A repository can ship a hostile store; it cannot get here.
type knownStore struct {
	id            storeID
	device, inode uint64 // of the root
	mode          Mode
	root          string // real path
}

const knownHeader = "# rewind: stores of this account: id device inode mode root\n"

func (k knownStore) line() string {
	return fmt.Sprintf("%s %d %d %s %s\n", k.id, k.device, k.inode, k.mode, strconv.Quote(k.root))
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
	k.root, err = strconv.Unquote(fields[4])
	return k, err == nil && filepath.IsAbs(k.root)
}

// knownStores reads the registry. Lines that do not parse are left out: the
// worst that follows is a store that must be trusted again.
func knownStores(env Env) ([]knownStore, error) {
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

// register puts k into the registry in place of any line with its id, or,
// where drop is set, only takes its id out.
func register(ctx context.Context, env Env, k knownStore, drop bool) error {
	account := env.accountDir()
	if account == "" {
		return errors.New("there is no home directory to register the store in")
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
	all, err := knownStores(env)
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
	store := filepath.Join(k.root, filepath.FromSlash(storeName))
	if k.mode == GlobalMode {
		store = globalStore(env, k.root)
	}
	return !isStore(store) && exists(filepath.Join(store, objectsName)) && !exists(vaultDir(env, k.id))
}

// vaultDir is where a store's packs have their second names, "" without a home.
func vaultDir(env Env, id storeID) string {
	account := env.accountDir()
	if account == "" {
		return ""
	}
	return filepath.Join(account, "vault", id.String())
}
