package gitrestore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// logEntry is one line of a reflog: "old new who TAB message".
type logEntry struct {
	old, id string
	rest    string // from the space after id, without the newline
}

func (e logEntry) String() string { return e.old + " " + e.id + e.rest }

func (e logEntry) message() string {
	_, text, _ := strings.Cut(e.rest, "\t")
	return text
}

// readLog reads a reflog, none where it is missing. What is no line of a reflog is left out.
func readLog(file string) (list []logEntry, err error) {
	data, err := vfs.ReadRegular(file, 0)
	if err != nil {
		if info, serr := os.Stat(file); vfs.IsMissing(err) || serr == nil && info.IsDir() {
			return nil, nil // a directory: of references below that name
		}
		return nil, err
	}
	for _, e := range gitrepo.ParseLog(data) {
		list = append(list, logEntry{e.Old, e.ID, e.Rest})
	}
	return list, nil
}

func logText(list []logEntry) []byte {
	var b strings.Builder
	for _, e := range list {
		b.WriteString(e.String() + "\n")
	}
	return []byte(b.String())
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// isZero reports whether an id stands for no object.
func isZero(id string) bool { return strings.Trim(id, "0") == "" }

func zero(like string) string { return strings.Repeat("0", len(like)) }

// union is the saved lines, then those of now that are not among them; more reports whether now lacks a line.
func union(saved, now []logEntry) (list []logEntry, more int) {
	had := map[logEntry]bool{}
	for _, e := range now {
		had[e] = true
	}
	was := map[logEntry]bool{}
	for _, e := range saved {
		was[e] = true
		if !had[e] {
			more++
		}
	}
	list = append(list, saved...)
	for _, e := range now {
		if !was[e] {
			list = append(list, e)
		}
	}
	return list, more
}

// chained gives each entry the id of the one before as its old one, as git stash drop leaves them.
func chained(list []logEntry) []logEntry {
	for i := range list {
		if i == 0 {
			list[0].old = zero(list[0].id)
		} else {
			list[i].old = list[i-1].id
		}
	}
	return list
}

// logFile is where the reflog of a reference is, or of a HEAD.
func logFile(r gitrepo.Repo, name string) string {
	dir, name := placeOf(r, name)
	return filepath.Join(dir, "logs", filepath.FromSlash(name))
}

// refFile is where a reference is, if it is loose, or a HEAD.
func refFile(r gitrepo.Repo, name string) string {
	dir, name := placeOf(r, name)
	return filepath.Join(dir, filepath.FromSlash(name))
}

// isHead: of the worktree itself, or as git names those of the others, "main-worktree/HEAD" and "worktrees/<name>/HEAD".
func isHead(name string) bool { return !strings.HasPrefix(name, "refs/") }

// placeOf is the git directory that has a reference or a HEAD, and the name there.
func placeOf(r gitrepo.Repo, name string) (dir, there string) {
	switch {
	case name == "HEAD", gitrepo.OwnRef(name):
		return r.GitDir, name
	case isHead(name):
		return filepath.Join(r.CommonDir, filepath.FromSlash(strings.TrimPrefix(strings.TrimSuffix(name, "HEAD"), mainWorktree))), "HEAD"
	}
	return r.CommonDir, name
}

const mainWorktree = "main-worktree/"

// logNames are the references of which there are reflogs, and HEAD.
func logNames(r gitrepo.Repo) (list []string, err error) {
	root := filepath.Join(r.CommonDir, "logs")
	err = filepath.WalkDir(filepath.Join(root, "refs"), func(file string, d fs.DirEntry, err error) error {
		if vfs.IsMissing(err) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if name := filepath.ToSlash(rel); err == nil && validRef(name) && !gitrepo.OwnRef(name) {
			list = append(list, name)
		}
		return err
	})
	if _, serr := os.Lstat(logFile(r, "HEAD")); serr == nil {
		list = append(list, "HEAD")
	}
	return list, err
}
