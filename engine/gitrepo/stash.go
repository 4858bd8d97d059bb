package gitrepo

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"
)

const (
	maxStashes = 20      // looked at, newest first
	maxObject  = 8 << 20 // of a tree or commit, in bytes
)

// StashHolding finds the newest entry of git's stash that took path, relative
// to the work tree, along as an untracked or ignored file or directory, and
// returns its number. It reads loose objects only, which those of a fresh entry
// are: what it does not find may be there all the same.
func (r Repo) StashHolding(path string) (n int, ok bool) {
	log, err := readFile(filepath.Join(r.CommonDir, "logs", "refs", "stash"), maxConfig)
	if err != nil {
		return 0, false
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	for n = range min(len(lines), maxStashes) {
		fields := strings.Fields(lines[len(lines)-1-n])
		if len(fields) < 2 || !isID(fields[1]) {
			return 0, false
		}
		if r.holds(fields[1], path) {
			return n, true
		}
	}
	return 0, false
}

// holds reports whether a stash's third parent, the untracked files, has path.
func (r Repo) holds(stash, path string) bool {
	untracked := ""
	parents := 0
	for line := range strings.SplitSeq(string(r.object(stash, "commit")), "\n") {
		if id, ok := strings.CutPrefix(line, "parent "); ok {
			if parents++; parents == 3 {
				untracked = id
			}
		}
		if line == "" {
			break
		}
	}
	tree, _, ok := strings.Cut(strings.TrimPrefix(string(r.object(untracked, "commit")), "tree "), "\n")
	for name := range strings.SplitSeq(path, "/") {
		if !ok {
			return false
		}
		tree, ok = treeEntry(r.object(tree, "tree"), name, len(tree)/2)
	}
	return ok
}

// treeEntry finds a name in a tree object with ids of size bytes.
func treeEntry(tree []byte, name string, size int) (id string, ok bool) {
	for len(tree) > 0 {
		end := bytes.IndexByte(tree, 0)
		if end < 0 || len(tree) < end+1+size {
			return "", false
		}
		_, found, _ := strings.Cut(string(tree[:end]), " ")
		if found == name {
			return hex.EncodeToString(tree[end+1 : end+1+size]), true
		}
		tree = tree[end+1+size:]
	}
	return "", false
}

// object is the content of a loose object, nil if it is not there or not of this kind.
func (r Repo) object(id, kind string) []byte {
	if !isID(id) {
		return nil
	}
	packed, err := readFile(filepath.Join(r.CommonDir, "objects", id[:2], id[2:]), maxObject)
	if err != nil {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil {
		return nil
	}
	head, body, ok := bytes.Cut(data, []byte{0})
	if !ok || !bytes.HasPrefix(head, []byte(kind+" ")) {
		return nil
	}
	return body
}
