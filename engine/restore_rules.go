package engine

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"rewind/engine/ignore"
	"rewind/engine/restore"
	"rewind/engine/rootfs"
	"rewind/manifest"
)

// scopes answers whether rules would capture a path, and keeps the scopes of
// the directories on the way.
type scopes struct {
	rules *ignore.Rules // nil: nothing is captured
	read  func(path string) []byte
	known map[string]*ignore.Scope // nil: left out whole
	all   bool                     // there are no rules
	// failed says why rules could not be read. Where they are not known nothing is in scope: nothing is deleted.
	failed error
}

// captures reports whether the rules would capture the path. A directory that
// is only passed through for what is below it counts too: it is never removed
// with anything in it.
func (s *scopes) captures(path string, dir bool) bool { return s.decide(path, dir) != ignore.Skip }

// mayGo reports whether the rules let a restore delete a path: one that they
// capture, and that is not precious.
func (s *scopes) mayGo(path string, dir bool) bool {
	return s.captures(path, dir) && (dir || !s.marks(path) || restore.BelongsToDatabase(path))
}

// marks reports whether a file that the rules capture is marked as precious.
func (s *scopes) marks(path string) bool {
	d := s.decide(path, false)
	return d == ignore.Precious || d == ignore.Marked
}

// decide is what the rules say of a path.
func (s *scopes) decide(path string, dir bool) ignore.Decision {
	if s.all {
		return ignore.Capture
	}
	if s.rules == nil {
		return ignore.Skip
	}
	parent, name := splitPath(path)
	scope := s.scope(parent)
	if scope == nil {
		return ignore.Skip
	}
	d, _ := scope.Decide(name, dir)
	return d
}

// scope gives a directory's scope, nil if it is left out.
func (s *scopes) scope(dir string) *ignore.Scope {
	if scope, ok := s.known[dir]; ok {
		return scope
	}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	before := s.failed
	read := func(name string) []byte { return s.read(prefix + name) }
	var scope *ignore.Scope
	if dir == "" {
		scope = s.rules.Root(read)
	} else {
		parent, name := splitPath(dir)
		if up := s.scope(parent); up != nil {
			if d, _ := up.Decide(name, true); d != ignore.Skip {
				scope = up.Child(name, read)
			}
		}
	}
	if s.failed != before {
		scope = nil
	}
	s.known[dir] = scope
	return scope
}

// rulesToday are the rules in force, with the rule files as they are on disk.
func (r *restoring) rulesToday() *scopes {
	s := &scopes{known: map[string]*ignore.Scope{}}
	s.read = func(path string) []byte {
		dir, name := splitPath(path)
		d, err := r.fs.OpenDir(dir)
		if err != nil {
			s.fail(err)
			return nil
		}
		defer d.Close()
		data, err := readRuleFile(d, name)
		s.fail(err)
		return data
	}
	rs, err := r.rules(false)
	if err != nil {
		s.fail(err)
		return s
	}
	s.rules = rs.rules
	return s
}

// fail notes that rules could not be read; what is not there, or is no file, has none.
func (s *scopes) fail(err error) {
	none := err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrLink) || errors.Is(err, rootfs.ErrNotRegular) || isNotDir(err)
	if !none {
		s.failed = err
	}
}

func readRuleFile(d rootfs.Dir, name string) ([]byte, error) {
	f, info, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size > ignore.MaxRuleFile {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(f, info.Size))
}

// rulesOf are a checkpoint's rules, with the rule files as they are in its
// tree. What git tracked then is not known, so an ignored path that was
// captured for that reason only is out of scope, and stays.
func (r *restoring) rulesOf(c manifest.Checkpoint) *scopes {
	s := &scopes{known: map[string]*ignore.Scope{}, all: c.Rules == (manifest.ID{})}
	s.read = func(path string) []byte {
		e, ok, err := manifest.Find(r.tx.Load, c.Root, path)
		if err != nil || !ok || e.Kind != manifest.File && e.Kind != manifest.Chunked || e.Size > ignore.MaxRuleFile {
			s.fail(err)
			return nil
		}
		f, err := r.tx.Open(e)
		if err != nil {
			s.fail(err)
			return nil
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		s.fail(err)
		return data
	}
	if s.all {
		return s
	}
	data, err := r.readObject(c.Rules)
	if err == nil {
		s.rules, err = ignore.Decode(data)
	}
	s.fail(err)
	return s
}

// ownUp tells of what a plan leaves alone only because something could not be
// read: rules, or paths that the scan passed over. Those are failures, but for
// paths of which the checkpoint does not know either what they were.
func (r *restoring) ownUp(plan *restore.Plan, saw *sight, target, today *scopes) error {
	for i, s := range plan.Skips {
		var err error
		switch s.Reason {
		case restore.ReasonRules:
			err = target.failed
		case restore.ReasonToday:
			err = today.failed
		case reasonCoverage:
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason += ", for the list of what it left out could not be read: " + saw.failed.Error()
		}
		if err != nil {
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason = "the rules that say whether it may go could not be read: " + err.Error()
		}
	}
	for _, problem := range r.scan.problems {
		if !problem.Failed || problem.Path == "" || r.sel != nil && !r.sel.Has(problem.Path) ||
			slices.ContainsFunc(plan.Skips, func(s restore.Skip) bool { return s.Path == problem.Path }) ||
			slices.ContainsFunc(plan.Changes, func(c restore.Change) bool { return c.Path == problem.Path }) {
			continue // told of already, or when the plan gets there
		}
		_, captured, err := manifest.Find(r.tx.Load, r.now, problem.Path)
		if err != nil {
			return err
		}
		if captured {
			continue
		}
		plan.Skips = append(plan.Skips, restore.Skip{Path: problem.Path, Reason: problem.Reason, Failed: saw.failed != nil || saw.reasons[problem.Path] == ""})
	}
	slices.SortFunc(plan.Skips, func(a, b restore.Skip) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// Has makes a selection one of package restore.
func (s selection) Has(path string) bool { return s.match(path) }

// Below reports whether something below dir may be selected.
func (s selection) Below(dir string) bool {
	if s.all() {
		return true
	}
	names := strings.Split(dir, "/")
	for _, p := range s.patterns {
		if leads(p, names) {
			return true
		}
	}
	return false
}

// leads reports whether the pattern could match something below names, or
// matches them.
func leads(pattern, names []string) bool {
	for len(pattern) > 0 && len(names) > 0 {
		if pattern[0] == "**" {
			return true
		}
		if !matchName(pattern[0], names[0]) {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return true
}

// walkSelected calls found when something in the tree is selected.
func walkSelected(load func(manifest.ID) (manifest.Dir, error), root manifest.ID, s selection, found func()) error {
	done := false
	var walk func(path string, id manifest.ID) error
	walk = func(path string, id manifest.ID) error {
		dir, err := load(id)
		if err != nil {
			return err
		}
		for _, e := range dir.Entries {
			below := e.Name
			if path != "" {
				below = path + "/" + e.Name
			}
			if s.match(below) {
				done = true
				found()
			} else if e.Kind == manifest.Subdir && s.Below(below) {
				if err := walk(below, e.ID); err != nil {
					return err
				}
			}
			if done {
				return nil
			}
		}
		return nil
	}
	return walk("", root)
}
