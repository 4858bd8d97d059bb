package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// leftAge is when a temporary file is nobody's any more: writing a small file
// takes milliseconds.
const leftAge = time.Hour

// removeLeft removes what processes left that died while they replaced a small
// file of the store or of the account.
func removeLeft(p *project.Project) {
	store, accountDir := p.StoreDir(), p.Env.AccountDir()
	dirs := []string{store, filepath.Join(store, account.TmpName)}
	if accountDir != "" {
		dirs = append(dirs, accountDir, filepath.Join(accountDir, "sessions"))
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it may not be there
		}
		for _, e := range entries {
			name := e.Name()
			if !strings.HasPrefix(name, ".tmp-") && !(strings.HasPrefix(name, ".rewind-") && strings.HasSuffix(name, ".tmp")) {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && p.Env.Time().Sub(info.ModTime()) > leftAge {
				_ = os.Remove(filepath.Join(dir, name)) // what stays is removed the next time
			}
		}
	}
}
