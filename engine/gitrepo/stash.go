package gitrepo

import (
	"encoding/hex"
	"path/filepath"
	"strings"
)

const maxStashes = 20 // looked at, newest first

// StashHolding finds the newest entry of git's stash that took path, relative
// to the work tree, along as an untracked or ignored file or directory, and
// returns its number. What cannot be read is not found.
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
	o := r.objects(len(stash) / 2)
	parents := o.commit(stash, "parent ")
	if len(parents) < 3 {
		return false
	}
	tree := o.commit(parents[2], "tree ")
	if len(tree) == 0 {
		return false
	}
	id, err := hex.DecodeString(tree[0])
	if err != nil {
		return false
	}
	mode, _, err := o.find(string(id), path)
	return err == nil && mode != 0
}

// HasCommit reports whether git has a commit. What cannot be read is not there.
func (r Repo) HasCommit(id string) bool {
	return len(r.objects(len(id)/2).commit(id, "tree ")) > 0
}

// commit gives the ids that follow a word in a commit's header, none if it cannot be read.
func (o *objects) commit(name, word string) (ids []string) {
	id, err := hex.DecodeString(name)
	if err != nil || len(id) != o.oid {
		return nil
	}
	text, err := o.read(string(id), commitObject)
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" {
			break
		}
		if id, ok := strings.CutPrefix(line, word); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
