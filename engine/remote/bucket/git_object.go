package bucket

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"time"
)

// Modes of git's trees.
const (
	modeFile = "100644"
	modeMark = "160000" // of a submodule: git does not look for what it names
)

type treeEntry struct{ mode, name, id string }

// tip is the newest commit of a chain; zero: there is no chain.
type tip struct {
	id   string
	text []byte    // of the commit
	has  treeEntry // what it brought
}

// gitWriter writes objects into a repository, one file each, as git does. They are as durable as a temporary file.
type gitWriter struct {
	repo   string
	sha256 bool
}

// shallow lets the repository have a commit without what it refers to: what comes after it can be pushed.
func (w *gitWriter) shallow(at tip) error {
	if at.id == "" {
		return nil
	}
	if _, err := w.write("commit", at.text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.repo, "shallow"), []byte(at.id+"\n"), 0o600)
}

// write writes an object, and gives its id. What is put is encrypted: to compress it would be in vain.
func (w *gitWriter) write(kind string, body []byte) (id string, err error) {
	id = objectID(w.sha256, kind, body)
	var file bytes.Buffer
	z, err := zlib.NewWriterLevel(&file, zlib.NoCompression)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(z, "%s %d\x00", kind, len(body)) // into memory
	z.Write(body)
	if err := z.Close(); err != nil {
		return "", err
	}
	dir := filepath.Join(w.repo, "objects", id[:2])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return id, os.WriteFile(filepath.Join(dir, id[2:]), file.Bytes(), 0o600)
}

// objectID is the name that git gives to an object.
func objectID(wide bool, kind string, body []byte) string {
	var sum hash.Hash = sha1.New()
	if wide {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, len(body))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// commit writes a tree of one entry, and a commit of it that follows another one.
func (w *gitWriter) commit(parent tip, at time.Time, e treeEntry) (next tip, err error) {
	raw, err := hex.DecodeString(e.id)
	if err != nil {
		return next, err
	}
	tree, err := w.write("tree", append(fmt.Appendf(nil, "%s %s\x00", e.mode, e.name), raw...))
	if err != nil {
		return next, err
	}
	text := fmt.Appendf(nil, "tree %s\n", tree)
	if parent.id != "" {
		text = fmt.Appendf(text, "parent %s\n", parent.id)
	}
	for _, who := range []string{"author", "committer"} {
		text = fmt.Appendf(text, "%s rewind <rewind@localhost> %d +0000\n", who, at.Unix())
	}
	next.text, next.has = append(text, '\n'), e
	next.id, err = w.write("commit", next.text)
	return next, err
}
