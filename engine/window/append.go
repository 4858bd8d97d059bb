package window

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Names below tmp/ in the store.
const (
	linesName = "windows"       // lines are appended here
	fullName  = "windows.full"  // what it was when it was full
	takenName = "windows.taken" // a commit has taken it along, and what came meanwhile is looked for
)

const (
	// maxLines bounds the file, in bytes: thousands of events without a checkpoint. The one before is kept beside it.
	maxLines = 512 << 10
	// maxID bounds each of a window's ids and names, in bytes; a longer one goes on as a hash.
	maxID = 1 << 10
	// maxFiles bounds the files of a window, and maxFileBytes what they take together.
	maxFiles     = 256
	maxFileBytes = 16 << 10
	// attempts bounds how often a line is written again because the file was taken away meanwhile.
	attempts = 4
)

// Append leaves a window for the next checkpoint. It waits for nobody, and nothing is made durable. A store that cannot be
// written gives an error, which harms nothing.
func Append(p *project.Project, w manifest.Window) error {
	if p.ReadOnly != nil {
		return p.ReadOnly
	}
	return appendLines(p, line(bounded(w)))
}

// line is a window as the file has it. What a crash left of the line before ends where it begins.
func line(w manifest.Window) []byte {
	data := manifest.AppendWindows(nil, []manifest.Window{w})
	out := append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+2), '\n')
	return append(base64.StdEncoding.AppendEncode(out, data), '\n')
}

// bounded is a window whose texts are no longer than anybody means them to be.
func bounded(w manifest.Window) manifest.Window {
	for _, s := range []*string{&w.Agent, &w.Session, &w.Subagent, &w.PromptID, &w.Call, &w.Tool} {
		if len(*s) > maxID {
			sum := sha256.Sum256([]byte(*s))
			*s = hex.EncodeToString(sum[:])
		}
	}
	w.Summary = w.Summary[:min(len(w.Summary), manifest.MaxToolSummary)]
	total := 0
	for i, f := range w.Files {
		if total += len(f); i == maxFiles || total > maxFileBytes {
			w.Files = w.Files[:i:i]
			break
		}
	}
	return w
}

// appendLines writes whole lines with one call: they stay together, whoever else writes. Whoever takes the file away does
// so by its name, so a writer looks whether it still has it, and else writes again: a line may be there twice, never not at all.
func appendLines(p *project.Project, lines []byte) error {
	file := path(p, linesName)
	for try := 1; ; try++ {
		there, err := appendTo(p, file, lines)
		if errors.Is(err, fs.ErrNotExist) && try == 1 { // a store without tmp
			if err := account.MakeDir(filepath.Dir(file), p.Owner); err != nil {
				return err
			}
			continue
		}
		if there || err != nil || try == attempts {
			return err
		}
	}
}

// appendTo reports whether what was written is still in the file of that name.
func appendTo(p *project.Project, file string, lines []byte) (there bool, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|vfs.NoFollow|vfs.NoWait, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, &fs.PathError{Op: "append to", Path: file, Err: errors.New("not a regular file")}
	}
	if info.Size() == 0 && p.Owner != nil {
		if err := p.Owner(file); err != nil {
			return false, err
		}
	}
	if info.Size() > maxLines && rotate(p, f, info) {
		return false, nil
	}
	if _, err := f.Write(lines); err != nil {
		return false, err
	}
	now, err := os.Lstat(file)
	return err == nil && os.SameFile(now, info), nil
}

func path(p *project.Project, name string) string {
	return filepath.Join(p.StoreDir(), account.TmpName, name)
}

// lockName is held by whoever sets a full file aside.
const lockName = "windows"

// rotate sets a full file aside, in the place of the one before; false where another is at it.
func rotate(p *project.Project, f *os.File, info fs.FileInfo) bool {
	lock, err := account.LockFile(account.Expired, filepath.Join(p.StoreDir(), account.LockName, lockName), lockName, true)
	if err != nil {
		return false
	}
	defer lock.Release()
	file, full := path(p, linesName), path(p, fullName)
	if now, err := os.Lstat(file); err != nil || !os.SameFile(now, info) {
		return true // done already
	}
	var old found
	if old.add(p, fullName); len(old.windows) > 0 {
		if _, err := f.Write(line(manifest.Lost(old.windows))); err != nil {
			return false
		}
	}
	return os.Rename(file, full) == nil
}
