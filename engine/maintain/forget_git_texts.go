package maintain

import (
	"bytes"
	"context"
	"encoding/hex"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// maxSearched is how many bytes of commits, tags and trees of a repository are searched.
	maxSearched = 256 << 20
	// maxBatch is how many of them are read at a time.
	maxBatch = 16 << 20
)

// gitObject is an object of git of which the kind and the size are known.
type gitObject struct {
	id, kind string
	size     int
}

// inObjects looks for the text in what git itself holds beside the content of files: also in objects that no reference leads to, since
// these are held, too. Without the git program nothing is known.
func (f *textForgetter) inObjects(ctx context.Context, common string, has *GitHas) {
	git := gitprogram.Repository{GitDir: common}
	out, err := git.Output(ctx, nil, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return
	}
	objects := objectsIn(out)
	notes := f.notes(ctx, git)
	searched := 0
	for _, kind := range []string{"tag", "blob", "commit", "tree"} {
		var batch []gitObject
		size := 0
		look := func() {
			f.search(ctx, git, batch, has)
			batch, size = nil, 0
		}
		for _, o := range objects {
			if o.kind != kind || kind == "blob" && !notes[o.id] {
				continue
			}
			if searched+o.size > maxSearched {
				has.Partly = true
				continue
			}
			if size+o.size > maxBatch {
				look()
			}
			batch = append(batch, o)
			size, searched = size+o.size, searched+o.size
		}
		look()
	}
}

func objectsIn(out []byte) (list []gitObject) {
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		if size, err := strconv.Atoi(words[2]); err == nil && size >= 0 {
			list = append(list, gitObject{words[0], words[1], size})
		}
	}
	return list
}

// notes are the ids of what notes say.
func (f *textForgetter) notes(ctx context.Context, git gitprogram.Repository) map[string]bool {
	ids := map[string]bool{}
	refs, err := git.Output(ctx, nil, "for-each-ref", "--format=%(objectname)", "refs/notes/")
	if err != nil {
		return ids
	}
	for ref := range strings.FieldsSeq(string(refs)) {
		out, err := git.Output(ctx, nil, "ls-tree", "-r", ref)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			if words := strings.Fields(line); len(words) > 2 && words[1] == "blob" {
				ids[words[2]] = true
			}
		}
	}
	return ids
}

// search notes those of some objects, all of one kind, that have the text.
func (f *textForgetter) search(ctx context.Context, git gitprogram.Repository, objects []gitObject, has *GitHas) {
	if len(objects) == 0 {
		return
	}
	var names bytes.Buffer
	for _, o := range objects {
		names.WriteString(o.id + "\n")
	}
	out, err := git.Output(ctx, names.Bytes(), "cat-file", "--batch")
	if err != nil {
		has.Partly = true
		return
	}
	if !eachObject(out, func(o gitObject, content []byte) {
		switch {
		case o.kind == "commit" && f.has(message(content)):
			has.Commits = append(has.Commits, o.id)
		case o.kind == "tag" && f.has(message(content)):
			has.Tags = append(has.Tags, o.id)
		case o.kind == "blob" && f.has(string(content)):
			has.Notes = append(has.Notes, o.id)
		case o.kind == "tree" && slices.ContainsFunc(inTree(content, len(o.id)/2), func(e treeEntry) bool { return f.has(e.name) }):
			has.Trees = append(has.Trees, o.id)
		}
	}) {
		has.Partly = true
	}
}

// eachObject calls each with the objects that git cat-file --batch gives; whole: to the end.
func eachObject(out []byte, each func(o gitObject, content []byte)) (whole bool) {
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		found := objectsIn(head)
		if len(found) == 0 { // it is gone
			out = rest
			continue
		}
		o := found[0]
		if o.size > len(rest) {
			return false
		}
		each(o, rest[:o.size])
		out = bytes.TrimPrefix(rest[o.size:], []byte("\n"))
	}
	return true
}

// message is a commit or a tag without the lines that name other objects.
func message(content []byte) string {
	for {
		line, rest, ok := bytes.Cut(content, []byte("\n"))
		word, _, _ := bytes.Cut(line, []byte(" "))
		if !ok || !slices.Contains([]string{"tree", "parent", "object", "type"}, string(word)) {
			return string(content)
		}
		content = rest
	}
}

type treeEntry struct{ mode, name, id string }

// inTree is what a tree of git has, whose ids have a size.
func inTree(content []byte, idSize int) (entries []treeEntry) {
	for {
		mode, rest, ok := bytes.Cut(content, []byte(" "))
		name, rest, named := bytes.Cut(rest, []byte{0})
		if !ok || !named || len(rest) < idSize {
			return entries
		}
		entries = append(entries, treeEntry{string(mode), string(name), hex.EncodeToString(rest[:idSize])})
		content = rest[idSize:]
	}
}

// inState reports whether a record of another store has the text in git's state or in the rules of git's exclude files, or has one that cannot be read.
func (f *textForgetter) inState(s *cas.Store, r manifest.Record) bool {
	var states []oid.ID
	if r.Checkpoint != nil {
		if states = append(states, r.Checkpoint.Git); f.rulesSay(s, r.Checkpoint.Rules) {
			return true
		}
	}
	if r.Operation != nil {
		states = append(states, r.Operation.GitBefore, r.Operation.GitAfter)
	}
	load := func(id oid.ID) (manifest.Dir, error) {
		data, err := s.Get(nil, id)
		if err != nil {
			return manifest.Dir{}, err
		}
		return manifest.ParseDir(data)
	}
	for _, id := range states {
		if id.IsZero() || f.looked[id] {
			continue
		}
		if err := manifest.Walk(load, id, func(path string, e manifest.Entry) error {
			if f.has(path) || e.Kind != manifest.Subdir && !f.looked[e.ID] && f.inEntry(s, e) {
				return fs.ErrExist
			}
			f.looked[e.ID] = true
			return nil
		}); err != nil {
			return true
		}
		f.looked[id] = true
	}
	return false
}

func (f *textForgetter) inEntry(s *cas.Store, e manifest.Entry) bool {
	data, err := s.Get(nil, e.ID)
	if err != nil || e.Kind != manifest.Chunked {
		return e.Size > 0 && (err != nil || f.mark.text(data, 0) > 0)
	}
	list, err := cas.ParseList(data)
	if err != nil || e.Size > maxGitFile {
		return true
	}
	var whole []byte
	for _, c := range list.Chunks {
		part, err := s.Get(nil, c.ID)
		if err != nil {
			return true
		}
		whole = append(whole, part...)
	}
	return f.mark.text(whole, 0) > 0
}
