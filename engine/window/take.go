package window

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Pending reads the windows that no checkpoint has taken along yet, in the order in which they were left. One may be in
// the newest checkpoint all the same: a crash came between. What cannot be read is passed over.
func Pending(p *project.Project) []manifest.Window { return read(p).windows }

// Taken is what a commit takes along.
type Taken struct {
	Windows string // canonical: see manifest.Checkpoint

	p     *project.Project
	files []part
}

// part is a file as it was read.
type part struct {
	name string
	info fs.FileInfo
	size int64 // that was read
}

// Take reads what the next checkpoint has of windows; held is what the newest one has. Nothing is taken away before Done:
// a commit that fails leaves all to the next. The caller holds the append lock from before Take until after Done.
func Take(p *project.Project, held string) *Taken {
	found := read(p)
	t := &Taken{p: p, files: found.files}
	windows := found.windows
	if before, err := manifest.ParseWindows(held); err == nil && len(windows) > 0 && len(before) > 0 {
		windows = without(windows, before)
	}
	t.Windows = manifest.BoundWindows(windows)
	return t
}

// without leaves out the windows that a commit has taken along that did not come to its Done.
func without(windows, before []manifest.Window) []manifest.Window {
	key := func(w manifest.Window) string { return string(manifest.AppendWindows(nil, []manifest.Window{w})) }
	known := make(map[string]bool, len(before))
	for _, w := range before {
		known[key(w)] = true
	}
	var out []manifest.Window
	for _, w := range windows {
		if !known[key(w)] {
			out = append(out, w)
		}
	}
	return out
}

// Done takes away what was taken along, once the commit is durable. What it cannot take away is found again by the next.
func (t *Taken) Done() {
	if t != nil && t.p.ReadOnly == nil {
		_ = clearAway(t.p, t.files)
	}
}

// clearAway removes files as far as they were read, the oldest lines first.
func clearAway(p *project.Project, files []part) error {
	var errs []error
	for _, f := range files {
		file := path(p, f.name)
		now, err := os.Lstat(file)
		if err != nil || !os.SameFile(now, f.info) {
			continue // it was full meanwhile, and set aside
		}
		if f.name != linesName {
			errs = append(errs, os.Remove(file))
			continue
		}
		// Whoever writes from now on does not take the line for kept: see appendLines.
		taken := path(p, takenName)
		if account.Exists(taken) {
			continue
		}
		err = os.Rename(file, taken)
		if err == nil {
			var rest []byte
			if rest, err = readFrom(taken, f.size); err == nil && len(rest) > 0 {
				err = appendLines(p, rest)
			}
		}
		if err == nil {
			err = os.Remove(taken)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// readFrom reads what a file has from an offset on.
func readFrom(file string, from int64) ([]byte, error) {
	f, info, err := vfs.OpenRegular(file, vfs.NoFollow)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, max(0, info.Size()-from)))
}

// found is what the files hold.
type found struct {
	windows []manifest.Window
	files   []part
	torn    bool // something is no line
}

// read reads the files, the oldest lines first.
func read(p *project.Project) (out found) {
	for _, name := range []string{takenName, fullName, linesName} {
		out.add(p, name)
	}
	return out
}

// add reads a file, if there is one and it is ours.
func (out *found) add(p *project.Project, name string) {
	f, info, err := vfs.OpenRegular(path(p, name), vfs.NoFollow)
	if err != nil {
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return
	}
	if len(data) < maxFile { // a line that is being written is none yet
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	out.files = append(out.files, part{name, info, int64(len(data))})
	for raw := range bytes.SplitSeq(data, []byte{'\n'}) {
		windows := parse(raw)
		out.windows = append(out.windows, windows...)
		out.torn = out.torn || len(raw) > 0 && len(windows) == 0
	}
}

// maxFile bounds what is read of a file: more than any writer leaves there.
const maxFile = 4 * maxLines

// parse reads a line; nil for what is none.
func parse(raw []byte) []manifest.Window {
	if len(raw) == 0 {
		return nil
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(data, raw)
	if err != nil {
		return nil
	}
	windows, err := manifest.ParseWindows(string(data[:n]))
	if err != nil || len(windows) != 1 {
		return nil
	}
	return windows
}

// Rewrite lets change decide what becomes of each window that no checkpoint has taken yet: it changes one, or drops it
// with false. No byte of what it changes stays, but what a disk keeps of a removed file. A crash leaves all as it was, or
// part of it twice; then Rewrite is to be called again. The caller holds the append lock.
func Rewrite(p *project.Project, change func(*manifest.Window) bool) error {
	found := read(p)
	changed := found.torn
	var lines []byte
	for _, w := range found.windows {
		was := line(w)
		if !change(&w) {
			changed = true
			continue
		}
		now := line(w)
		changed = changed || !bytes.Equal(was, now)
		lines = append(lines, now...)
	}
	if !changed {
		return nil
	}
	if len(lines) > 0 { // what is there by now is none of what was read
		if err := account.WriteCache(path(p, fullName), lines, p.Owner); err != nil {
			return err
		}
	}
	return clearAway(p, found.files)
}
