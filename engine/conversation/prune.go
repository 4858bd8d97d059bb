package conversation

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Plain copies of transcripts stay as long as an undo may need them, for
// backupAge, which is how long agents keep transcripts themselves, and the
// newest of each session for good.
const (
	backupAge   = 30 * 24 * time.Hour
	keptBackups = 3
)

// PruneBackups removes the plain copies that nothing needs any more. operations
// are all of the log, the newest first. The caller holds the users lock.
func PruneBackups(ctx context.Context, p *project.Project, operations []manifest.Operation) error {
	dir := filepath.Join(p.StoreDir(), BackupName)
	entries, err := os.ReadDir(dir) // sorted: those of one session follow each other, the oldest first
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	newer := map[string]int{} // copies of the same file
	var old []string
	for _, e := range slices.Backward(entries) {
		file, taken, ok := parseBackup(e.Name())
		if !ok {
			continue // not ours to judge
		}
		if newer[file]++; newer[file] > keptBackups && p.Env.Time().Sub(taken) > backupAge {
			old = append(old, e.Name())
		}
	}
	if len(old) == 0 {
		return nil
	}
	needed, err := backupsInUse(ctx, p, operations)
	if err != nil {
		return err
	}
	for _, name := range old {
		if needed[BackupName+"/"+name] {
			continue
		}
		if err := account.RemoveIfThere(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// backupsInUse are the copies from which the operations that can still be taken
// back would put a transcript back, by their names below the store.
func backupsInUse(ctx context.Context, p *project.Project, operations []manifest.Operation) (map[string]bool, error) {
	used := map[string]bool{}
	for _, op := range operations[:min(len(operations), project.KeptOperations)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		used[op.TranscriptBackup] = true
		line, err := p.Moved(op)
		if err != nil {
			return nil, err
		}
		if line != nil {
			for _, f := range line.Files {
				used[f.Backup] = true
			}
		}
	}
	return used, nil
}

// parseBackup reads the name of a plain copy: the file's own, and the time.
func parseBackup(name string) (file string, taken time.Time, ok bool) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	at := len(stem) - len(backupStamp)
	if at < 1 || stem[at-1] != '-' {
		return "", taken, false
	}
	taken, err := time.Parse(backupStamp, stem[at:])
	return stem[:at-1] + ext, taken, err == nil
}
