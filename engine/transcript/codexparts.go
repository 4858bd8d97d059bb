package transcript

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A session of Codex CLI can have several transcripts, its parts. If the person goes back in the client, it leaves
// the file unchanged and begins another one, which names the end of the part that counts of the one before; a fork of the client's
// begins so too. A file is called rollout-<time>-<session>.jsonl, and a later part of it rollout-<time>-<session>_<part>.jsonl.

// Base is the beginning of a conversation that is in another file.
type Base struct {
	Part string // the id at the end of the file's name, "" for none
	End  int64  // bytes of it that count
}

// codexName are the ids in a name. That of a session's first part is the session's.
func codexName(name string) (session, part string, ok bool) {
	name, ok = strings.CutSuffix(name, ".jsonl")
	if !ok || !strings.HasPrefix(name, codexPrefix) || len(name) < len(codexPrefix)+36 || !IsUUID(name[len(name)-36:]) {
		return "", "", false
	}
	name, part = name[:len(name)-36], name[len(name)-36:]
	session = part
	if before, later := strings.CutSuffix(name, "_"); later && len(before) >= len(codexPrefix)+36 && IsUUID(before[len(before)-36:]) {
		session = before[len(before)-36:]
	}
	return session, part, true
}

func codexID(name string) (id string, ok bool) {
	id, _, ok = codexName(name)
	return id, ok
}

// codexRollouts are all transcripts in directories and those below.
func codexRollouts(dirs ...string) (files []string) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // what cannot be read is not listed
			}
			if _, ours := codexID(e.Name()); ours {
				files = append(files, file)
			}
			return nil
		})
	}
	return files
}

// codexSessions are the files of each session, the newest part last.
func codexSessions(files []string) [][]string {
	of := map[string][]string{}
	for _, file := range files {
		id, _ := codexID(filepath.Base(file))
		of[id] = append(of[id], file)
	}
	for id, parts := range of {
		slices.SortFunc(parts, func(a, b string) int { // the ids of parts grow with the time
			_, p, _ := codexName(filepath.Base(a))
			_, q, _ := codexName(filepath.Base(b))
			if (p == id) != (q == id) {
				return map[bool]int{true: -1, false: 1}[p == id]
			}
			return cmp.Or(strings.Compare(p, q), strings.Compare(a, b))
		})
	}
	return slices.Collect(maps.Values(of))
}

// PartOf names the file among those of its session, wherever it lies; "" for agents whose sessions have one.
func PartOf(a Agent, file string) string {
	if a != Codex {
		return ""
	}
	_, part, _ := codexName(filepath.Base(file))
	return part
}

// codexKept are all transcripts that the client has, those that it put away too.
func codexKept(h Home) []string {
	return codexRollouts(filepath.Join(codexHome(h), "sessions"), filepath.Join(codexHome(h), "archived_sessions"))
}

// PartFile is the file of a part, "" where it is gone.
func PartFile(a Agent, h Home, part string) string {
	if a != Codex {
		return ""
	}
	for _, file := range codexKept(h) {
		if PartOf(a, file) == part {
			return file
		}
	}
	return ""
}

// Later is the part that continues a session after this one, "" for the newest.
func Later(a Agent, h Home, file string) string {
	if a != Codex {
		return ""
	}
	id, part, _ := codexName(filepath.Base(file))
	for _, parts := range codexSessions(codexKept(h)) {
		if newest := parts[len(parts)-1]; SessionOf(a, newest) == id && PartOf(a, newest) != part {
			return newest
		}
	}
	return ""
}

// ForksOf lists the other sessions that refer to a transcript, wherever they were started.
func ForksOf(a Agent, h Home, file string) (forks []string) {
	if a != Codex {
		return nil
	}
	id, part, _ := codexName(filepath.Base(file))
	for _, other := range codexKept(h) {
		if info, err := os.Lstat(other); err != nil || !info.Mode().IsRegular() {
			continue
		}
		x := firstLine(a, other)
		if x == nil || !x.refers || SessionOf(a, other) == id {
			continue
		}
		if x.Base.Part == part || x.Base.Part == "" && x.Parent == id {
			forks = append(forks, SessionOf(a, other))
		}
	}
	slices.Sort(forks)
	return slices.Compact(forks)
}

// Inherits reports whether every message up to an event is in the base.
func (x *Index) Inherits(leaf string) bool {
	if x.Base.Part == "" {
		return false
	}
	chain, err := x.Chain(leaf)
	return err == nil && !slices.ContainsFunc(chain, func(i int) bool { return x.Lines[i].Prompt || x.Lines[i].Role != NoRole })
}

// LeafWithin is the last event in the beginning of a file, "" for none.
func (x *Index) LeafWithin(size int64) (leaf string) {
	for i := range x.Lines {
		l := &x.Lines[i]
		if l.Offset+l.Length > size {
			break
		}
		if l.tree() && !l.Side {
			leaf = l.ID
		}
	}
	return leaf
}
