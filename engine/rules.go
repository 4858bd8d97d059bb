package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"rewind/engine/gitrepo"
	"rewind/engine/ignore"
)

// ruleset is the rules of one capture and what could not be taken into account.
type ruleset struct {
	rules    *ignore.Rules
	repo     gitrepo.Repo
	hasRepo  bool
	problems []Problem
}

// rules gathers what decides which paths are captured: settings, git's exclude
// files, and what git tracks.
func (p *Project) rules(noIgnore bool) (ruleset, error) {
	var rs ruleset
	s := p.settings
	c := ignore.Config{
		Ignore:         s.Ignore,
		ForceInclude:   s.ForceInclude,
		NoIgnore:       noIgnore,
		CaptureIgnored: s.CaptureIgnored,
		StorePath:      p.storePath(),
	}
	rs.repo, rs.hasRepo = gitrepo.Find(p.place.root)
	if rs.hasRepo {
		sources, err := rs.repo.Excludes(p.env.Home)
		if err != nil {
			rs.problems = append(rs.problems, Problem{Path: ".git", Reason: fmt.Sprintf("its exclude files were not read: %v", err)})
		}
		c.Exclude = sources
		t := &trackedSet{repo: rs.repo, root: p.place.root}
		hash, err := p.trackedHash(t)
		if err != nil {
			rs.problems = append(rs.problems, Problem{Path: ".git/index", Reason: fmt.Sprintf("what git tracks is not known: %v", err)})
		} else {
			if t.has(storeName) {
				return rs, &ForeignStoreError{Store: p.place.store, Reason: "has files that git tracks"}
			}
			c.Tracked, c.TrackedBelow, c.TrackedHash = t.has, t.hasBelow, hash
		}
	}
	for _, name := range []string{"rewind-checkpoint-ignore.json", ".agent/rewind-checkpoint-ignore.json"} {
		text, err := readSmall(filepath.Join(p.place.root, filepath.FromSlash(name)), 1<<20)
		if err != nil {
			continue // most projects have none; an unreadable one is an unreadable path of the scan
		}
		patterns, err := parseIgnoreJSON(text)
		if err != nil {
			rs.problems = append(rs.problems, Problem{Path: name, Reason: err.Error()})
			continue
		}
		c.Exclude = append(c.Exclude, ignore.Source{Name: name, Text: []byte(strings.Join(patterns, "\n")), Own: true})
	}
	var err error
	rs.rules, err = ignore.Compile(c)
	return rs, err
}

// parseIgnoreJSON reads the older tool's ignore file: a list of gitignore
// patterns, or an object that has one as "ignore" or "patterns".
func parseIgnoreJSON(text []byte) ([]string, error) {
	var list []string
	if json.Unmarshal(text, &list) == nil {
		return list, nil
	}
	var object struct{ Ignore, Patterns []string }
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("neither a list of patterns nor an object with one: %w", err)
	}
	return append(object.Ignore, object.Patterns...), nil
}

// storePath is the store's path below the root, "" where it lies elsewhere.
func (p *Project) storePath() string {
	store := p.place.store
	if real, err := filepath.EvalSymlinks(store); err == nil {
		store = real
	}
	rel, err := filepath.Rel(p.place.root, store)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// trackedSet reads git's index when it is first asked, which an unchanged scan never does.
type trackedSet struct {
	repo gitrepo.Repo
	root string
	once sync.Once
	set  *gitrepo.Tracked
	err  error
}

func (t *trackedSet) load() (*gitrepo.Tracked, error) {
	t.once.Do(func() {
		t.set, t.err = t.repo.Tracked()
		if t.err != nil {
			return
		}
		if prefix, err := filepath.Rel(t.repo.WorkTree, t.root); err == nil && prefix != "." {
			t.set = t.set.Sub(filepath.ToSlash(prefix))
		}
	})
	return t.set, t.err
}

func (t *trackedSet) has(path string) bool {
	set, err := t.load()
	return err == nil && set.Has(path)
}

func (t *trackedSet) hasBelow(dir string) bool {
	set, err := t.load()
	return err == nil && set.HasBelow(dir)
}

// indexState remembers the hash of the tracked paths for one state of git's
// index file, so that an index that git only refreshed costs no new decisions,
// and an untouched one is not read at all.
type indexState struct {
	Root, File         string
	Size, Mtime, Ctime int64
	Inode              uint64
	Hash               uint64
}

const indexStateName = "index-state.json"

// trackedHash is the hash of the paths that git tracks below the root.
func (p *Project) trackedHash(t *trackedSet) (uint64, error) {
	now := indexState{Root: p.place.root, File: t.repo.IndexFile()}
	info, err := os.Lstat(now.File)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // nothing was ever added
	}
	if err != nil {
		return 0, err
	}
	now.Size, now.Mtime = info.Size(), info.ModTime().UnixNano()
	now.Ctime, now.Inode = changeTime(info)
	file := filepath.Join(p.place.store, indexStateName)
	var seen indexState
	if data, err := readSmall(file, 1<<16); err == nil && json.Unmarshal(data, &seen) == nil {
		now.Hash = seen.Hash
		// The same stat can hide a change within the clock's grain: not trusted when young.
		if seen == now && p.env.now().UnixNano()-now.Ctime > grain.Nanoseconds() {
			return now.Hash, nil
		}
	}
	set, err := t.load()
	if err != nil {
		return 0, err
	}
	now.Hash = set.Hash()
	if seen != now && p.readOnly == nil && p.env.now().UnixNano()-now.Ctime > grain.Nanoseconds() {
		data, err := json.Marshal(now)
		if err == nil {
			// A cache: without it the index is read again.
			_ = writeCache(file, data, p.owner)
		}
	}
	return now.Hash, nil
}
