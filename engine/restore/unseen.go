package restore

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Sight is what a checkpoint saw of the working tree: what is absent from its
// tree was absent then, but for what its coverage names. Of that a restore deletes nothing.
type Sight struct {
	Problems map[string]problem.Problem // by path
	torn     map[string]bool            // files that were being written: what the tree has of them is no state of theirs
	// blind are directories with rules that the tree does not have, and the file that they are in.
	blind map[string]string
	// cut says that the coverage does not list all that was left out. Ignored
	// paths only are missing in it, and the rules tell which those are, unless size decides.
	cut     bool
	outside int   // paths that the checkpoint is without
	Failed  error // the coverage could not be read: nothing is known
	// forgotten says that forget took a path out; nil: none.
	forgotten func(path string) bool
	Rules     *rules.Scopes
	Find      func(path string) (manifest.Entry, bool, error)
}

// sightOf reads what a checkpoint's coverage says; scopes are the checkpoint's.
func (r *Run) sightOf(c manifest.Checkpoint, scopes *rules.Scopes) *Sight {
	data, err := r.ReadObject(c.Coverage)
	var problems []problem.Problem
	if err == nil {
		problems, err = problem.Decode(data)
	}
	s := r.sightIn(c.Root, problems, scopes)
	s.Failed = err
	s.forgotten = rules.Forgotten(r.Project, data)
	return s
}

// sightIn is what the scan saw that found a tree and met the problems.
func (r *Run) sightIn(root oid.ID, problems []problem.Problem, rules *rules.Scopes) *Sight {
	s := &Sight{Problems: map[string]problem.Problem{}, torn: map[string]bool{}, blind: map[string]string{}, Rules: rules, outside: inspect.Outside(problems)}
	s.Find = func(path string) (manifest.Entry, bool, error) {
		load := r.Project.LoadDir
		if r.Tx != nil {
			load = r.Tx.Load
		}
		return manifest.Find(load, root, path)
	}
	for _, p := range problems {
		if p.Path == "" && p.Code != problem.Late {
			s.cut = s.cut || p.Code == problem.Ignored
			continue
		}
		if p.Code == problem.Torn {
			s.torn[p.Path] = true
		}
		if old, ok := s.Problems[p.Path]; !ok || old.Code == problem.Late || p.Code == problem.NotYet {
			s.Problems[p.Path] = p
		}
	}
	if s.cut {
		for file := range s.Problems {
			if dir, name := rootfs.Split(file); ignore.RuleFile(name) && s.lacks(file) {
				s.blind[dir] = file
			}
		}
	}
	return s
}

// Unseen says why a path that the checkpoint's tree does not have may have been
// there, none if it was not.
func (s *Sight) Unseen(path string, dir bool) problem.Cause {
	if s.Failed != nil {
		return problem.Cause{Code: problem.NoCoverage, Text: "not known to have been absent when the checkpoint was taken"}
	}
	for at := path; ; {
		if s.forgotten != nil && s.forgotten(at) {
			return problem.Says("forgotten: the checkpoint does not record it")
		}
		switch found, ok := s.Problems[at]; {
		case !ok:
		case found.Code == problem.NotYet:
			return problem.Cause{}
		case found.Code == problem.Late && at == path || s.counts(found):
			return notSeen(path, found)
		}
		if at == "" {
			break
		}
		up, _ := rootfs.Split(at)
		if s.Problems[up].Code == problem.Late && s.Problems[at].Code != problem.NotYet && s.lacks(at) {
			return problem.Says("its directory was scanned after the checkpoint was taken")
		}
		at = up
	}
	if s.cut {
		return s.unlisted(path, dir)
	}
	return problem.Cause{}
}

// unlisted says why a path that a coverage which is cut short does not name may have been there.
func (s *Sight) unlisted(path string, dir bool) problem.Cause {
	for up := path; up != ""; {
		up, _ = rootfs.Split(up)
		if file := s.blind[up]; file != "" {
			return problem.Says("the checkpoint lacks the rules that decide about it: " + file)
		}
	}
	if s.Rules.Decide(path, dir) != ignore.Capture {
		return problem.Says("the checkpoint's list of what it left out is truncated")
	}
	return problem.Cause{}
}

// counts reports whether a problem holds for what is at or below its path. A directory that is ignored
// is passed through for what is captured below it all the same: of that the rules decide.
func (s *Sight) counts(p problem.Problem) bool {
	switch p.Code {
	case problem.Late:
		return false // it is in the tree, as it was a moment later
	case problem.Ignored:
		return s.Rules.Decide(p.Path, true) != ignore.Descend
	}
	return true
}

// lacks reports whether the tree does not have a path.
func (s *Sight) lacks(path string) bool {
	_, ok, err := s.Find(path)
	return err != nil || !ok
}

func notSeen(path string, p problem.Problem) problem.Cause {
	reason := p.Reason
	if p.Path != path {
		reason = p.Path + ": " + reason
	}
	return problem.Says("not captured when the checkpoint was taken: " + reason)
}

// ReasonTorn is why a restore leaves a file alone of which the checkpoint may hold bytes that it never had.
const ReasonTorn = "torn: it was being written when the checkpoint was taken"

// whole says why a file of the checkpoint is not put into its place, none if it may be. Who
// names the checkpoint and exactly that path gets what there is, of a database with all its files.
func (r *Run) whole(saw *Sight) func(path string) problem.Cause {
	named := map[string]bool{}
	if r.Op.Kind == manifest.OpRestore {
		for _, pattern := range r.Options.Paths {
			if path, plain := pathspec.PlainPath(pattern); plain {
				named[sqlite.Base(path)] = true
			}
		}
	}
	return func(path string) problem.Cause {
		if saw.torn[path] && !named[sqlite.Base(path)] {
			return problem.Cause{Code: problem.TargetIsTorn, Text: ReasonTorn}
		}
		return problem.Cause{}
	}
}

// dropReread drops what the scan says of files that have been read again since: the
// safety checkpoint has them whole.
func (r *Run) dropReread(changes []treeio.Change) {
	read := map[string]bool{}
	for _, c := range changes {
		if c.Action == treeio.Replace || c.Action == treeio.Delete {
			read[c.Path] = true
		}
	}
	r.Scan.Problems = slices.DeleteFunc(slices.Clone(r.Scan.Problems), func(p problem.Problem) bool {
		return p.Code == problem.Torn && read[p.Path]
	})
}
