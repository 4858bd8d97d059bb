package gitrestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// buildSuffix comes after the name of a git directory that is being built anew, and the number of the process after it.
const buildSuffix = ".rewind-"

// remainsName is a directory in a git directory that was built anew: what was left of the one before.
const remainsName = "rewind-remains"

// planBuild plans to build the git directory anew.
func (p *Plan) planBuild(ctx context.Context, saved gitrepo.Repo) error {
	parent := filepath.Dir(p.target.CommonDir)
	if info, err := os.Stat(parent); !p.target.Anew && (err != nil || !info.IsDir()) {
		moved := ""
		if p.target.linked() {
			moved = "if the repository was moved, run git worktree repair " + p.target.WorkTree + " in it; else "
		}
		p.refuse("%s is gone, and so is the directory that it was in: %smake the directory %s, and --git builds it anew there.", p.target.CommonDir, moved, parent)
		return nil
	}
	p.build = true
	l := Line{What: GitDir, Change: Returns, Name: p.target.CommonDir, Note: "The git directory is built anew, with configuration, hooks and all that is held."}
	if saved.RefStorage() == "files" {
		s, err := readSide(saved)
		if err != nil {
			return err
		}
		l.Count, l.To = len(s.refs), text(s.head)
		stash, err := stashOf(s, true)
		if err != nil {
			return err
		}
		var lacking []Line
		if !p.source.Unchecked && !saved.Partial() {
			var checked bool
			if lacking, checked, err = p.planWhole(ctx, s, stash); err != nil || len(p.Refusals) > 0 {
				return err
			}
			if checked && len(lacking) == 0 {
				l.Note = "The git directory is built anew, with configuration, hooks and all that it had."
			}
		}
		if p.absent[l.To] {
			l.To = ""
		}
		for _, ref := range s.refs {
			if p.absent[ref.ID] {
				l.Count--
			}
		}
		p.line(l)
		for _, e := range stash {
			if e = p.logged(ctx, e); !p.absent[e.id] {
				p.line(Line{What: Stash, Change: Returns, Name: e.message(), To: e.id})
			}
		}
		p.Lines = append(p.Lines, lacking...)
	} else {
		p.line(l)
	}
	if p.remains {
		p.Lines[0].Note = "What is left of the git directory is no repository. It is built anew, and the remains are kept in it as " + remainsName + "."
	}
	p.noteBeside(&p.Lines[0])
	worktrees, _ := os.ReadDir(filepath.Join(p.source.Dir, "worktrees")) // most have none
	for _, w := range worktrees {
		p.planGitFile(w.Name(), worktreePlace(filepath.Join(p.source.Dir, "worktrees", w.Name()), filepath.Join(p.target.CommonDir, "worktrees", w.Name())))
	}
	return nil
}

// sources are the directories that the objects of a git directory that is built anew come from.
func (p *Plan) sources() []string {
	all := append(slices.Clone(p.source.Objects), p.salvaged())
	if p.remains {
		all = append(all, filepath.Join(p.target.CommonDir, "objects"))
	}
	return all
}

// applyBuild builds a git directory beside its place, and renames it when it is whole.
func (p *Plan) applyBuild(ctx context.Context) (r Result, err error) {
	place := p.target.CommonDir
	parent, base := filepath.Dir(place), filepath.Base(place)
	if p.target.Anew {
		if err := os.MkdirAll(parent, 0o777); err != nil {
			return r, err
		}
	}
	if finished, err := p.clearBuilds(); err != nil || finished {
		return r, err
	}
	temp, err := os.MkdirTemp(parent, base+buildSuffix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return r, err
	}
	if err := p.buildIn(ctx, temp, &r); err != nil {
		return r, errors.Join(err, os.RemoveAll(temp))
	}
	if p.remains {
		if err := os.Rename(place, filepath.Join(temp, remainsName)); err != nil {
			return r, err
		}
		if err := keepBeside(temp); err != nil {
			return r, err
		}
		if err := p.stepped("remains"); err != nil {
			return r, err
		}
	}
	if err := renameInto(temp, place); err != nil {
		return r, err
	}
	if err := p.stepped("renamed"); err != nil {
		return r, err
	}
	return r, errors.Join(p.writeGitFile(), p.writeGitFiles())
}

// clearBuilds removes git directories that were being built when the process was killed. One that has the remains of the one before is
// whole: only its name is missing.
func (p *Plan) clearBuilds() (finished bool, err error) {
	place := p.target.CommonDir
	for _, left := range leftBy(filepath.Dir(place), filepath.Base(place)+buildSuffix) {
		if _, err := os.Lstat(filepath.Join(left, remainsName)); err == nil {
			return true, errors.Join(keepBeside(left), renameInto(left, place), p.writeGitFile(), p.writeGitFiles())
		}
		if err := os.RemoveAll(left); err != nil {
			return false, err
		}
	}
	return false, nil
}

// besides are what the git directory has of programs beside git, by its name there: they have objects that are not held.
var besides = map[string]struct{ program, comesBack string }{
	"lfs":   {"Git LFS", "git lfs fetch --all gets those that were pushed"},
	"annex": {"git-annex", "git annex get gets those that another repository has"},
}

