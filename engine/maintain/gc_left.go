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
// takes milliseconds, and what git's own state is read with seconds.
const leftAge = time.Hour

// removeLeft removes what processes left that died while they replaced a small
// file of the store or of the account, or a transcript, or while they had git's own state as files.
func removeLeft(p *project.Project, state *LogState) {
	for file := range state.transcripts() {
		transcript.RemoveLeft(file)
	}
	store, accountDir := p.StoreDir(), p.Env.AccountDir()
	tmp := filepath.Join(store, account.TmpName)
	dirs := []string{store, tmp}
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
			file := e.Type().IsRegular() && (strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, ".rewind-") && strings.HasSuffix(name, ".tmp"))
			if !file && !(dir == tmp && e.IsDir() && strings.HasPrefix(name, account.GitTemp)) {
				continue
			}
			if info, err := e.Info(); err == nil && p.Env.Time().Sub(info.ModTime()) > leftAge {
				_ = os.RemoveAll(filepath.Join(dir, name)) // what stays is removed the next time
			}
		}
	}
}
