package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// transcripts are the agents' files that checkpoints were taken beside, and the forks that operations made.
func (s *LogState) transcripts() map[string]bool {
	files := map[string]bool{}
	for _, c := range s.Checkpoints {
		if c.Transcript != nil && c.Transcript.Path != "" {
			files[c.Transcript.Path] = true
		}
	}
	for _, o := range s.Operations {
		if o.Fork != "" {
			files[o.Fork] = true
		}
	}
	return files
}

// leftAge is the age of a temporary file at which no process uses it any more: writing a small file
// takes milliseconds.
const leftAge = time.Hour

// removeLeft removes what processes left that died while they replaced a small
// file of the store or of the account, or a transcript.
func removeLeft(p *project.Project, state *LogState) {
	for file := range state.transcripts() {
		transcript.RemoveLeft(file)
	}
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
