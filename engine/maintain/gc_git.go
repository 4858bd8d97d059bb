package maintain

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// letGoOfObjects lets go of git's objects that no checkpoint needs. That it cannot keeps nothing else from being done.
func (c *collection) letGoOfObjects(ctx context.Context) {
	var states []oid.ID
	add := func(id oid.ID) {
		if !id.IsZero() && !slices.Contains(states, id) {
			states = append(states, id)
		}
	}
	for _, s := range c.state.Checkpoints {
		if !c.gone[s.ID] {
			add(s.Git)
		}
	}
	for _, o := range c.state.Operations {
		add(o.GitBefore)
		add(o.GitAfter)
	}
	freed, err := letGoOfObjects(ctx, c.p, states)
	if c.objects = freed; err != nil && ctx.Err() == nil {
		c.p.Notify("objects of git that no checkpoint needs may take space: " + problem.Text(err))
	}
}

// letGoOfObjects removes what is held of git's objects and no checkpoint needs: a second name costs nothing while git has the
// first, so only what git has removed is looked at. It stays where a state of a living checkpoint reaches it and no
// file that git has, too, holds it. Without the git program, which knows what is reached, all stays. It gives the bytes.
func letGoOfObjects(ctx context.Context, p *project.Project, states []oid.ID) (freed int64, err error) {
	if runtime.GOOS == "windows" { // how many names a file has is not known
		return 0, nil
	}
	h := &heldObjects{dirs: gitstate.HeldDirs(p)}
	if err := h.list(); err != nil || len(h.alone) == 0 {
		return 0, err
	}
	needed, err := h.needed(ctx, p, states)
	if missing := (*gitprogram.MissingError)(nil); errors.As(err, &missing) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := gitstate.Recheck(p); err != nil { // what git has under the same name is held anew
		return 0, err
	}
	for _, file := range h.alone {
		if slices.ContainsFunc(file.ids, func(id string) bool { return needed[id] && !h.shared[id] }) {
			continue
		}
		// The pack goes before its index: an index alone is nothing to git.
		for _, name := range []string{file.name, strings.TrimSuffix(file.name, ".pack") + ".idx", strings.TrimSuffix(file.name, ".pack") + ".promisor"} {
			if info, err := os.Lstat(name); err == nil {
				if err := account.RemoveIfThere(name); err != nil {
					return freed, err
				}
				freed += info.Size()
			}
			if !strings.HasSuffix(file.name, ".pack") {
				break
			}
		}
	}
	return freed, nil
}

// heldObjects are the objects that are held.
type heldObjects struct {
	dirs   []string
	shared map[string]bool // ids of those whose file git has, too
	alone  []heldFile      // files that git does not have any more
}

// heldFile is a loose object or a pack.
type heldFile struct {
	name string
	ids  []string
}

func (h *heldObjects) list() error {
	h.shared = map[string]bool{}
	for _, dir := range h.dirs {
		names, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			files, err := os.ReadDir(filepath.Join(dir, name.Name()))
			if err != nil {
				return err
			}
			for _, file := range files {
				if err := h.add(filepath.Join(dir, name.Name(), file.Name()), name.Name()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (h *heldObjects) add(file, dir string) error {
	ids := []string{dir + filepath.Base(file)}
	if dir == "pack" {
		if !strings.HasSuffix(file, ".pack") {
			return nil
		}
		var err error
		if ids, err = packIDs(strings.TrimSuffix(file, ".pack") + ".idx"); err != nil {
			return nil // it was not held whole: git packed anew meanwhile
		}
	}
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if _, shared := account.LinkKey(info); !shared {
		h.alone = append(h.alone, heldFile{file, ids})
		return nil
	}
	for _, id := range ids {
		h.shared[id] = true
	}
	return nil
}

// packIDs are the ids in a pack's index, as hexadecimal digits.
func packIDs(index string) (ids []string, err error) {
	size := 20
	if len(filepath.Base(index)) > len("pack-.idx")+40 {
		size = 32
	}
	data, err := gitrepo.PackIDs(index, size)
	for id := range slices.Chunk(data, size) {
		ids = append(ids, hex.EncodeToString(id))
	}
	return ids, err
}

// needed are the objects that states reach, and that nothing which git has now reaches.
func (h *heldObjects) needed(ctx context.Context, p *project.Project, states []oid.ID) (map[string]bool, error) {
	if !slices.ContainsFunc(h.alone, func(f heldFile) bool {
		return slices.ContainsFunc(f.ids, func(id string) bool { return !h.shared[id] })
	}) {
		return nil, nil // git has packed them anew
	}
	mentioned := map[string]bool{}
	gitDirs := map[string]string{} // by the hash that names objects: the first one that is there
	for _, id := range states {
		list, _, err := gitstate.LoadAll(gitstate.InStore(p), id, p.Root())
		for _, s := range list {
			if err == nil {
				err = s.Mentions(mentioned)
			}
			if gitrepo.IsGitDir(s.Common) {
				if format := gitrepo.Open(s.Common, s.Common).ObjectFormat(); gitDirs[format] == "" {
					gitDirs[format] = s.Common
				}
			}
		}
		if err != nil && !project.IsLost(err) {
			return nil, err
		}
	}
	needed := maps.Clone(mentioned)
	for format, size := range map[string]int{"sha1": 40, "sha256": 64} {
		var tips []string
		for id := range mentioned {
			if len(id) == size {
				tips = append(tips, id+"\n")
			}
		}
		if len(tips) == 0 {
			continue
		}
		slices.Sort(tips)
		out, err := h.reached(ctx, p, format, gitDirs[format], strings.Join(tips, ""))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			needed[strings.TrimSuffix(line, "\n")] = true
		}
	}
	return needed, nil
}

// reached are the objects that tips reach, and that nothing in a git directory ("" for none) reaches.
func (h *heldObjects) reached(ctx context.Context, p *project.Project, format, gitDir, tips string) ([]byte, error) {
	git := gitprogram.Repository{GitDir: gitDir, Objects: h.dirs}
	args := []string{"rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--stdin"}
	if gitDir == "" {
		empty, err := emptyGitDir(p, format)
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(empty)
		git.GitDir = empty
	} else {
		args = append(args, "--not", "--all")
	}
	return git.Output(ctx, []byte(tips), args...)
}

// emptyGitDir makes a git directory without anything, for git to read objects with.
func emptyGitDir(p *project.Project, format string) (string, error) {
	dir, err := os.MkdirTemp(filepath.Join(p.StoreDir(), account.TmpName), "git-")
	if err != nil {
		return "", err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if format == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return dir, err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return dir, err
		}
	}
	return dir, nil
}
