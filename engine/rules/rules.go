package rules

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// Ruleset is the rules of one capture and what could not be taken into account.
type Ruleset struct {
	Rules    *ignore.Rules
	Repo     gitrepo.Repo
	HasRepo  bool
	Problems []problem.Problem
	tracked  *gitrepo.LazyTracked // nil without a repository, or where that is among the problems
}

// Gather gathers what decides which paths are captured: settings, git's exclude
// files, what git tracks, and where agents keep their sessions (session.Kept).
func Gather(p *project.Project, kept []string, noIgnore bool) (Ruleset, error) {
	var rs Ruleset
	s := p.Settings()
	c := ignore.Config{
		Ignore:         s.Ignore,
		ForceInclude:   s.ForceInclude,
		NoIgnore:       noIgnore,
		CaptureIgnored: s.CaptureIgnored,
		Precious:       s.Precious,
		StorePath:      Below(p, p.StoreDir()),
		AccountPath:    Below(p, p.Env.AccountDir()),
		SessionPaths:   SessionPaths(p, kept),
	}
	if gitrepo.IsGitDir(filepath.Join(p.Root(), filepath.FromSlash(gitrepo.JJStore))) { // it is held as git's own state, not as files
		c.SessionPaths = append(c.SessionPaths, gitrepo.JJStore)
	}
	note := func(path, what string, err error) {
		rs.Problems = append(rs.Problems, problem.Problem{Path: path, Reason: what + ": " + problem.Text(err)})
	}
	if rs.Repo, rs.HasRepo = gitrepo.Find(p.Root()); rs.HasRepo {
		rs.Repo.Getenv = p.Env.Variable
		var err error
		if c.Exclude, c.FoldCase, err = rs.Repo.Excludes(p.Env.Home); err != nil {
			note(".git", "not all of its exclude files could be read", err)
		}
		tracked := rs.Repo.Lazy(c.FoldCase)
		index, err := index(p, rs.Repo, tracked)
		switch {
		case err != nil:
			// Tracked files that rules match are left out for it.
			rs.Problems = append(rs.Problems, unknownIndex(err))
		case index.Store:
			return rs, &account.ForeignStoreError{Store: p.StoreDir(), Reason: "has files that git tracks", Tracked: true}
		default:
			rs.tracked = tracked
			c.Tracked, c.TrackedBelow, c.TrackedHash = tracked.Has, tracked.HasBelow, index.Hash
			if index.Rules {
				c.Indexed = tracked.Rule
			}
			for _, path := range index.Unread {
				// The tree has none, and git takes this one.
				rs.Problems = append(rs.Problems, problem.Problem{Path: path, Reason: "its rules are not known: it is only in git, and its object is missing", Failed: true})
			}
		}
	}
	for _, name := range ignore.JSONFiles {
		text, err := vfs.ReadSmall(filepath.Join(p.Root(), filepath.FromSlash(name)), 1<<20, 0)
		if err != nil {
			continue // most projects have none; an unreadable one is an unreadable path of the scan
		}
		source, err := ignore.ParseJSON(name, text)
		if err != nil {
			note(name, "not all of its patterns are used", err)
		}
		c.Exclude = append(c.Exclude, source)
	}
	var err error
	rs.Rules, err = ignore.Compile(c)
	return rs, err
}

// unknownIndex is that git's index could not be read: then tracked files that rules match are left out.
func unknownIndex(err error) problem.Problem {
	return problem.Problem{Path: ".git/index", Reason: "cannot tell which files git tracks: " + problem.Text(err), Failed: true}
}

// Late is what turned out while the rules were asked.
func (rs *Ruleset) Late() []problem.Problem {
	if rs.tracked == nil {
		return nil
	}
	if err := rs.tracked.Failed(); err != nil && !os.IsNotExist(err) {
		return []problem.Problem{unknownIndex(err)}
	}
	return nil
}

