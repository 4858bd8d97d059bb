package hook

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// warnedName is the file of the account that remembers in which directories the
// person got the warning that nothing is captured there: one hash a line, newest last.
// It can be lost at any time.
const warnedName = "warned"

const (
	// maxWarned is how many directories it remembers.
	maxWarned = 2000
	// maxWarnedFile bounds what is read of it, in bytes.
	maxWarnedFile = 1 << 18
)

// WarnOnce reports whether the warning about root is still to be given, and
// remembers that it was. It is false where that cannot be remembered.
func WarnOnce(ctx context.Context, env account.Env, root string) bool {
	accountDir := env.AccountDir()
	if accountDir == "" {
		return false
	}
	file := filepath.Join(accountDir, warnedName)
	sum := oid.Sum([]byte(root))
	key := hex.EncodeToString(sum[:8])
	read := func() ([]string, error) {
		data, err := vfs.ReadSmall(file, maxWarnedFile, vfs.NoFollow)
		return strings.Fields(string(data)), err
	}
	if all, err := read(); err == nil && slices.Contains(all, key) {
		return false // the usual case takes no lock
	}
	_, owner, err := env.MakeAccountDir()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	lock, err := account.LockFile(ctx, file+".lock", warnedName, true)
	if err != nil {
		return false // another hook is at it: it tells
	}
	defer lock.Release()
	all, _ := read() // what cannot be read is made anew
	if slices.Contains(all, key) {
		return false
	}
	all = append(all[max(0, len(all)-maxWarned+1):], key)
	return account.WriteCache(file, []byte(strings.Join(all, "\n")+"\n"), owner) == nil
}
