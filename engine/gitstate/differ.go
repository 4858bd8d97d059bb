package gitstate

import (
	"bytes"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/manifest"
)

// byTheWay are files of a git directory that change without any work being done: by a fetch in the background, by a
// message that was edited, by git gc. Alone they are no reason for a checkpoint.
var byTheWay = []string{"FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "gc.log", "info/refs", "description", "refs/remotes/", "logs/refs/remotes/"}

const packedRefs = "packed-refs"

var errDiffer = errors.New("they differ")

// Differ reports whether two captured states differ in more than what changes by the way. References are compared by what
// they are, and not by the files that git keeps them in. objects has both states. A state that is not there, zero, is no state
// to compare with.
func Differ(objects Objects, a, b oid.ID) bool {
	if a == b || a.IsZero() || b.IsZero() {
		return false
	}
	was, is := map[string]refFiles{}, map[string]refFiles{} // by what comes before the repository's own paths
	err := Diff(objects, a, b, func(c manifest.Change) error {
		repo, path := "", c.Path
		if rest, ok := strings.CutPrefix(path, belowName+"/"); ok {
			repo, path, _ = strings.Cut(rest, "/")
		}
		path, _ = strings.CutPrefix(path, filesName+"/")
		switch {
		case isByTheWay(path):
			return nil
		case c.Old != nil && c.Old.Kind == manifest.Subdir || c.New != nil && c.New.Kind == manifest.Subdir:
			return nil
		case path == packedRefs || strings.HasPrefix(path, "refs/"):
			if was[repo] == nil {
				was[repo], is[repo] = refFiles{}, refFiles{}
			}
			was[repo][path], is[repo][path] = c.Old, c.New
			return nil
		case (strings.HasPrefix(path, "logs/") || strings.Contains(path, "/logs/")) && c.Old != nil && c.New != nil && sameLog(objects, *c.Old, *c.New):
			return nil
		}
		return errDiffer
	})
	if err != nil {
		return true // what cannot be read is reason enough
	}
	for repo := range was {
		if refsDiffer(objects, was[repo], is[repo]) {
			return true
		}
	}
	return false
}

// sameLog reports whether two reflogs have the same lines: git gc writes those without a message anew, with a tab at their end.
func sameLog(objects Objects, a, b manifest.Entry) bool {
	s := State{objects: objects}
	was, err := s.Read(a)
	if err != nil {
		return false
	}
	is, err := s.Read(b)
	plain := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\t\n"), []byte("\n")) }
	return err == nil && bytes.Equal(plain(was), plain(is))
}

func isByTheWay(path string) bool {
	for _, name := range byTheWay {
		if path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path+"/", name) {
			return true
		}
	}
	return false
}

// refFiles are the files of one side with references, by path, that are not the same on the other; nil for one that is not there.
type refFiles map[string]*manifest.Entry

// read gives the references in the files.
func (f refFiles) read(objects Objects) (map[string]gitrepo.Ref, error) {
	s := State{objects: objects}
	refs := map[string]gitrepo.Ref{}
	if e := f[packedRefs]; e != nil {
		text, err := s.Read(*e)
		if err != nil {
			return nil, err
		}
		gitrepo.ParsePacked(text, refs)
	}
	for path, e := range f {
		switch {
		case path == packedRefs || e == nil:
			continue
		case e.Kind == manifest.Symlink:
			refs[path] = gitrepo.Ref{Target: e.Target}
			continue
		}
		text, err := s.Read(*e)
		if err != nil {
			return nil, err
		}
		refs[path] = gitrepo.ParseRef(text)
	}
	return refs, nil
}

func refsDiffer(objects Objects, a, b refFiles) bool {
	was, err := a.read(objects)
	if err != nil {
		return true
	}
	is, err := b.read(objects)
	if err != nil {
		return true
	}
	for name, ref := range was {
		if is[name] != ref && !isByTheWay(name) {
			return true
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok && !isByTheWay(name) {
			return true
		}
	}
	return false
}
