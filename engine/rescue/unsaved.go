package rescue

import (
	"bytes"
	"context"
	"crypto/sha1" // git's name of a file's content
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// Unsaved is what of a project was only in its directory, as its newest checkpoint has it.
type Unsaved struct {
	Git     bool // there was a git repository; without one, Files are all files
	Files   int  // that the commit of HEAD does not have, or has with another content
	Commits int  // of branches, tags and HEAD that no remote-tracking branch reaches
	Stashes int  // entries of the stash
}

// maxCompared is how much content is hashed, in bytes, to find out whether git has it: a quarter of a second's worth. A file beyond
// it counts as changed only if its size is another.
const maxCompared = 128 << 20

// LookAt finds out what was unsaved in a project whose directory is gone. It changes nothing. Errors: of the store, of git;
// fs.ErrNotExist where nothing of the project is kept.
func LookAt(ctx context.Context, env account.Env, s stores.Info) (u Unsaved, err error) {
	id, err := account.ParseStoreID(s.ID)
	if err != nil {
		return u, err
	}
	packs, store := s.Mirror, s.Store
	if store != "" {
		packs = filepath.Join(store, account.ObjectsName)
	}
	temp, err := os.MkdirTemp("", "rewind-rescue-")
	if err != nil {
		return u, err
	}
	defer os.RemoveAll(temp)
	if store == "" {
		store = temp
	}
	p, err := project.OpenGone(env, id, s.Root, packs, store)
	if err != nil {
		return u, err
	}
	defer p.Close()
	c, err := p.NewestInLog(ctx, 0, func(c *manifest.Checkpoint) bool { return c.Kind != manifest.Safety })
	if err != nil || c == nil {
		return u, err
	}
	var state *gitstate.State
	if !c.Git.IsZero() {
		if state, err = gitstate.Load(gitstate.InStore(p), c.Git, p.Root()); err != nil && !errors.Is(err, gitstate.ErrNoneAround) {
			return u, err
		}
	}
	if u.Git = state != nil; !u.Git {
		u.Files, err = countFiles(p, c, nil, nil)
		return u, err
	}
	g, err := openGit(ctx, p, state, filepath.Join(temp, "git"))
	if err != nil {
		return u, err
	}
	if u.Stashes, err = g.count(ctx, "reflog", "show", "--format=%H", "refs/stash", "--"); err != nil {
		u.Stashes = 0 // there is none
	}
	if u.Commits, err = g.count(ctx, "rev-list", "--ignore-missing", "HEAD", "--branches", "--tags", "--not", "--remotes", "--"); err != nil {
		u.Commits, err = g.count(ctx, "rev-list", "--ignore-missing", "--branches", "--tags", "--not", "--remotes", "--") // HEAD is on a branch without a commit
	}
	if err != nil {
		return u, err
	}
	below, err := filepath.Rel(state.WorkTree, p.Root())
	if err != nil || !filepath.IsLocal(below) {
		return u, err
	}
	committed, err := g.committed(ctx, filepath.ToSlash(below))
	if err != nil {
		return u, err
	}
	u.Files, err = countFiles(p, c, committed, g.hash)
	return u, err
}

// git is the repository as a checkpoint has it, with the objects that are held.
type git struct {
	gitprogram.Repository
	hash func() hash.Hash
}

func openGit(ctx context.Context, p *project.Project, state *gitstate.State, dir string) (*git, error) {
	g := &git{gitprogram.Repository{GitDir: dir, Objects: gitstate.HeldDirs(p)}, sha1.New}
	for _, d := range []string{dir, filepath.Join(dir, "objects"), filepath.Join(dir, "refs")} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if d != dir {
			continue
		}
		if err := state.WriteFiles(dir, nil); err != nil {
			return nil, err
		}
	}
	if rel, err := filepath.Rel(state.Common, state.GitDir); err == nil && rel != "." {
		g.GitDir = filepath.Join(dir, rel)
	}
	format, err := g.Output(ctx, nil, "rev-parse", "--show-object-format")
	if err == nil && strings.TrimSpace(string(format)) == "sha256" {
		g.hash = sha256.New
	}
	return g, err
}

// count counts the lines that a command prints.
func (g *git) count(ctx context.Context, args ...string) (int, error) {
	out, err := g.Output(ctx, nil, args...)
	return bytes.Count(out, []byte("\n")), err
}

// blob is a file of a commit.
type blob struct {
	id   string
	size uint64
}

// committed are the files that HEAD's commit has below a directory of the work tree, by their paths from there; none where HEAD has none.
func (g *git) committed(ctx context.Context, below string) (map[string]blob, error) {
	files := map[string]blob{}
	if _, err := g.Output(ctx, nil, "rev-parse", "-q", "--verify", "HEAD^{tree}"); err != nil {
		return files, nil
	}
	tree := "HEAD^{tree}"
	if below != "." {
		tree = "HEAD:" + below
	}
	out, err := g.Output(ctx, nil, "ls-tree", "-r", "-l", "-z", tree)
	if err != nil && below != "." {
		return files, nil // the directory is in no commit
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		info, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(info)
		if !ok || len(words) != 4 {
			continue
		}
		size, _ := strconv.ParseUint(words[3], 10, 64) // "-" for a submodule
		files[path] = blob{words[2], size}
	}
	return files, err
}

// countFiles counts the files of a checkpoint that are not committed as they are.
func countFiles(p *project.Project, c *manifest.Checkpoint, committed map[string]blob, newHash func() hash.Hash) (n int, err error) {
	left := uint64(maxCompared)
	err = manifest.Walk(p.LoadDir, c.Root, func(path string, e manifest.Entry) error {
		if e.Kind == manifest.Subdir {
			return nil
		}
		b, ok := committed[path]
		switch {
		case !ok:
			n++
		case e.Kind == manifest.Symlink:
			if nameOf(newHash(), strings.NewReader(e.Target), uint64(len(e.Target))) != b.id {
				n++
			}
		case e.Size != b.size:
			n++
		case e.Size <= left:
			left -= e.Size
			r, err := project.ContentOf(p.Store.Get, e)
			if err != nil {
				return err
			}
			defer r.Close() // read only: nothing can be lost
			if nameOf(newHash(), r, e.Size) != b.id {
				n++
			}
		}
		return nil
	})
	return n, err
}

// nameOf is git's name of a content.
func nameOf(h hash.Hash, content io.Reader, size uint64) string {
	_, _ = io.WriteString(h, gitprogram.FileHeader(size))
	_, _ = io.Copy(h, content) // what cannot be read has another name
	return hex.EncodeToString(h.Sum(nil))
}
