package engine

import (
	"slices"
	"strings"

	"rewind/cas/oid"
	"rewind/engine/ignore"
	"rewind/engine/maintain"
	"rewind/engine/pathspec"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/engine/rules"
	"rewind/manifest"
)

// sight is what a checkpoint saw of the working tree: what is absent from its
// tree was absent then, but for what its coverage names. Of that a restore deletes nothing.
type sight struct {
	reasons map[string]string
	torn    map[string]bool // files that were being written: what the tree has of them is no state of theirs
	// blind are directories with rules that the tree does not have, and the file that they are in.
	blind map[string]string
	// cut says that the coverage does not list all that was left out. Ignored
	// paths only are missing in it, and the rules tell which those are, unless size decides.
	cut    bool
	failed error // the coverage could not be read: nothing is known
	// forgotten says that forget took a path out; nil: none.
	forgotten func(path string) bool
	rules     *rules.Scopes
	find      func(path string) (manifest.Entry, bool, error)
}

// sightOf reads what a checkpoint's coverage says; rules are the checkpoint's.
func (r *restoring) sightOf(c manifest.Checkpoint, rules *rules.Scopes) *sight {
	data, err := r.ReadObject(c.Coverage)
	var problems []project.Problem
	if err == nil {
		problems, err = project.DecodeProblems(data)
	}
	s := r.sightIn(c.Root, problems, rules)
	s.failed = err
	if keys := maintain.ForgottenIn(data); keys != nil {
		s.forgotten = func(path string) bool { return keys[maintain.ForgottenKey(r.Project, path)] }
	}
	return s
}

// sightIn is what the scan saw that found a tree and met the problems.
func (r *restoring) sightIn(root oid.ID, problems []project.Problem, rules *rules.Scopes) *sight {
	s := &sight{reasons: map[string]string{}, torn: map[string]bool{}, blind: map[string]string{}, rules: rules}
	s.find = func(path string) (manifest.Entry, bool, error) {
		return manifest.Find(r.tx.Load, root, path)
	}
	for _, p := range problems {
		if p.Path == "" && p.Reason != project.ReasonLate {
			s.cut = s.cut || strings.HasPrefix(p.Reason, project.ReasonIgnored)
			continue
		}
		if p.Torn() {
			s.torn[p.Path] = true
		}
		if old := s.reasons[p.Path]; old == "" || old == project.ReasonLate || p.Reason == project.ReasonNotYet {
			s.reasons[p.Path] = p.Reason
		}
	}
	if s.cut {
		for file := range s.reasons {
			if dir, name := project.SplitPath(file); ignore.RuleFile(name) && s.lacks(file) {
				s.blind[dir] = file
			}
		}
	}
	return s
}

// unseen says why a path that the checkpoint's tree does not have may have been
// there, "" if it was not.
func (s *sight) unseen(path string, dir bool) string {
	if s.failed != nil {
		return reasonCoverage
	}
	for at := path; ; {
		if s.forgotten != nil && s.forgotten(at) {
			return "forgotten: the checkpoint does not record it"
		}
		switch reason := s.reasons[at]; {
		case reason == "":
		case reason == project.ReasonNotYet:
			return ""
		case reason == project.ReasonLate && at == path || s.counts(at, reason):
			return notSeen(path, at, reason)
		}
		if at == "" {
			break
		}
		up, _ := project.SplitPath(at)
		if s.reasons[up] == project.ReasonLate && s.reasons[at] != project.ReasonNotYet && s.lacks(at) {
			return "its directory was scanned after the checkpoint was taken"
		}
		at = up
	}
	if s.cut {
		return s.unlisted(path, dir)
	}
	return ""
}

// unlisted says why a path that a coverage which is cut short does not name may have been there.
func (s *sight) unlisted(path string, dir bool) string {
	for up := path; up != ""; {
		up, _ = project.SplitPath(up)
		if file := s.blind[up]; file != "" {
			return "the checkpoint lacks the rules that decide about it: " + file
		}
	}
	if s.rules.Decide(path, dir) != ignore.Capture {
		return "the checkpoint's list of what it left out is truncated"
	}
	return ""
}

// counts reports whether a reason holds for what is at or below a path. A directory that is ignored
// is passed through for what is captured below it all the same: of that the rules decide.
func (s *sight) counts(path, reason string) bool {
	if reason == project.ReasonLate {
		return false // it is in the tree, as it was a moment later
	}
	return !strings.HasPrefix(reason, project.ReasonIgnored) || s.rules.Decide(path, true) != ignore.Descend
}

// lacks reports whether the tree does not have a path.
func (s *sight) lacks(path string) bool {
	_, ok, err := s.find(path)
	return err != nil || !ok
}

// reasonCoverage stands for the error of reading the coverage.
const reasonCoverage = "not known to have been absent when the checkpoint was taken"

func notSeen(path, at, reason string) string {
	if at != path {
		reason = at + ": " + reason
	}
	return "not captured when the checkpoint was taken: " + reason
}

// ReasonTorn is why a restore leaves a file alone of which the checkpoint may hold bytes that it never had.
const ReasonTorn = "torn: it was being written when the checkpoint was taken"

// whole says why a file of the checkpoint is not put into its place, "" if it may be. Who
// names the checkpoint and exactly that path gets what there is.
func (r *restoring) whole(saw *sight) func(path string) string {
	named := map[string]bool{}
	if r.op.Kind == manifest.OpRestore {
		for _, pattern := range r.o.Paths {
			if path, plain := pathspec.PlainPath(pattern); plain {
				named[path] = true
			}
		}
	}
	return func(path string) string {
		if saw.torn[path] && !named[path] {
			return ReasonTorn
		}
		return ""
	}
}

// dropReread drops what the scan says of files that have been read again since: the
// safety checkpoint has them whole.
func (r *restoring) dropReread(changes []restore.Change) {
	read := map[string]bool{}
	for _, c := range changes {
		if c.Action == restore.Replace || c.Action == restore.Delete {
			read[c.Path] = true
		}
	}
	r.scan.Problems = slices.DeleteFunc(slices.Clone(r.scan.Problems), func(p project.Problem) bool {
		return p.Torn() && read[p.Path]
	})
}
