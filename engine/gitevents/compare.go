package gitevents

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	stashRef = "refs/stash"
	branches = "refs/heads/"
)

// comparison is that of two states of one repository.
type comparison struct {
	r       *Reader
	a, b    side
	changed map[string]manifest.Change // files and links, by their paths below the common git directory
	events  []Event

	sameFiles bool           // of the project
	counted   map[string]int // indexes of events, by kind and group

	moved     map[string]bool // branches of which HEAD's reflog says where they went
	explained map[string]bool // branches of which an event says that they are new, or have another name
}

type side struct {
	*gitstate.State
	packed map[string]gitrepo.Ref // nil: not read yet
}

// compare finds the files that differ, and the worktrees that came and went.
func (c *comparison) compare() error {
	c.changed, c.moved, c.explained = map[string]manifest.Change{}, map[string]bool{}, map[string]bool{}
	return gitstate.Diff(c.r.objects, c.a.Files(), c.b.Files(), func(ch manifest.Change) error {
		e := ch.New
		if e == nil {
			e = ch.Old
		}
		if e.Kind != manifest.Subdir {
			c.changed[ch.Path] = ch
			return nil
		}
		name, ok := strings.CutPrefix(ch.Path, "worktrees/")
		switch {
		case !ok || strings.Contains(name, "/"):
		case ch.Old == nil:
			c.count(WorktreeMade, "", name, Event{})
		case ch.New == nil:
			c.count(WorktreeGone, "", name, Event{})
		}
		return nil
	})
}

// own is the path of a file of the work tree's own git directory.
func (c *comparison) own(name string) string {
	rel, err := filepath.Rel(c.b.Common, c.b.GitDir)
	if err != nil || rel == "." {
		return name
	}
	return filepath.ToSlash(rel) + "/" + name
}

// file reads a file of one side; ok is false where it is missing.
func (c *comparison) file(of *side, path string) (text []byte, ok bool, err error) {
	e, ok, err := manifest.Find(c.r.objects.Load, of.Files(), path)
	if err != nil || !ok || e.Kind == manifest.Subdir {
		return nil, false, err
	}
	text, err = of.Read(e)
	return text, true, err
}

// ref is a reference's value on one side; its zero value is none.
func (c *comparison) ref(of *side, name string) (gitrepo.Ref, error) {
	text, ok, err := c.file(of, name)
	if err != nil {
		return gitrepo.Ref{}, err
	}
	if ref := gitrepo.ParseRef(text); ok && ref != (gitrepo.Ref{}) {
		return ref, nil
	}
	if of.packed == nil {
		text, _, err := c.file(of, "packed-refs")
		if err != nil {
			return gitrepo.Ref{}, err
		}
		of.packed = map[string]gitrepo.Ref{}
		gitrepo.ParsePacked(text, of.packed)
	}
	return of.packed[name], nil
}

// log reads the text of the reflog that an entry has, nil for none.
func (c *comparison) log(of *side, e *manifest.Entry) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	for _, known := range c.r.logs {
		if known.id == e.ID {
			return known.text, nil
		}
	}
	text, err := of.Read(*e)
	if err != nil {
		return nil, err
	}
	c.r.logs[0], c.r.logs[1] = logText{e.ID, text}, c.r.logs[0]
	return text, nil
}

// logs are both sides' reflogs of a reference, if they differ.
func (c *comparison) logs(path string) (was, is []gitrepo.LogEntry, err error) {
	ch, ok := c.changed[path]
	if !ok {
		return nil, nil, nil
	}
	text, err := c.log(&c.b, ch.New)
	if err != nil {
		return nil, nil, err
	}
	old, err := c.log(&c.a, ch.Old)
	return gitrepo.ParseLog(old), gitrepo.ParseLog(text), err
}

// headLog gives the lines that HEAD's reflog gained since it ended with a commit, last, and the text in front of them. A
// reflog can have tens of thousands of lines, and mostly has the old one as its beginning: then only what follows is read.
func (c *comparison) headLog(last string) (lines []gitrepo.LogEntry, before []byte, err error) {
	path := c.own("logs/HEAD")
	ch, ok := c.changed[path]
	if !ok || ch.New == nil {
		return nil, nil, nil
	}
	text, err := c.log(&c.b, ch.New)
	if err != nil {
		return nil, nil, err
	}
	if ch.Old != nil && ch.Old.Size > 0 && ch.Old.Size <= uint64(len(text)) {
		before = text[:ch.Old.Size]
		end := bytes.TrimSuffix(before, []byte("\n"))
		ends := gitrepo.ParseLog(end[bytes.LastIndexByte(end, '\n')+1:])
		if len(end) < len(before) && len(ends) == 1 && ends[0].ID == last {
			return gitrepo.ParseLog(text[len(before):]), before, nil
		}
	}
	was, is, err := c.logs(path)
	if err != nil {
		return nil, nil, err
	}
	return is[gained(was, is):], nil, nil
}

