package port

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkout"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// CheckoutOptions of rewind checkout.
type CheckoutOptions struct {
	Checkpoint manifest.Checkpoint
	Dir        string   // absolute; made if it is missing, must be empty else
	Paths      []string // globs below the root; none: everything
	// WithoutPrecious leaves out files that are marked as precious. They stay on the machine, and an old
	// state mostly needs its .env to run: by default they are there.
	WithoutPrecious bool
}

// CheckedOut is what a checkout did.
type CheckedOut struct {
	Checkpoint manifest.Checkpoint
	Dir        string
	Files      int64
	Bytes      int64
	Shared     int64 // files that came from the working tree without being read
	Precious   int   // files that are marked and were written
	LeftOut    int   // files that are marked and were not
	Problems   []problem.Problem
}

// CheckoutDirError: a directory is refused as the place of a checkout.
type CheckoutDirError struct{ Dir, Reason, Hint string }

func (e *CheckoutDirError) Error() string { return e.Dir + " " + e.Reason }

// UnfinishedError: a checkout ended early, and left a part in its directory.
type UnfinishedError struct {
	Dir string
	Err error
}

func (e *UnfinishedError) Error() string {
	return "the checkout to " + e.Dir + " is not complete: " + e.Err.Error()
}
func (e *UnfinishedError) Unwrap() error { return e.Err }

// checkoutMark is in a directory for as long as its checkout is not complete, and names what is
// checked out. No scan takes it: the name is a reserved one.
var checkoutMark = rootfs.Reserved("checkout")

// Checkout writes a checkpoint's tree into a directory outside of the project. It
// continues an interrupted one of the same. Errors: *CheckoutDirError, *UnfinishedError.
func Checkout(ctx context.Context, p *project.Project, o CheckoutOptions) (*CheckedOut, error) {
	chosen, release, err := choose(ctx, p, &o.Checkpoint, o.Paths)
	if err != nil {
		return nil, err
	}
	defer release()
	what := fmt.Sprintf("%s %q %v\n", o.Checkpoint.ID, o.Paths, o.WithoutPrecious)
	again, err := place(p, &o.Dir, what)
	if err != nil {
		return nil, err
	}
	made := !account.Exists(o.Dir)
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, err
	}
	mark := filepath.Join(o.Dir, checkoutMark)
	if err := os.WriteFile(mark, []byte(what), 0o600); err != nil {
		if !again && os.Remove(mark) == nil && made {
			_ = os.Remove(o.Dir)
		}
		return nil, err
	}
	tree, err := rootfs.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	donor, end := workingTree(ctx, p, o.Checkpoint.Root, tree)
	defer end()
	done := &CheckedOut{Checkpoint: o.Checkpoint, Dir: o.Dir}
	t := checkout.New(checkout.Options{
		Path: o.Dir, FS: tree, Workers: runtime.GOMAXPROCS(0), Replace: again, Progress: filesProgress(p),
		Open: func(e manifest.Entry) (io.ReadCloser, error) { return project.ContentOf(p.Store.Get, e) },
	})
	walk := func(visit func(string, manifest.Entry) error) error {
		e := ExportOptions{Checkpoint: o.Checkpoint, WithPrecious: !o.WithoutPrecious}
		withDirs := parentsToo(p, o.Checkpoint.Root, visit)
		return exported(p, e, chosen, func(string) { done.LeftOut++ }, func(path string, e manifest.Entry) error {
			if e.Precious {
				done.Precious++
			}
			return withDirs(path, e)
		})
	}
	moved, err := t.Move(ctx, walk, donor)
	if err != nil {
		return nil, &UnfinishedError{Dir: o.Dir, Err: p.Classify(err)}
	}
	if moved.Edited == 0 { // else it is still to be completed
		if err := os.Remove(mark); err != nil {
			return nil, &UnfinishedError{Dir: o.Dir, Err: err}
		}
	}
	done.Files, done.Bytes, done.Shared, done.Problems = moved.Files, moved.Bytes, moved.Shared, moved.Problems
	return done, nil
}

// parentsToo visits the directories above a path before it: a selection may name the path alone.
func parentsToo(p *project.Project, root oid.ID, visit func(string, manifest.Entry) error) func(string, manifest.Entry) error {
	told := map[string]bool{}
	return func(path string, e manifest.Entry) error {
		for i := range len(path) {
			if path[i] != '/' || told[path[:i]] {
				continue
			}
			dir, err := inspect.EntryIn(p, root, path[:i])
			if err != nil {
				return err
			}
			told[path[:i]] = true
			if err := visit(path[:i], dir); err != nil {
				return err
			}
		}
		if e.Kind == manifest.Subdir {
			told[path] = true
		}
		return visit(path, e)
	}
}

// place resolves a directory and refuses it where nothing may be checked out, or something else is. again: it is what an
// interrupted checkout of the same has left.
func place(p *project.Project, dir *string, what string) (again bool, err error) {
	if *dir, err = realPath(*dir); err != nil {
		return false, err
	}
	if err := checkoutPlace(p, *dir); err != nil {
		return false, err
	}
	return emptyDir(*dir, what)
}

