package problem

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// RuledOut names a path that a rule file or a setting left out, and the rule.
func RuledOut(problems []Problem) (path, reason string) {
	for _, problem := range problems {
		if problem.Code == Ignored && !strings.HasPrefix(problem.Path, ".") {
			return problem.Path, problem.Reason
		}
	}
	return "", ""
}

// TooLargeOf are the files that the setting maxFileSize left out.
func TooLargeOf(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Code == TooLarge {
			out = append(out, problem)
		}
	}
	return out
}

// FailedOf are those that should have been done.
func FailedOf(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Failed {
			out = append(out, problem)
		}
	}
	return out
}

// CoverageLine is one line of a coverage object: JSON, so that a person can
// read it with tools of any version. Raw holds a path that is no UTF-8.
type CoverageLine struct {
	Path   string `json:"path"`
	Raw    string `json:"raw,omitempty"`
	Reason string `json:"reason"`
	Failed bool   `json:"failed,omitempty"`
	// Forgotten stands for a path that forget took out; Path is empty then.
	Forgotten string `json:"forgotten,omitempty"`
}

// Encode makes a coverage of a list.
func Encode(problems []Problem) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, problem := range problems {
		line := CoverageLine{Path: problem.Path, Reason: problem.Reason, Failed: problem.Failed}
		if !utf8.ValidString(problem.Path) {
			line.Raw = base64.StdEncoding.EncodeToString([]byte(problem.Path))
		}
		if err := enc.Encode(line); err != nil {
			panic(err) // strings and booleans always encode, into memory
		}
	}
	return out.Bytes()
}

// Decode reads what Encode made; lines of forgotten paths are left out.
func Decode(data []byte) ([]Problem, error) {
	var out []Problem
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		var line CoverageLine
		if err := dec.Decode(&line); err != nil {
			return nil, fmt.Errorf("read the coverage: %w", err)
		}
		if line.Forgotten != "" {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(line.Raw); err == nil && len(raw) > 0 {
			line.Path = string(raw)
		}
		out = append(out, Read(line.Path, line.Reason, line.Failed))
	}
	return out, nil
}

// InTheWayOfAll reports whether of each path something stands in the way.
func InTheWayOfAll(problems []Problem) bool {
	for _, p := range problems {
		if p.Code != InTheWay {
			return false
		}
	}
	return true
}

// Unread are paths that a scan found and did not capture, which are in no tree, and why. A directory that is ignored and was
// not before is there a second time, with a slash: what the tree before has below it was left out, too.
type Unread map[string]Problem

// UnreadOf are those of a coverage, or of a scan. before is the coverage of the tree that is compared with it.
func UnreadOf(problems, before []Problem) Unread {
	u, ignored := Unread{}, map[string]bool{}
	for _, p := range before {
		if p.Code == Ignored {
			ignored[p.Path] = true
		}
	}
	for _, p := range problems {
		switch p.Code {
		case Late, NotYet, Vanished, Torn:
		default:
			u[p.Path] = p
			if p.Code == Ignored && !ignored[p.Path] {
				u[p.Path+"/"] = p
			}
		}
	}
	return u
}

// at is what is said of a path, or of a directory above it.
func (u Unread) at(path string) (Problem, bool) {
	for at := path; at != "" && len(u) > 0; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
		p, ok := u[at]
		if at != path && p.Code == Ignored { // what was ignored before counts for itself only: what is below may be captured
			p, ok = u[at+"/"]
		}
		if ok {
			return p, true
		}
	}
	return Problem{}, false
}

// Has reports whether a path that a tree lacks was there all the same, itself or a directory above it.
func (u Unread) Has(path string) bool {
	_, ok := u.at(path)
	return ok
}

// Keeps reports whether what an earlier tree has at a path, with so many bytes, may still be there. most is the setting
// maxFileSize: a file that is over it now, and was not, has other content.
func (u Unread) Keeps(path string, size uint64, most int64) bool {
	p, ok := u.at(path)
	switch {
	case p.Code == TooLarge:
		return p.Path == path && most > 0 && size > uint64(most)
	case p.Reason == Fifo || p.Reason == Socket || p.Reason == Device || p.Reason == MountPoint:
		return false
	}
	return ok
}

// Instead adds to a list in path order what stands where an earlier tree has a path: of a path that is gone, see Keeps.
func (u Unread) Instead(list []Problem, path string) []Problem {
	if p, ok := u.at(path); ok && (len(list) == 0 || list[len(list)-1] != p) {
		list = append(list, p)
	}
	return list
}
