package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
)

// maxPreimage bounds the copy of a file that a tool is about to change: an
// agent waits for it. A larger one is late in the checkpoint, if it changes.
const maxPreimage = 64 << 20

// recordPreimages copies what the files are before the tool changes them. It
// is best effort: what it misses is found late.
func recordPreimages(p *project.Project, files []string, at time.Time) error {
	var errs []error
	for _, file := range files {
		rel, ok := below(p, file)
		if !ok {
			continue
		}
		if err := recordPreimage(p, rel, at); err != nil {
			errs = append(errs, fmt.Errorf("keep %s as it is: %w", rel, err))
		}
	}
	return errors.Join(errs...)
}

// recordPreimagesInTime is recordPreimages, but does not wait for a file whose
// file system does not answer: what it misses is found late.
func recordPreimagesInTime(p *project.Project, files []string, at time.Time) error {
	if len(files) == 0 {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- recordPreimages(p, files, at) }()
	select {
	case err := <-done:
		return err
	case <-time.After(preimageTime):
		p.Abandoned.Store(true)
		return errors.New("a file that the tool is about to change could not be read in time")
	}
}

// below gives a file's path below the root. The directories on its way may be
// links; it itself is not followed.
func below(p *project.Project, file string) (rel string, ok bool) {
	if !filepath.IsAbs(file) {
		return "", false
	}
	rel, ok = vfs.Below(p.Root(), filepath.Join(vfs.RealAsFar(filepath.Dir(file)), filepath.Base(file)))
	return rel, ok && rel != ""
}

// maxLinks bounds a chain of links.
const maxLinks = 8

// belowThrough is below, and where the file is a link also what it leads to: a tool writes there, or in its place.
func belowThrough(p *project.Project, file string) (rels []string) {
	for range maxLinks {
		rel, ok := below(p, file)
		if ok && slices.Contains(rels, rel) {
			break
		}
		if ok {
			rels = append(rels, rel)
		}
		target, err := os.Readlink(file)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(file))
			if err != nil {
				break
			}
			target = filepath.Join(dir, target)
		}
		file = target
	}
	return rels
}

func recordPreimage(p *project.Project, rel string, at time.Time) error {
	// Of a path whose directory is not there either, the topmost that is missing
	// counts: the tool makes that too.
	info, err := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(rel)))
	for vfs.IsMissing(err) {
		up := filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))
		if up == "." {
			break
		}
		if _, uerr := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(up))); uerr == nil {
			break
		}
		rel = up
	}
	note := checkpoint.Preimage{Time: at, RawPath: []byte(rel)}
	name := noteName(p, "p", at)
	switch {
	case vfs.IsMissing(err):
		note.Absent = true
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(filepath.Join(p.Root(), filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		note.RawTarget = []byte(target)
	case !info.Mode().IsRegular():
		return nil // no tool edits those
	case info.Size() > maxPreimage:
		return fmt.Errorf("it has %d bytes, more than are copied", info.Size())
	default:
		note.Mode, note.Data = modeOf(info), name+".data"
		if err := copyDurably(filepath.Join(p.Root(), filepath.FromSlash(rel)), filepath.Join(checkpoint.NotesDir(p), note.Data), p.Owner); err != nil {
			return err
		}
	}
	return writeNote(p, name, note)
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
	in, info, err := vfs.OpenRegular(from, 0)
	if err != nil {
		return err
	}
	defer in.Close()
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
