package transcript

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// claudeProjects has a directory for the sessions of each working directory.
func claudeProjects(h Home) string { return filepath.Join(h.claudeConfig(), "projects") }

// claudeKeeps are the transcripts, what was typed, the versions of files that the client keeps itself, and what it notes
// of open sessions.
func claudeKeeps(h Home) []string {
	return in(h.claudeConfig(), "projects", "sessions", "session-env", "file-history", "history.jsonl", "shell-snapshots", "tasks", "todos")
}

// claudeNameLimit is where a directory name is cut and gets a hash instead.
const claudeNameLimit = 200

// ClaudeDirName is the name under which Claude Code keeps the sessions of a
// working directory: every UTF-16 unit that is no ASCII letter or digit becomes
// a dash; a longer name is cut and ends in a hash of the path. It cannot be
// decoded: different directories can have the same.
func ClaudeDirName(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = 31*hash + int32(u)
		name[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			name[i] = byte(u)
		}
	}
	if len(name) <= claudeNameLimit {
		return string(name)
	}
	abs := int64(hash)
	if abs < 0 {
		abs = -abs
	}
	return string(name[:claudeNameLimit]) + "-" + strconv.FormatInt(abs, 36)
}

// claudeDirs are the directories whose sessions can belong to cwd or to a
// directory below it, which gets one of its own.
func claudeDirs(h Home, cwd string) []string {
	projects := claudeProjects(h)
	if name := h.env("CLAUDE_CODE_PROJECT_DIR_NAME"); name != "" && h.env("CLAUDE_CONFIG_DIR") != "" && filepath.Base(name) == name {
		return []string{filepath.Join(projects, name)}
	}
	name := ClaudeDirName(cwd)
	if len(name) > claudeNameLimit {
		// What lies below has another hash, but the same beginning.
		return matching(projects, name[:claudeNameLimit], "")
	}
	return matching(projects, name, "-")
}

// claudeSides finds the transcripts of a session's subagents: below a directory
// with the session's id, or, from older clients, beside its transcript. And the
// long outputs of tools.
func claudeSides(file string) ([]Side, error) {
	base := filepath.Dir(file)
	session := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	var sides []Side
	root := filepath.Join(base, session, "subagents")
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return fs.SkipAll // no subagents
			}
			return nil // vanished, or not ours to read: the others count
		}
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), "agent-") || len(sides) >= maxSides {
			return nil
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return nil
		}
		switch {
		case strings.HasSuffix(name, ".jsonl"):
			sides = append(sides, Side{Name: filepath.ToSlash(rel), Lines: true})
		case strings.HasSuffix(name, ".meta.json"):
			sides = append(sides, Side{Name: filepath.ToSlash(rel)})
		}
		return nil
	})
	if len(sides) == 0 && err == nil {
		sides = append(sides, claudeOldSides(base, session, file)...)
	}
	return append(sides, claudeResults(base, session, maxSides-len(sides))...), err
}

// ToolResults is the directory, beside a session's transcript and below one with
// its id, for outputs that are too long for the transcript. There each is named
// by its absolute path, which forks keep.
const ToolResults = "tool-results"

func claudeResults(base, session string, room int) (sides []Side) {
	entries, err := os.ReadDir(filepath.Join(base, session, ToolResults))
	if err != nil {
		return nil // none
	}
	for _, e := range entries {
		if e.Type().IsRegular() && len(sides) < room {
			sides = append(sides, Side{Name: session + "/" + ToolResults + "/" + e.Name(), Fixed: true})
		}
	}
	return sides
}

// claudeOldSides finds agent-*.jsonl beside the transcript. They say in their
// lines which session they belong to; only those at least as new as the session
// are looked into.
func claudeOldSides(base, session, file string) []Side {
	names, err := filepath.Glob(filepath.Join(globQuote(base), "agent-*.jsonl"))
	if err != nil || len(names) == 0 {
		return nil
	}
	start := firstTime(Claude, file)
	var sides []Side
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(start) || len(sides) >= maxSides {
			continue
		}
		if x := head(Claude, name, 16<<10); x != nil && x.Session == session {
			sides = append(sides, Side{Name: filepath.Base(name), Lines: true})
		}
	}
	return sides
}

// claudeLive reads the list that Claude Code keeps itself: sessions/<pid>.json in
// its directory, since about 2.1.200.
func claudeLive(c *RunningCheck, all map[int]*process) *Running {
	files, _ := filepath.Glob(filepath.Join(globQuote(c.Home.claudeConfig()), "sessions", "*.json"))
	for _, name := range files {
		b, err := vfs.ReadRegular(name, 0)
		if err != nil || len(b) > 64<<10 {
			continue
		}
		var entry struct {
			PID       int    `json:"pid"`
			SessionID string `json:"sessionId"`
			ProcStart string `json:"procStart"`
		}
		if json.Unmarshal(b, &entry) != nil || entry.SessionID != c.Session {
			continue
		}
		p := all[entry.PID]
		listed := p != nil && (entry.ProcStart == "" || entry.ProcStart == p.ticks())
		if listed || len(all) == 0 && vfs.Alive(entry.PID) { // no /proc here
			return &Running{entry.PID, "the agent lists the session as open"}
		}
	}
	return nil
}
