package engine

import (
	"strings"

	"rewind/engine/ignore"
	"rewind/manifest"
)

// Reasons of a coverage that say more than that a path was not captured.
const (
	reasonLate    = "late"          // of a directory: its names may be of later than the checkpoint's moment
	reasonNotYet  = "not there yet" // a path that was made after the moment, and so is not in the tree
	reasonIgnored = "ignored: "
)

// sight is what a checkpoint saw of the working tree: what is absent from its
// tree was absent then, but for what its coverage names. Of that a restore deletes nothing.
type sight struct {
	reasons map[string]string
	// blind are directories with rules that the tree does not have, and the file that they are in.
	blind map[string]string
	// cut says that the coverage does not list all that was left out. Ignored
	// paths only are missing in it, and the rules tell which those are, unless size decides.
	cut    bool
	failed error // the coverage could not be read: nothing is known
	// forgotten says that forget took a path out; nil: none.
	forgotten func(path string) bool
	rules     *scopes
	find      func(path string) (manifest.Entry, bool, error)
}

// sightOf reads what a checkpoint's coverage says; rules are the checkpoint's.
func (r *restoring) sightOf(c manifest.Checkpoint, rules *scopes) *sight {
	data, err := r.readObject(c.Coverage)
	var problems []Problem
	if err == nil {
		problems, err = decodeProblems(data)
	}
	s := r.sightIn(c.Root, problems, rules)
	s.failed = err
	if keys := forgottenIn(data); keys != nil {
		s.forgotten = func(path string) bool { return keys[r.forgottenKey(path)] }
	}
	return s
}

// sightIn is what the scan saw that found a tree and met the problems.
func (r *restoring) sightIn(root manifest.ID, problems []Problem, rules *scopes) *sight {
	s := &sight{reasons: map[string]string{}, blind: map[string]string{}, rules: rules}
	s.find = func(path string) (manifest.Entry, bool, error) {
		return manifest.Find(r.tx.Load, root, path)
	}
	for _, p := range problems {
		if p.Path == "" && p.Reason != reasonLate {
			s.cut = s.cut || strings.HasPrefix(p.Reason, reasonIgnored)
			continue
		}
		if old := s.reasons[p.Path]; old == "" || old == reasonLate || p.Reason == reasonNotYet {
			s.reasons[p.Path] = p.Reason
		}
	}
	if s.cut {
		for file := range s.reasons {
			if dir, name := splitPath(file); ignore.RuleFile(name) && s.lacks(file) {
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
			return "forgotten: the checkpoint says nothing of it"
		}
		switch reason := s.reasons[at]; {
		case reason == "":
		case reason == reasonNotYet:
			return ""
		case reason == reasonLate && at == path || s.counts(at, reason):
			return notSeen(path, at, reason)
		}
		if at == "" {
			break
		}
		up, _ := splitPath(at)
		if s.reasons[up] == reasonLate && s.reasons[at] != reasonNotYet && s.lacks(at) {
			return "the checkpoint looked at its directory late"
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
		up, _ = splitPath(up)
		if file := s.blind[up]; file != "" {
			return "the checkpoint lacks the rules that decide about it: " + file
		}
	}
	if s.rules.decide(path, dir) != ignore.Capture {
		return "the checkpoint's list of what it left out is cut short"
	}
	return ""
}

// counts reports whether a reason holds for what is at or below a path. A directory that is ignored
// is passed through for what is captured below it all the same: of that the rules decide.
func (s *sight) counts(path, reason string) bool {
	if reason == reasonLate {
		return false // it is in the tree, as it was a moment later
	}
	return !strings.HasPrefix(reason, reasonIgnored) || s.rules.decide(path, true) != ignore.Descend
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

// splitPath gives a path's directory, "" for the root, and its name.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// unread are paths that a scan found and did not capture: they are in no tree, and are not deleted.
type unread map[string]bool

func unreadOf(problems []Problem) unread {
	u := unread{}
	for _, p := range problems {
		switch p.Reason {
		case reasonLate, reasonNotYet, "vanished", "torn":
		default:
			u[p.Path] = p.Path != ""
		}
		if strings.HasPrefix(p.Reason, reasonIgnored) {
			u[p.Path+"/"] = true // counts for itself only: what is below may be captured
		}
	}
	return u
}

// has reports whether a path that a tree lacks was there all the same, itself or a directory above it.
func (u unread) has(path string) bool {
	for at := path; at != "" && len(u) > 0; at, _ = splitPath(at) {
		if u[at] && (at == path || !u[at+"/"]) {
			return true
		}
	}
	return false
}
