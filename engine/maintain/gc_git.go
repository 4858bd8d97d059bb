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
	"time"

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
	freed, kept, err := letGoOfObjects(ctx, c.p, states, c.named)
	if c.objects, c.result.SharedGit = freed, kept; err != nil && ctx.Err() == nil {
		c.p.Notify("objects of git that no checkpoint needs may take space: " + problem.Text(err))
	}
}

// letGoOfObjects removes what is held of git's objects and no checkpoint needs: a second name costs nothing while git has the
// first, so only what git has removed is looked at. It stays where a state of a living checkpoint reaches it and no
// file that git has, too, holds it. Without the git program, which knows what is reached, all stays. It gives the bytes,
// and how many objects that the named ones reach stay for a state.
func letGoOfObjects(ctx context.Context, p *project.Project, states []oid.ID, named map[string]bool) (freed int64, kept int, err error) {
	if runtime.GOOS == "windows" { // how many names a file has is not known
		return 0, 0, nil
	}
	h := &heldObjects{dirs: gitstate.HeldDirs(p)}
	if err := h.list(); err != nil || len(h.alone) == 0 {
		return 0, 0, err
	}
	mentioned, gitDirs, err := mentionedBy(p, states)
	if err != nil {
		return 0, 0, err
	}
	if err := gitstate.Recheck(p); err != nil { // what git has under the same name is held anew
		return 0, 0, err
	}
	for _, dir := range gitDirs { // git may have packed anew what only the old files hold
		if _, err := gitstate.Hold(ctx, p, dir, oid.ID{}, time.Now()); err != nil {
			return 0, 0, err
		}
	}
	if err := h.list(); err != nil {
		return 0, 0, err
	}
	needed, err := h.needed(ctx, p, mentioned, gitDirs)
	if missing := (*gitprogram.MissingError)(nil); errors.As(err, &missing) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if len(named) > 0 && len(needed) > 0 {
		reached, err := h.needed(ctx, p, named, gitDirs)
		if err != nil {
			return 0, 0, err
		}
		for id := range reached {
			if needed[id] {
				kept++
			}
		}
	}
	for _, file := range h.alone {
		if slices.ContainsFunc(file.ids, func(id string) bool { return needed[id] && !h.shared[id] }) {
			continue
		}
		// The pack goes before its index: an index alone is nothing to git.
		for _, name := range []string{file.name, strings.TrimSuffix(file.name, ".pack") + ".idx", strings.TrimSuffix(file.name, ".pack") + ".promisor"} {
			if info, err := os.Lstat(name); err == nil {
				if err := account.RemoveIfThere(name); err != nil {
					return freed, kept, err
				}
				freed += info.Size()
			}
			if !strings.HasSuffix(file.name, ".pack") {
				break
			}
		}
	}
	return freed, kept, nil
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
	h.shared, h.alone = map[string]bool{}, nil
	for _, dir := range h.dirs {
		names, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !name.IsDir() {
				continue
			}
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

// candidates are the objects that only files which git does not have any more hold.
func (h *heldObjects) candidates() map[string]bool {
	ids := map[string]bool{}
	for _, file := range h.alone {
		for _, id := range file.ids {
			if !h.shared[id] {
				ids[id] = true
			}
		}
	}
	return ids
}

// mentionedBy gives the objects that states name, and those of their git directories that are still there and the project's: a
// store can come from anywhere, and says itself where its repositories are.
func mentionedBy(p *project.Project, states []oid.ID) (mentioned map[string]bool, gitDirs []string, err error) {
	mentioned = map[string]bool{}
	around, _ := gitrepo.Find(p.Root())
	for _, id := range states {
		list, _, err := gitstate.LoadAll(gitstate.InStore(p), id, p.Root())
		for _, s := range list {
			if err == nil {
				err = s.Mentions(mentioned)
			}
			ours := s.Common == around.CommonDir || gitstate.Below(p.Root(), around.CommonDir, s.Common)
			if ours && gitrepo.IsGitDir(s.Common) && !slices.Contains(gitDirs, s.Common) {
				gitDirs = append(gitDirs, s.Common)
			}
		}
		if err != nil && !project.IsLost(err) {
			return nil, nil, err
		}
	}
	return mentioned, gitDirs, nil
}

// needed are those of the candidates that the mentioned objects reach.
func (h *heldObjects) needed(ctx context.Context, p *project.Project, mentioned map[string]bool, gitDirs []string) (map[string]bool, error) {
	needed, left := map[string]bool{}, h.candidates()
	for format, size := range map[string]int{"sha1": 40, "sha256": 64} {
		var tips []string
		for id := range mentioned {
			if len(id) == size {
				tips = append(tips, id+"\n")
			}
		}
		slices.Sort(tips)
		ended := func() bool {
			return len(tips) == 0 || !slices.ContainsFunc(slices.Collect(maps.Keys(left)), func(id string) bool { return len(id) == size })
		}
		if ended() {
			continue
		}
		gitDir := ""
		if i := slices.IndexFunc(gitDirs, func(dir string) bool { return gitrepo.Open(dir, dir).ObjectFormat() == format }); i >= 0 {
			gitDir = gitDirs[i]
		}
		if gitDir == "" {
			empty, err := emptyGitDir(p, format)
			defer os.RemoveAll(empty)
			if err != nil {
				return nil, err
			}
			gitDir = empty
		}
		// First what nothing in git reaches: the little that git has removed. Then everything, which reads all of the
		// history, if there is more: git lacks it though something in git may reach it, as in a damaged repository.
		for _, beyond := range [][]string{{"--not", "--all"}, nil} {
			if ended() {
				break
			}
			out, err := h.reached(ctx, gitDir, strings.Join(tips, ""), beyond)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(out)) {
				if id := strings.TrimSuffix(line, "\n"); left[id] {
					needed[id] = true
					delete(left, id)
				}
			}
		}
	}
	return needed, nil
}

// reached are the objects that tips reach, one a line.
func (h *heldObjects) reached(ctx context.Context, gitDir, tips string, beyond []string) ([]byte, error) {
	git := gitprogram.Repository{GitDir: gitDir, Objects: h.dirs}
	args := []string{"rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any", "--stdin"}
	return git.Output(ctx, []byte(tips), append(args, beyond...)...)
}

// emptyGitDir makes a git directory without anything, for git to read objects with.
func emptyGitDir(p *project.Project, format string) (string, error) {
	dir, err := os.MkdirTemp(filepath.Join(p.StoreDir(), account.TmpName), account.GitTemp)
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
