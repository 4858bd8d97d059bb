package engine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/ignore"
	"rewind/engine/restore"
	"rewind/manifest"
)

// maxPreimage bounds the copy of a file that a tool is about to change: an
// agent waits for it. A larger one is late in the checkpoint, if it changes.
const maxPreimage = 64 << 20

// preimage is what a path held when a hook saw that a tool is about to change
// it, while a capture that had begun earlier was still running.
type preimage struct {
	Time   time.Time `json:"time"` // on the file system's clock
	Path   string    `json:"path"` // base64 of the path below the root
	Absent bool      `json:"absent,omitempty"`
	Mode   uint32    `json:"mode,omitempty"`
	Target string    `json:"target,omitempty"` // of a symlink, base64
	Data   string    `json:"data,omitempty"`   // name of the file beside the note that has the content

	path, target string
	file         string // of Data
	note         string // this note
}

// recordPreimages copies what the files are before the tool changes them. It
// is best effort: what it misses is found late.
func (p *Project) recordPreimages(files []string, at time.Time) error {
	var errs []error
	for _, file := range files {
		rel, ok := p.below(file)
		if !ok {
			continue
		}
		if err := p.recordPreimage(rel, at); err != nil {
			errs = append(errs, fmt.Errorf("keep %s as it is: %w", rel, err))
		}
	}
	return errors.Join(errs...)
}

// recordPreimagesInTime is recordPreimages, but does not wait for a file whose
// file system does not answer: what it misses is found late.
func (p *Project) recordPreimagesInTime(files []string, at time.Time) error {
	if len(files) == 0 {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- p.recordPreimages(files, at) }()
	select {
	case err := <-done:
		return err
	case <-time.After(preimageTime):
		p.abandoned.Store(true)
		return errors.New("a file that the tool is about to change could not be read in time")
	}
}

// below gives a file's path below the root. The directories on its way may be
// links; it itself is not followed.
func (p *Project) below(file string) (rel string, ok bool) {
	if !filepath.IsAbs(file) {
		return "", false
	}
	file = filepath.Clean(file)
	dir, rest := filepath.Dir(file), filepath.Base(file)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
			break
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
	rel, err := filepath.Rel(p.place.root, filepath.Join(dir, rest))
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (p *Project) recordPreimage(rel string, at time.Time) error {
	// Of a path whose directory is not there either, the topmost that is missing
	// counts: the tool makes that too.
	info, err := os.Lstat(filepath.Join(p.place.root, filepath.FromSlash(rel)))
	for errors.Is(err, fs.ErrNotExist) || err != nil && isNotDir(err) {
		up := filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))
		if up == "." {
			break
		}
		if _, uerr := os.Lstat(filepath.Join(p.place.root, filepath.FromSlash(up))); uerr == nil {
			break
		}
		rel = up
	}
	note := preimage{Time: at, Path: base64.StdEncoding.EncodeToString([]byte(rel))}
	name := p.noteName("p", at)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && isNotDir(err):
		note.Absent = true
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(filepath.Join(p.place.root, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		note.Target = base64.StdEncoding.EncodeToString([]byte(target))
	case !info.Mode().IsRegular():
		return nil // no tool edits those
	case info.Size() > maxPreimage:
		return fmt.Errorf("it has %d bytes, more than are copied", info.Size())
	default:
		note.Mode, note.Data = modeOf(info), name+".data"
		if err := copyDurably(filepath.Join(p.place.root, filepath.FromSlash(rel)), filepath.Join(p.notesDir(), note.Data), p.owner); err != nil {
			return err
		}
	}
	return p.writeNote(name, note)
}

// modeOf is a mode as manifests have it: permission bits with setuid, setgid, sticky.
func modeOf(info fs.FileInfo) uint32 {
	m := uint32(info.Mode().Perm())
	for _, b := range []struct {
		in  fs.FileMode
		out uint32
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if info.Mode()&b.in != 0 {
			m |= b.out
		}
	}
	return m
}