// realPath resolves the links of as much of a path as there is.
func realPath(path string) (string, error) {
	rest := ""
	for at := filepath.Clean(path); ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if _, lerr := os.Lstat(at); lerr == nil || !errors.Is(err, os.ErrNotExist) {
			if errors.Is(err, os.ErrNotExist) {
				return "", &CheckoutDirError{Dir: at, Reason: "is a link that leads nowhere"}
			}
			return "", err
		}
		up := filepath.Dir(at)
		if up == at {
			return "", err
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}

// checkoutPlace refuses a directory in which a checkout would be captured, or do damage.
func checkoutPlace(p *project.Project, dir string) error {
	refuse := func(reason, hint string) error { return &CheckoutDirError{Dir: dir, Reason: reason, Hint: hint} }
	const outside = "choose a directory outside of the project"
	if vfs.Within(vfs.RealAsFar(p.StoreDir()), dir) {
		return refuse("is inside the store", outside)
	}
	if vfs.Within(vfs.RealAsFar(p.Env.AccountDir()), dir) || strings.Contains(filepath.ToSlash(dir)+"/", "/"+account.StoreName+"/") {
		return refuse("is where checkpoints are stored", outside)
	}
	for name := range strings.SplitSeq(filepath.ToSlash(dir), "/") {
		if rootfs.IsDotGit(name) {
			return refuse("is inside a git directory", outside)
		}
	}
	rel, in := vfs.Below(p.Root(), dir)
	if !in {
		return nil
	}
	if rel == "" {
		return refuse("is the project itself", "rewind restore brings the project back; checkout takes a directory of its own")
	}
	kept := session.Kept(p)
	if rules.Sessions(p, kept)(rel) {
		return refuse("is where an agent keeps its sessions", outside)
	}
	tree, err := rootfs.Open(p.Root())
	if err != nil {
		return err
	}
	defer tree.Close()
	if today := rules.Today(p, kept, tree); today.Captures(rel, true) {
		return refuse("is inside the project and not ignored: the next checkpoint would hold it all", outside+", or one that is ignored")
	}
	return nil
}

// emptyDir refuses a place with something in it. again: it is what an interrupted checkout of the same has left.
func emptyDir(dir, what string) (again bool, err error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, &CheckoutDirError{Dir: dir, Reason: "is a file", Hint: "choose a directory that is empty or not there yet"}
	}
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	names, err := d.Readdirnames(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if len(names) == 0 {
		return false, nil
	}
	data, err := vfs.ReadRegular(filepath.Join(dir, checkoutMark), vfs.NoFollow)
	switch {
	case err == nil && string(data) == what:
		return true, nil
	case err == nil:
		return false, &CheckoutDirError{Dir: dir, Reason: "contains an interrupted checkout", Hint: "remove the directory, or choose another"}
	}
	return false, &CheckoutDirError{Dir: dir, Reason: "is not empty", Hint: "choose a directory that is empty or not there yet"}
}

// workingTree captures the project, so that a checkout of root can share files with it. It is nil if the project cannot be
// read, and nil without a scan if files in to cannot share anything with it.
func workingTree(ctx context.Context, p *project.Project, root oid.ID, to rootfs.FS) (donor *checkout.Donor, end func()) {
	end = func() {}
	start, err := p.StartTime()
	if err != nil {
		return nil, end
	}
	tree, err := rootfs.Open(p.Root())
	if err != nil {
		return nil, end
	}
	end = func() { tree.Close() }
	if !checkout.Shares(tree, to, func(visit func(string, manifest.Entry) error) error {
		return manifest.Walk(p.LoadDir, root, visit)
	}) {
		return nil, end
	}
	c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
	if err != nil {
		return nil, end
	}
	if donor, err = donorOf(tree, c, start.UnixNano(), root); err != nil {
		donor = nil
	}
	_ = c.Discard()
	return donor, end
}

// donorOf is the working tree as it was captured, at a time, as a donor of what it shares with root.
func donorOf(tree rootfs.FS, c *checkpoint.Captured, scanned int64, root oid.ID) (*checkout.Donor, error) {
	differs := map[string]bool{}
	err := manifest.Diff(c.Tx.Load, c.Root(), root, func(change manifest.Change) error {
		differs[change.Path] = true
		return nil
	})
	return &checkout.Donor{FS: tree, Scanned: scanned, Differs: func(path string) bool { return differs[path] }}, err
}

// filesProgress reports how many files are done.
func filesProgress(p *project.Project) func(files, total, bytes, totalBytes int64) {
	if p.Progress == nil {
		return nil
	}
	return func(files, total, bytes, totalBytes int64) {
		p.Progress(project.ProgressInfo{Phase: "checkout", Files: files, Bytes: bytes, TotalFiles: total, TotalBytes: totalBytes})
	}
}