// keepBeside gives what such programs had in the remains of a git directory its place in the new one.
func keepBeside(dir string) error {
	var errs []error
	for name := range besides {
		if err := os.Rename(filepath.Join(dir, remainsName, name), filepath.Join(dir, name)); !vfs.IsMissing(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// noteBeside says of the git directory's line what of such programs does not return.
func (p *Plan) noteBeside(l *Line) {
	for _, name := range p.source.Beside {
		if _, err := os.Lstat(filepath.Join(p.target.CommonDir, name, "objects")); err == nil {
			continue
		}
		l.Note += fmt.Sprintf(" The objects of %s are not held: %s.", besides[name].program, besides[name].comesBack)
	}
}

// objectsFor lists the objects in dirs for a git directory that has all its files: all that there are, or where those of other
// repositories are among them, what its references, reflogs and indexes reach. Without the git program, and where objects are
// missing, all.
func (p *Plan) objectsFor(ctx context.Context, gitDir string, dirs []string) (links []link, err error) {
	if p.source.Shared && len(p.damaged) == 0 {
		git := gitprogram.Repository{GitDir: gitDir, Objects: dirs}
		tips := strings.Join(append(p.progressIDs(), ""), "\n")
		out, err := git.Output(ctx, []byte(tips), "rev-list", "--objects", "--no-object-names", "--ignore-missing", "--all", "--reflog", "--indexed-objects", "--stdin")
		if err == nil {
			if links, missing := find(dirs, strings.Fields(string(out)), nil); len(missing) == 0 {
				return links, nil
			}
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	for _, dir := range dirs {
		list, err := everyObject(dir)
		if err != nil {
			return nil, err
		}
		links = append(links, list...)
	}
	return slices.DeleteFunc(links, func(l link) bool { return p.damaged[l.from] }), nil
}

// renameInto gives a git directory its name, which must be free.
func renameInto(dir, place string) error {
	if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, &fs.PathError{Op: "rename", Path: place, Err: fs.ErrExist})
	}
	if err := os.Rename(dir, place); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(place))
}

func (p *Plan) buildIn(ctx context.Context, temp string, r *Result) error {
	if err := copyTree(ctx, p.source.Dir, temp); err != nil {
		return err
	}
	for name, file := range p.source.Indexes {
		to := filepath.Join(temp, "index")
		if name != "" {
			to = filepath.Join(temp, "worktrees", name, "index")
			if _, err := os.Lstat(filepath.Dir(to)); err != nil {
				continue // an index of a worktree that is not registered
			}
		}
		if err := copyFile(file, to, 0o644); err != nil {
			return err
		}
	}
	if err := p.dropAbsent(temp); err != nil {
		return err
	}
	for _, dir := range []string{"refs", "objects/info", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(temp, filepath.FromSlash(dir)), 0o777); err != nil {
			return err
		}
	}
	if err := p.stepped("files"); err != nil {
		return err
	}
	links, err := p.objectsFor(ctx, temp, p.sources())
	if err != nil {
		return err
	}
	if r.Objects, err = addObjects(ctx, filepath.Join(temp, "objects"), links); err != nil {
		return err
	}
	if err := p.stepped("objects"); err != nil {
		return err
	}
	var all []string
	if err := p.setMode(temp); err != nil {
		return err
	}
	err = filepath.WalkDir(temp, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path, filepath.Join(temp, "objects")) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	return syncAll(temp, all)
}

// keptMode is what of the mode of a directory comes back.
const keptMode = fs.ModePerm | fs.ModeSetgid | fs.ModeSticky

// setMode gives a git directory the permissions that it had, or those of a new directory.
func (p *Plan) setMode(dir string) error {
	mode := p.source.Mode&keptMode | 0o700
	if p.source.Mode == 0 {
		info, err := os.Stat(filepath.Join(dir, "objects", "info"))
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	if mode&fs.ModeSetgid != 0 { // as git does in a repository that a group shares
		err := filepath.WalkDir(filepath.Join(dir, "objects"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return os.Chmod(dir, mode)
}

// writeGitFile writes the file .git of a work tree whose git directory is elsewhere, if there is none. As git does, it names
// that of a submodule by a relative path.
func (p *Plan) writeGitFile() error {
	file := filepath.Join(p.target.WorkTree, ".git")
	if file == p.target.GitDir || p.target.WorkTree == "" {
		return nil
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(p.target.WorkTree, 0o777); err != nil {
		return err
	}
	place := p.target.GitDir
	if rel, err := filepath.Rel(p.target.WorkTree, place); err == nil && slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "modules") {
		place = rel
	}
	return writeGitFile(file, place)
}

func writeGitFile(file, gitDir string) error {
	return vfs.Replace(vfs.OS, file, vfs.Replacement{Mode: 0o644}, vfs.Bytes([]byte("gitdir: "+filepath.ToSlash(gitDir)+"\n")))
}

// copyTree copies the directories, files and symbolic links of a saved git directory, without locks and what else is no state.
func copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		place := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		switch {
		case rel == ".":
			return nil
		case rel == "objects", strings.HasPrefix(rel, workPrefix):
			return skip(d)
		case rel == "gc.pid", strings.HasSuffix(rel, ".lock") && top != "hooks":
			return skip(d)
		case d.IsDir():
			mode := info.Mode()&keptMode | 0o700
			err := os.Mkdir(place, mode.Perm())
			if err == nil && mode != mode.Perm() {
				err = os.Chmod(place, mode)
			}
			return err
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, place)
		case d.Type().IsRegular():
			return copyFile(path, place, info.Mode().Perm())
		}
		return nil
	})
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// everyObject lists all objects and packs in a directory laid out as git's.
func everyObject(dir string) (links []link, err error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if len(n.Name()) != 2 || !isHex(n.Name()) || !n.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, n.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if (len(f.Name()) == 38 || len(f.Name()) == 62) && isHex(f.Name()) && f.Type().IsRegular() {
				name := filepath.Join(n.Name(), f.Name())
				links = append(links, link{filepath.Join(dir, name), name})
			}
		}
	}
	for _, pack := range packsIn([]string{dir}) {
		links = append(links, packLinks(pack)...)
	}
	return links, nil
}