// gained is the index of the first line that a reflog gained; len(is) where it gained none, or was written anew.
func gained(was, is []gitrepo.LogEntry) int {
	if len(was) == 0 {
		return 0
	}
	last := was[len(was)-1]
	if n := len(was); n <= len(is) && is[n-1] == last {
		return n
	}
	for i, e := range slices.Backward(is) {
		if e == last {
			return i + 1
		}
	}
	return len(is)
}

// stash compares the entries of the stash.
func (c *comparison) stash() error {
	path := "logs/" + stashRef
	if _, ok := c.changed[path]; !ok {
		return nil
	}
	was, is, err := c.logs(path)
	if err != nil {
		return err
	}
	ids := func(list []gitrepo.LogEntry) map[string]bool {
		set := map[string]bool{}
		for _, e := range list {
			set[e.ID] = true
		}
		return set
	}
	before, after, gone := ids(was), ids(is), Unstashed
	if c.sameFiles {
		gone = Dropped
	}
	for _, e := range slices.Backward(was) { // the newest is stash@{0}
		if !after[e.ID] {
			c.count(gone, "", e.Message(), Event{From: e.ID})
		}
	}
	for _, e := range slices.Backward(is) {
		if !before[e.ID] {
			c.count(Stashed, "", e.Message(), Event{To: e.ID, Time: e.Time()})
		}
	}
	return nil
}

// shown are the kinds of references of which events are told: what is fetched, and what belongs to a rebase or a
// bisect, comes and goes without anybody's work.
func shown(name string) bool {
	return strings.HasPrefix(name, branches) || strings.HasPrefix(name, "refs/tags/")
}

// differing are the names of references that may differ.
func (c *comparison) differing() ([]string, error) {
	names := map[string]bool{}
	for path := range c.changed {
		if shown(path) && !strings.HasSuffix(path, ".lock") {
			names[path] = true
		}
	}
	if _, ok := c.changed["packed-refs"]; ok {
		for _, of := range []*side{&c.a, &c.b} {
			if _, err := c.ref(of, "packed-refs"); err != nil { // reads them
				return nil, err
			}
		}
		for _, pair := range [][2]map[string]gitrepo.Ref{{c.a.packed, c.b.packed}, {c.b.packed, c.a.packed}} {
			for name, id := range pair[0] {
				if shown(name) && pair[1][name] != id {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// references compares branches and tags.
func (c *comparison) references() error {
	names, err := c.differing()
	if err != nil {
		return err
	}
	type pair struct{ was, is gitrepo.Ref }
	values, none := map[string]pair{}, gitrepo.Ref{}
	for _, name := range names {
		var v pair
		if v.was, err = c.ref(&c.a, name); err != nil {
			return err
		}
		if v.is, err = c.ref(&c.b, name); err != nil {
			return err
		}
		if values[name] = v; v.was == none && v.is != none {
			if err := c.findRename(name); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		switch v := values[name]; {
		case v.was == v.is, c.explained[name]:
		case v.was == none:
			c.count(Created, group(name), name, Event{To: v.is.ID})
		case v.is == none:
			c.count(Deleted, group(name), name, Event{From: v.was.ID})
		case !c.moved[name]:
			c.add(Event{Kind: Moved, Names: []string{name}, From: v.was.ID, To: v.is.ID, Count: 1})
		}
	}
	return nil
}

// group is the kind of a reference.
func group(name string) string {
	return name[:strings.IndexByte(name[len("refs/"):], '/')+len("refs/")]
}

// findRename looks whether a reference that is new had another name, as the last line of its reflog says.
func (c *comparison) findRename(name string) error {
	ch, ok := c.changed["logs/"+name]
	if !ok || ch.New == nil || c.explained[name] {
		return nil
	}
	text, err := c.b.Read(*ch.New)
	if err != nil {
		return err
	}
	if list := gitrepo.ParseLog(text); len(list) > 0 {
		last := list[len(list)-1]
		if from, to, ok := renamed(last.Message()); ok && to == name {
			c.rename(from, to, last)
		}
	}
	return nil
}
