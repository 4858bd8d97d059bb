package gitrepo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Head gives the commit id ("" if unborn) and the branch ("" if detached).
// References kept as a reftable are not read: both are "".
func (r Repo) Head() (commit, branch string, err error) {
	if v, ok := r.local.last("extensions.refstorage"); ok && strings.ToLower(v.text) != "files" {
		return "", "", nil
	}
	file := filepath.Join(r.GitDir, "HEAD")
	if target, err := os.Readlink(file); err == nil && strings.HasPrefix(target, "refs/") {
		// The oldest form of a symbolic reference.
		if !safeRef(target) {
			return "", "", &FormatError{file, "neither an id nor a reference"}
		}
		return r.resolve(target, 0)
	}
	text, err := readFile(file, maxSmall)
	if err != nil {
		return "", "", err
	}
	id, ref, ok := parseRef(text)
	if !ok {
		return "", "", &FormatError{file, "neither an id nor a reference"}
	}
	if ref == "" {
		return id, "", nil
	}
	return r.resolve(ref, 0)
}

// HasBranch reports whether there is a branch, or whether that is not known, as of references kept as a reftable.
func (r Repo) HasBranch(name string) bool {
	commit, _, err := r.resolve("refs/heads/"+name, 0)
	return commit != "" || err != nil || r.RefStorage() != "files"
}

// maxSymbolic is how many symbolic references git follows.
const maxSymbolic = 5

// resolve follows ref to an id ("" if there is none) and the branch that has it.
func (r Repo) resolve(ref string, depth int) (commit, branch string, err error) {
	branch = strings.TrimPrefix(ref, "refs/heads/")
	dir := r.CommonDir
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(ref, own) {
			dir = r.GitDir
		}
	}
	file := filepath.Join(dir, filepath.FromSlash(ref))
	text, err := readFile(file, maxSmall)
	if err == nil {
		id, next, ok := parseRef(text)
		switch {
		case !ok || next != "" && depth >= maxSymbolic:
			return "", branch, &FormatError{file, "neither an id nor a reference"}
		case next != "":
			return r.resolve(next, depth+1)
		}
		return id, branch, nil
	}
	packed, err := readFile(filepath.Join(r.CommonDir, "packed-refs"), maxRefs)
	if vfs.IsMissing(err) {
		return "", branch, nil
	}
	if err != nil {
		return "", branch, err
	}
	return findPacked(packed, ref), branch, nil
}

// parseRef reads a loose reference: an id, or the name of another reference.
func parseRef(text []byte) (id, ref string, ok bool) {
	s := string(text)
	if rest, found := strings.CutPrefix(s, "ref:"); found {
		ref = strings.TrimSpace(rest)
		return "", ref, safeRef(ref)
	}
	id, _, _ = strings.Cut(s, "\n")
	id = strings.TrimSpace(id)
	return id, "", isID(id)
}

// safeRef keeps a reference's name from leading out of the git directory.
func safeRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") || strings.ContainsAny(ref, "\x00\n\\:") {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func isID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// findPacked looks ref up in packed-refs: lines of an id, a space and a name.
func findPacked(data []byte, ref string) string {
	want := []byte(" " + ref)
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if id, ok := bytes.CutSuffix(line, want); ok && isID(string(id)) {
			return string(id)
		}
	}
	return ""
}
