package transcript

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// editsCodex makes the header that of a new session, and gives all rows its directory. Rows name the old session too;
// no client minds.
func editsCodex(k *forking, i int) []edit {
	var edits []edit
	if k.dir != "" {
		edits = append(edits, edit{in: "payload", key: "cwd", value: quote(k.dir)})
	}
	l := &k.x.Lines[i]
	if l.Type != codexHeader || slices.ContainsFunc(k.x.Lines[:i], func(o Line) bool { return o.Type == codexHeader }) {
		return edits
	}
	return append(edits,
		edit{in: "payload", key: "id", value: quote(k.id), add: true},
		edit{in: "payload", key: "session_id", value: quote(k.id)},
		edit{in: "payload", key: codexOrigin, value: k.origin(), add: true})
}

// codexKeeps are the transcripts, what was typed, and the databases about them.
func codexKeeps(h Home) []string {
	return in(codexHome(h), "sessions", "archived_sessions", "history.jsonl", "session_index.jsonl", "shell_snapshots", "state_*", "logs_*")
}

// codexFiles are the sessions' newest parts: see codexparts.go.
func codexFiles(h Home, root string) (files []string) {
	for _, parts := range codexSessions(codexRollouts(filepath.Join(codexHome(h), "sessions"))) {
		for _, file := range slices.Backward(parts) {
			x := firstLine(Codex, file)
			if x == nil {
				continue // not written yet: the part before it is what there is
			}
			if len(x.Dirs) > 0 && vfs.Within(root, x.Dirs[0]) {
				files = append(files, file)
			}
			break
		}
	}
	return files
}

// codexPlace is in the folder of today: sessions/<year>/<month>/<day>.
func codexPlace(folder, id string, now time.Time) string {
	day := folder
	for range 3 {
		if _, err := strconv.Atoi(filepath.Base(day)); err != nil {
			day = ""
			break
		}
		day = filepath.Dir(day)
	}
	now = now.Local()
	if day != "" {
		folder = filepath.Join(day, now.Format("2006"), now.Format("01"), now.Format("02"))
	}
	return filepath.Join(folder, codexPrefix+now.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
}