func copyDurably(from, to string, owner func(string) error) error {
	in, err := os.OpenFile(from, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, min(info.Size(), maxPreimage))) // its writer may be as fast as we are
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil && owner != nil {
		err = owner(to)
	}
	return err
}

// preimages reads the notes that were made at or after a moment: of each path
// the first, which is nearest to what was there at that moment.
func (p *Project) preimages(since time.Time) []preimage {
	var out []preimage
	seen := map[string]bool{}
	for _, name := range p.notes("p") {
		var n preimage
		data, err := readSmall(filepath.Join(p.notesDir(), name), maxNote)
		if err != nil || json.Unmarshal(data, &n) != nil || n.Time.Before(since) {
			continue
		}
		path, err := base64.StdEncoding.DecodeString(n.Path)
		target, terr := base64.StdEncoding.DecodeString(n.Target)
		if err != nil || terr != nil || !validPath(string(path)) || seen[string(path)] || n.Data != filepath.Base(n.Data) && n.Data != "" {
			continue
		}
		n.path, n.target, n.note = string(path), string(target), filepath.Join(p.notesDir(), name)
		if n.Data != "" {
			n.file = filepath.Join(p.notesDir(), n.Data)
		}
		seen[n.path] = true
		out = append(out, n)
	}
	return out
}

// validPath accepts paths below a root as manifests have them.
func validPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return false
		}
	}
	return true
}

// override puts pre-images in the place of what the scan read: edits that ran
// beside it are not part of its moment. The head that is published later still
// says what was scanned.
func (c *captured) override(notes []preimage) error {
	if len(notes) == 0 {
		return nil
	}
	within, err := c.p.scopesNow()
	if err != nil {
		return err
	}
	var edits []restore.Edit
	exact := map[string]bool{}
	for _, n := range notes {
		old, there, err := manifest.Find(c.tx.Load, c.scan.Root, n.path)
		if err != nil {
			return c.p.classify(err)
		}
		var e manifest.Entry
		switch {
		case n.Absent:
			c.problems = append(c.problems, Problem{Path: n.path, Reason: reasonNotYet})
			if !there {
				continue
			}
		case !there && !within.captures(n.path, false):
			continue
		default:
			if e, err = n.entry(c.tx); err != nil {
				c.problems = append(c.problems, Problem{Path: n.path, Reason: "late: " + err.Error(), Failed: true})
				continue
			}
			e.Name, e.Precious = old.Name, old.Precious || !there && within.marks(n.path)
			if there && e == old {
				exact[n.path] = true
				continue
			}
			_, e.Name, _ = cutLast(n.path)
		}
		exact[n.path] = true
		edits = append(edits, restore.Edit{Path: n.path, Entry: e})
	}
	root, err := restore.EditTree(c.tx, c.tx, c.scan.Root, edits, nil)
	if err != nil {
		return c.p.classify(err)
	}
	c.edited = &root
	c.problems = slices.DeleteFunc(c.problems, func(p Problem) bool { return p.Reason == "late" && exact[p.Path] })
	return nil
}

// entry stages what a pre-image holds.
func (n *preimage) entry(tx *Tx) (manifest.Entry, error) {
	if n.Target != "" {
		return manifest.Entry{Kind: manifest.Symlink, Target: n.target}, nil
	}
	f, err := os.Open(n.file)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return manifest.Entry{}, err
	}
	kind, id, size, err := tx.Content(0, f, info.Size(), manifest.ID{})
	return manifest.Entry{Kind: kind, Mode: n.Mode, ID: id, Size: uint64(size)}, err
}

// scopesNow are the rules in force, with the rule files as they are on disk.
func (p *Project) scopesNow() (*scopes, error) {
	rs, err := p.rules(false)
	if err != nil {
		return nil, err
	}
	return &scopes{rules: rs.rules, known: map[string]*ignore.Scope{}, read: func(path string) []byte {
		text, err := readRule(filepath.Join(p.place.root, filepath.FromSlash(path)), ignore.MaxRuleFile)
		if err != nil {
			return nil // most directories have none
		}
		return text
	}}, nil
}

func cutLast(path string) (dir, name string, ok bool) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return "", path, false
}