// Own are the paths of the store and of the account's directory, where they are below the root: a home can be
// in the project, as in some containers.
func Own(p *project.Project) (paths []string) {
	for _, dir := range []string{p.StoreDir(), p.Env.AccountDir()} {
		if path := Below(p, dir); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// SessionPaths are those of the places in which agents keep their sessions that are below the root, as for
// ignore.Config: where they are named, and where links of that name lead.
func SessionPaths(p *project.Project, kept []string) (paths []string) {
	add := func(path string) {
		if rel := below(p, path); rel != "" && rel != "." {
			paths = append(paths, rel)
		}
	}
	dirs := map[string]place{}
	for _, path := range kept {
		up := resolve(dirs, filepath.Dir(path))
		add(filepath.Join(up.real, filepath.Base(path)))
		if to, isLink := up.follow(filepath.Base(path)); isLink {
			add(to.real)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// place is a path without links, and whether something is there.
type place struct {
	real  string
	there bool
}

// resolve is the place of a directory; dirs are those that were looked for.
func resolve(dirs map[string]place, dir string) place {
	if _, known := dirs[dir]; !known {
		if up := filepath.Dir(dir); up == dir {
			dirs[dir] = place{dir, true}
		} else {
			dirs[dir], _ = resolve(dirs, up).follow(filepath.Base(dir))
		}
	}
	return dirs[dir]
}

// follow is the place that a name in a directory leads to. Below what is not there, nothing is looked for.
func (d place) follow(name string) (to place, isLink bool) {
	to.real = filepath.Join(d.real, name)
	if !d.there {
		return to, false
	}
	info, err := os.Lstat(to.real)
	if to.there = err == nil; to.there && info.Mode()&os.ModeSymlink != 0 {
		return place{vfs.RealAsFar(to.real), true}, true
	}
	return to, false
}

// Sessions reports of a path whether it is one of SessionPaths, or below one.
func Sessions(p *project.Project, kept []string) func(path string) bool {
	paths := SessionPaths(p, kept)
	return func(path string) bool {
		return slices.ContainsFunc(paths, func(at string) bool {
			rest, in := strings.CutPrefix(path, strings.TrimSuffix(at, "*"))
			return in && (rest == "" || rest[0] == '/' || strings.HasSuffix(at, "*"))
		})
	}
}

// Below is a directory's path below the root, "" where it is elsewhere.
func Below(p *project.Project, dir string) string {
	if dir == "" {
		return ""
	}
	return below(p, vfs.RealAsFar(dir))
}

func below(p *project.Project, dir string) string {
	if rel, ok := vfs.Below(p.Root(), dir); ok {
		return cmp.Or(rel, ".")
	}
	return ""
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

func index(p *project.Project, repo gitrepo.Repo, tracked *gitrepo.LazyTracked) (indexState, error) {
	now := indexState{Root: p.Root(), Key: repo.IndexKey()}
	file := filepath.Join(p.StoreDir(), account.IndexStateName)
	var seen indexState
	if data, err := vfs.ReadSmall(file, 1<<16, vfs.NoFollow); err == nil && json.Unmarshal(data, &seen) == nil {
		if now.Key != "" && seen.Root == now.Root && seen.Key == now.Key && (seen.Half == "" || account.Exists(seen.Half)) {
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
	now.Hash, now.Store, now.Half, now.Rules = set.Hash(), set.HasBelow(account.StoreName), set.Half(), set.HoldsRules()
	for _, path := range set.Rules() {
		if len(now.Unread) == maxUnread {
			break
		}
		file := filepath.Join(p.Root(), filepath.FromSlash(path))
		if !account.Exists(filepath.Dir(file)) || account.Exists(file) {
			continue
		}
		if _, err := set.Rule(path); err != nil {
			now.Unread = append(now.Unread, path)
		}
	}
	if now.Key != "" && p.ReadOnly == nil {
		if data, err := json.Marshal(now); err == nil {
			_ = account.WriteCache(file, data, p.Owner) // without it the index is parsed again
		}
	}
	return now, nil
}

// CheckRules names what of the rules and of git's index cannot be taken into account, and which of git's references are not captured.
func CheckRules(p *project.Project) ([]problem.Problem, error) {
	rs, err := Gather(p, nil, false)
	for _, name := range gitrepo.LinkedRefs(rs.Repo.CommonDir) {
		if rs.HasRepo {
			rs.Problems = append(rs.Problems, problem.Problem{Path: ".git/" + name, Reason: "git's references are in no checkpoint: it is a symbolic link"})
		}
	}
	return rs.Problems, err
}
