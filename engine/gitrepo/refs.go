package gitrepo

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Ref is a reference as it is stored: with an id, or with the name of another reference. A broken one has neither.
type Ref struct {
	ID     string
	Target string // of a symbolic reference
}

// Open gives the repository of a git directory and of the one that it shares with other worktrees, which is the same for most,
// without a work tree. Nothing is checked: the directories can be those of a saved state, which has no objects.
func Open(gitDir, commonDir string) Repo {
	return Repo{GitDir: gitDir, CommonDir: commonDir, local: readConfig(filepath.Join(commonDir, "config"))}
}

// JJStore is where jj keeps its git repository, which is bare, below the root of a project that has no .git for it.
const JJStore = ".jj/repo/store/git"

// IsGitDir reports whether git takes a directory for a git directory: it has HEAD, objects and refs.
func IsGitDir(dir string) bool { return isGitDir(dir) }

// OpenModule gives the repository of a submodule from its git directory, which lies in that of the repository around it. It has
// no work tree where it names none, or where that does not name the git directory.
func OpenModule(gitDir string) Repo {
	r := Open(gitDir, gitDir)
	w, ok := r.local.last("core.worktree")
	if !ok || w.text == "" {
		return r
	}
	dir := filepath.FromSlash(w.text)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	if named, ok := gitDirOf(filepath.Join(dir, ".git")); ok && named == gitDir {
		r.WorkTree = filepath.Clean(dir)
	}
	return r
}

// RefStorage is how references are kept: "files", "reftable", or what a later git has added.
func (r Repo) RefStorage() string { return r.extension("refstorage", "files") }

// ObjectFormat is the hash that names objects: "sha1", "sha256", or what a later git has added.
func (r Repo) ObjectFormat() string { return r.extension("objectformat", "sha1") }

// Partial reports whether objects may be missing, which git would fetch when it needs them.
func (r Repo) Partial() bool { return r.extension("partialclone", "") != "" }

// Bare reports whether the common git directory has no work tree of its own.
func (r Repo) Bare() bool { return isTrue(r.local.last("core.bare")) }

func (r Repo) extension(name, otherwise string) string {
	v, ok := r.local.last("extensions." + name)
	if !ok {
		return otherwise
	}
	return strings.ToLower(v.text)
}

// HeadRef is HEAD itself. Errors: of the file system.
func (r Repo) HeadRef() (Ref, error) { return readRef(filepath.Join(r.GitDir, "HEAD")) }

// Refs reads the references by their names, which begin with "refs/": loose ones before packed ones, the shared ones
// and those of the worktree itself. It reads those that are kept as files. Errors: *FormatError, of the file system.
func (r Repo) Refs() (map[string]Ref, error) {
	refs := map[string]Ref{}
	packed, err := readFile(filepath.Join(r.CommonDir, "packed-refs"), maxRefs)
	if err != nil && !vfs.IsMissing(err) {
		return nil, err
	}
	ParsePacked(packed, refs)
	if err := looseRefs(r.CommonDir, r.GitDir != r.CommonDir, refs); err != nil {
		return nil, err
	}
	if r.GitDir == r.CommonDir {
		return refs, nil
	}
	own := map[string]Ref{}
	if err := looseRefs(r.GitDir, false, own); err != nil {
		return nil, err
	}
	for name, ref := range own {
		if OwnRef(name) {
			refs[name] = ref
		}
	}
	return refs, nil
}

// LinkedRefs are the directories and the file with references of a git directory that are symbolic links, as git-new-workdir makes
// them: the references are in another git directory.
func LinkedRefs(commonDir string) (names []string) {
	for _, name := range []string{"refs", "refs/heads", "refs/tags", "refs/remotes", "packed-refs"} {
		info, err := os.Lstat(filepath.Join(commonDir, filepath.FromSlash(name)))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			names = append(names, name)
			if name == "refs" {
				break
			}
		}
	}
	return names
}

// ParsePacked adds what a file packed-refs has.
func ParsePacked(text []byte, refs map[string]Ref) {
	for line := range bytes.Lines(text) {
		id, name, ok := strings.Cut(string(bytes.TrimRight(line, "\r\n")), " ")
		if ok && isID(id) && safeRef(name) {
			refs[name] = Ref{ID: id}
		}
	}
}

// ParseRef reads the file of a loose reference, or HEAD. A broken one gives a Ref with neither id nor target.
func ParseRef(text []byte) Ref {
	id, target, ok := parseRef(text)
	if !ok {
		return Ref{}
	}
	return Ref{id, target}
}

// OwnRef reports whether each worktree has a reference of that name for itself.
func OwnRef(name string) bool {
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}

// looseRefs adds those that are files below dir; shared leaves out those of the main worktree.
func looseRefs(dir string, shared bool, refs map[string]Ref) error {
	return filepath.WalkDir(filepath.Join(dir, "refs"), func(file string, d fs.DirEntry, err error) error {
		switch {
		case vfs.IsMissing(err):
			return nil // deleted meanwhile, or none at all
		case err != nil:
			return err
		case d.IsDir(), strings.HasSuffix(file, ".lock"):
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !safeRef(name) || shared && OwnRef(name) {
			return nil
		}
		ref, err := readRef(file)
		if vfs.IsMissing(err) {
			return nil
		}
		if err == nil {
			refs[name] = ref
		}
		return err
	})
}

func readRef(file string) (Ref, error) {
	if target, err := os.Readlink(file); err == nil && safeRef(target) {
		return Ref{Target: target}, nil // the oldest form of a symbolic reference
	}
	text, err := readFile(file, maxSmall)
	if err != nil {
		return Ref{}, err
	}
	return ParseRef(text), nil
}
