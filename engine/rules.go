package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/gitrepo"
	"rewind/engine/ignore"
)

// ruleset is the rules of one capture and what could not be taken into account.
type ruleset struct {
	rules    *ignore.Rules
	repo     gitrepo.Repo
	hasRepo  bool
	problems []Problem
	tracked  *gitrepo.LazyTracked // nil without a repository, or where that is among the problems
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
		Precious:       s.Precious,
		StorePath:      p.storePath(),
	}
	problem := func(path, what string, err error) {
		rs.problems = append(rs.problems, Problem{Path: path, Reason: fmt.Sprintf("%s: %v", what, err)})
	}
	if rs.repo, rs.hasRepo = gitrepo.Find(p.place.root); rs.hasRepo {
		rs.repo.Getenv = p.env.getenv
		var err error
		if c.Exclude, err = rs.repo.Excludes(p.env.Home); err != nil {
			problem(".git", "its exclude files were not all read", err)
		}
		c.FoldCase = rs.repo.IgnoreCase(p.env.Home)
		tracked := rs.repo.Lazy(c.FoldCase)
		index, err := p.index(rs.repo, tracked)
		switch {
		case err != nil:
			// Tracked files that rules match are left out for it.
			rs.problems = append(rs.problems, unknownIndex(err))
		case index.Store:
			return rs, &ForeignStoreError{Store: p.place.store, Reason: "has files that git tracks", Tracked: true}
		default:
			rs.tracked = tracked
			c.Tracked, c.TrackedBelow, c.TrackedHash = tracked.Has, tracked.HasBelow, index.Hash
			if index.Rules {
				c.Indexed = tracked.Rule
			}
			for _, path := range index.Unread {
				// The tree has none, and git takes this one.
				rs.problems = append(rs.problems, Problem{Path: path, Reason: "its rules are not known: only git has it, and its object is not here", Failed: true})
			}
		}
	}
	for _, name := range ignore.JSONFiles {
		text, err := readRule(filepath.Join(p.place.root, filepath.FromSlash(name)), 1<<20)
		if err != nil {
			continue // most projects have none; an unreadable one is an unreadable path of the scan
		}
		source, err := ignore.ParseJSON(name, text)
		if err != nil {
			problem(name, "not all of its patterns are used", err)
		}
		c.Exclude = append(c.Exclude, source)
	}
	var err error
	rs.rules, err = ignore.Compile(c)
	return rs, err
}

// unknownIndex is that git's index could not be read: then tracked files that rules match are left out.
func unknownIndex(err error) Problem {
	return Problem{Path: ".git/index", Reason: fmt.Sprintf("what git tracks is not known: %v", err), Failed: true}
}

// late is what turned out while the rules were asked.
func (rs *ruleset) late() []Problem {
	if rs.tracked == nil {
		return nil
	}
	if err := rs.tracked.Failed(); err != nil && !os.IsNotExist(err) {
		return []Problem{unknownIndex(err)}
	}
	return nil
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

// indexState is what a save needs to know of git's index, kept for one content
// of that file: an index that did not change is not parsed, and one in which no
// path came or went costs no new decisions.
type indexState struct {
	Root, Key string
	Hash      uint64   // of the tracked paths below the root
	Store     bool     // git tracks something in the store
	Half      string   `json:",omitempty"` // file with the other half of a split index
	Rules     bool     `json:",omitempty"` // it holds rule files that the tree may lack
	Unread    []string `json:",omitempty"` // those that cannot be read; at most maxUnread
}

// maxUnread bounds the rule files that are named.
const maxUnread = 20

const indexStateName = "index-state.json"

func (p *Project) index(repo gitrepo.Repo, tracked *gitrepo.LazyTracked) (indexState, error) {
	now := indexState{Root: p.place.root, Key: repo.IndexKey()}
	file := filepath.Join(p.place.store, indexStateName)
	var seen indexState
	if data, err := readSmall(file, 1<<16); err == nil && json.Unmarshal(data, &seen) == nil {
		if now.Key != "" && seen.Root == now.Root && seen.Key == now.Key && (seen.Half == "" || exists(seen.Half)) {
			return seen, nil
		}
	}
	set, err := tracked.Load()
	if os.IsNotExist(err) {
		return now, nil // nothing was ever added
	}
	if err != nil {
		return now, err
	}
	now.Hash, now.Store, now.Half, now.Rules = set.Hash(), set.HasBelow(storeName), set.Half(), set.HoldsRules()
	for _, path := range set.Rules() {
		if len(now.Unread) == maxUnread {
			break
		}
		file := filepath.Join(p.place.root, filepath.FromSlash(path))
		if !exists(filepath.Dir(file)) || exists(file) {
			continue
		}
		if _, err := set.Rule(path); err != nil {
			now.Unread = append(now.Unread, path)
		}
	}
	if now.Key != "" && p.readOnly == nil {
		if data, err := json.Marshal(now); err == nil {
			_ = writeCache(file, data, p.owner) // without it the index is parsed again
		}
	}
	return now, nil
}

// CheckRules names what of the rules and of git's index cannot be taken into account.
func (p *Project) CheckRules() ([]Problem, error) {
	rs, err := p.rules(false)
	return rs.problems, err
}
