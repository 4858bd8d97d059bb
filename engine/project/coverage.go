package project

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"rewind/engine/scan"
)

// Problem is a path that a checkpoint did not capture as it is, and why.
type Problem struct {
	Path   string
	Reason string
	Failed bool // it should have been captured
}

// RuledOut names a path that a rule file or a setting left out, and the rule.
func RuledOut(problems []Problem) (path, reason string) {
	for _, problem := range problems {
		if strings.HasPrefix(problem.Reason, "ignored: ") && !strings.HasPrefix(problem.Path, ".") {
			return problem.Path, problem.Reason
		}
	}
	return "", ""
}

// TooLarge are the files that the setting maxFileSize left out.
func TooLarge(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Reason == scan.TooLarge {
			out = append(out, problem)
		}
	}
	return out
}

// Torn reports whether a file was being written while it was captured: its tree holds
// bytes that it may never have had.
func (p Problem) Torn() bool { return p.Reason == scan.Torn }

func Failed(problems []Problem) []Problem {
	var out []Problem
	for _, problem := range problems {
		if problem.Failed {
			out = append(out, problem)
		}
	}
	return out
}

// CoverageLine is one line of a coverage object: JSON, so that a person can
// read it with `rewind cat`-like tools of any version. Raw holds a path that is no UTF-8.
type CoverageLine struct {
	Path   string `json:"path"`
	Raw    string `json:"raw,omitempty"`
	Reason string `json:"reason"`
	Failed bool   `json:"failed,omitempty"`
	// Forgotten stands for a path that forget took out; Path is empty then.
	Forgotten string `json:"forgotten,omitempty"`
}

func EncodeProblems(problems []Problem) []byte {
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

func DecodeProblems(data []byte) ([]Problem, error) {
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
		out = append(out, Problem{Path: line.Path, Reason: line.Reason, Failed: line.Failed})
	}
	return out, nil
}

// Reasons of a coverage that say more than that a path was not captured.
const (
	ReasonLate    = "late"          // of a directory: its names may be later than the checkpoint's time
	ReasonNotYet  = "not there yet" // a path that was made after the checkpoint's time, and so is not in the tree
	ReasonIgnored = "ignored: "
)

// Unread are paths that a scan found and did not capture: they are in no tree, and are not deleted.
type Unread map[string]bool

func UnreadOf(problems []Problem) Unread {
	u := Unread{}
	for _, p := range problems {
		switch p.Reason {
		case ReasonLate, ReasonNotYet, "vanished", scan.Torn:
		default:
			u[p.Path] = p.Path != ""
		}
		if strings.HasPrefix(p.Reason, ReasonIgnored) {
			u[p.Path+"/"] = true // counts for itself only: what is below may be captured
		}
	}
	return u
}

// Has reports whether a path that a tree lacks was there all the same, itself or a directory above it.
func (u Unread) Has(path string) bool {
	for at := path; at != "" && len(u) > 0; at, _ = SplitPath(at) {
		if u[at] && (at == path || !u[at+"/"]) {
			return true
		}
	}
	return false
}

// SplitPath gives a path's directory, "" for the root, and its name.
func SplitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
