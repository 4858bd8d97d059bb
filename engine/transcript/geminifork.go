package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// editsGemini gives a line to the new session.
func editsGemini(k *forking, i int) []edit {
	switch k.x.Lines[i].Type {
	case geminiPatch:
		return []edit{{in: "$set", key: "sessionId", value: quote(k.id)}}
	case geminiHeader:
		edits := []edit{{key: "sessionId", value: quote(k.id)}}
		if i > 0 {
			return edits
		}
		now := quote(stamp(k.now))
		return append(edits, edit{key: "startTime", value: now}, edit{key: "lastUpdated", value: now}, edit{key: geminiOrigin, value: k.origin(), add: true})
	}
	return nil
}

// trailerGemini is the line that gives a fork its title; a session that is rewritten in place keeps its own.
func trailerGemini(k *forking, place bool) [][]byte {
	if place {
		return nil
	}
	return [][]byte{fmt.Appendf(nil, `{"$set":%s}`, object("summary", k.title))}
}

// geminiRoot is the directory whose sessions lie below one of the client's.
func geminiRoot(dir string) string {
	b, err := vfs.ReadRegular(filepath.Join(dir, ".project_root"), 0)
	if err != nil || len(b) > maxPath {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// geminiFiles lists the transcripts of a directory and those below it. One session
// can have several: the client writes the beginning of another one before it
// resumes. The oldest is what was resumed.
func geminiFiles(h Home, root string) (files []string) {
	type begun struct {
		file string
		at   time.Time
	}
	oldest := map[string]begun{}
	tmp := filepath.Join(geminiHome(h), "tmp")
	projects, _ := os.ReadDir(tmp) // none: no sessions
	sum := sha256.Sum256([]byte(root))
	for _, p := range projects {
		dir := filepath.Join(tmp, p.Name())
		if of := geminiRoot(dir); (of == "" || !vfs.Within(root, of)) && p.Name() != hex.EncodeToString(sum[:]) {
			continue
		}
		for _, file := range filesIn(filepath.Join(dir, "chats")) {
			if !strings.HasPrefix(filepath.Base(file), geminiPrefix) || filepath.Ext(file) != ".jsonl" {
				continue
			}
			id, at := geminiBegin(file)
			if o, known := oldest[id]; id != "" && (!known || at.Before(o.at)) {
				oldest[id] = begun{file, at}
			}
		}
	}
	for _, o := range oldest {
		files = append(files, o.file)
	}
	slices.Sort(files)
	return files
}

// geminiBegin reads a file's header.
func geminiBegin(file string) (session string, at time.Time) {
	x := firstLine(Gemini, file)
	if x == nil || len(x.Lines) == 0 || x.Lines[0].Type != geminiHeader {
		return "", time.Time{}
	}
	return x.Session, x.Lines[0].Time
}

func geminiID(file string) string {
	id, _ := geminiBegin(file)
	return id
}

// geminiName names a new session's file. The name ends in eight digits that are
// not those of its id: to clean up, the client removes every file with the digits of
// a session without messages, and it leaves such a one whenever it resumes.
func geminiName(_ string, now time.Time) string {
	return geminiPrefix + now.UTC().Format("2006-01-02T15-04") + "-" + newUUID()[:8] + ".jsonl"
}

// geminiFolder finds the folder of a directory that the client has been in.
func geminiFolder(file, now string) string {
	tmp := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	projects, _ := os.ReadDir(tmp) // none: nothing follows
	for _, p := range projects {
		if geminiRoot(filepath.Join(tmp, p.Name())) == now {
			return filepath.Join(tmp, p.Name(), "chats")
		}
	}
	return ""
}
