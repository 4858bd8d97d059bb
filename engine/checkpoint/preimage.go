package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Preimage is what a path held when a hook saw that a tool is about to change
// it, while a capture that had begun earlier was still running.
type Preimage struct {
	Time      time.Time `json:"time"` // on the file system's clock
	RawPath   []byte    `json:"path"` // below the root; any bytes, so base64 in the note
	Absent    bool      `json:"absent,omitempty"`
	Mode      uint32    `json:"mode,omitempty"`
	RawTarget []byte    `json:"target,omitempty"` // of a symlink
	Data      string    `json:"data,omitempty"`   // name of the file beside the note that has the content

	Path, target string
	File         string // of Data
	Note         string // this note
}

// override puts pre-images in the place of what the scan read: edits that ran
// beside it are not part of the checkpoint. The stat cache that is published later still
// says what was scanned.
func (c *Captured) override(notes []Preimage) error {
	if len(notes) == 0 {
		return nil
	}
	within, err := scopesNow(c.p)
	if err != nil {
		return err
	}
	var edits []treeio.Edit
	exact := map[string]bool{}
	for _, n := range notes {
		old, there, err := manifest.Find(c.Tx.Load, c.Scan.Root, n.Path)
		if err != nil {
			return c.p.Classify(err)
		}
		var e manifest.Entry
		switch {
		case n.Absent:
			c.Problems = append(c.Problems, problem.New(n.Path, problem.NotYet, false))
			if !there {
				continue
			}
		case !there && !within.Captures(n.Path, false):
			continue
		default:
			if e, err = n.entry(c.Tx); err != nil {
				c.Problems = append(c.Problems, problem.Problem{Path: n.Path, Reason: "late: " + problem.Text(err), Failed: true})
				continue
			}
			e.Name, e.Precious = old.Name, old.Precious || !there && within.Marks(n.Path)
			if there && e == old {
				exact[n.Path] = true
				continue
			}
			_, e.Name = rootfs.Split(n.Path)
		}
		exact[n.Path] = true
		edits = append(edits, treeio.Edit{Path: n.Path, Entry: e})
	}
	root, err := treeio.EditTree(c.Tx, c.Tx, c.Scan.Root, edits, nil)
	if err != nil {
		return c.p.Classify(err)
	}
	c.edited, c.overridden = &root, exact
	c.Problems = slices.DeleteFunc(c.Problems, func(p problem.Problem) bool {
		return (p.Code == problem.Late || p.Code == problem.Torn) && exact[p.Path]
	})
	return nil
}

// entry stages what a pre-image holds.
func (n *Preimage) entry(tx *commit.Tx) (manifest.Entry, error) {
	if len(n.RawTarget) > 0 {
		return manifest.Entry{Kind: manifest.Symlink, Target: n.target}, nil
	}
	f, info, err := vfs.OpenRegular(n.File, vfs.NoFollow)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer f.Close()
	kind, id, size, err := tx.Content(0, f, info.Size(), oid.ID{})
	return manifest.Entry{Kind: kind, Mode: n.Mode, ID: id, Size: uint64(size)}, err
}

// scopesNow are the rules in force, with the rule files on disk.
func scopesNow(p *project.Project) (*rules.Scopes, error) {
	rs, err := rules.Gather(p, session.Kept(p), false)
	if err != nil {
		return nil, err
	}
	return &rules.Scopes{Rules: rs.Rules, Known: map[string]*ignore.Scope{}, Read: func(path string) []byte {
		text, err := vfs.ReadSmall(filepath.Join(p.Root(), filepath.FromSlash(path)), ignore.MaxRuleFile, 0)
		if err != nil {
			return nil // most directories have none
		}
		return text
	}}, nil
}

// notesName is the directory below tmp/ in which hooks leave what a detached
// process has to finish: requests ("r") and pre-images ("p"). It is there only
// while something is left.
const notesName = "hooks"

// MaxNote bounds a note: a prompt of at most 1 MiB, escaped.
const MaxNote = 8 << 20

func NotesDir(p *project.Project) string {
	return filepath.Join(p.StoreDir(), account.TmpName, notesName)
}

// Notes are the names of the notes of one kind, oldest first.
func Notes(p *project.Project, kind string) []string {
	entries, err := os.ReadDir(NotesDir(p))
	if err != nil {
		return nil // nothing is left to do
	}
	var out []string
	for _, e := range entries { // sorted
		if strings.HasPrefix(e.Name(), kind+"-") && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, e.Name())
		}
	}
	return out
}

// Preimages reads the notes that were made at or after a time: of each path
// the first, which is nearest to what was there at that time.
func Preimages(p *project.Project, since time.Time) []Preimage {
	seen := map[string]bool{}
	return slices.DeleteFunc(EveryPreimage(p, since), func(n Preimage) bool {
		again := seen[n.Path]
		seen[n.Path] = true
		return again
	})
}

// EveryPreimage reads them all, the oldest first.
func EveryPreimage(p *project.Project, since time.Time) []Preimage {
	var out []Preimage
	for _, name := range Notes(p, "p") {
		var n Preimage
		data, err := vfs.ReadSmall(filepath.Join(NotesDir(p), name), MaxNote, vfs.NoFollow)
		if err != nil || json.Unmarshal(data, &n) != nil || n.Time.Before(since) {
			continue
		}
		n.Path, n.target, n.Note = string(n.RawPath), string(n.RawTarget), filepath.Join(NotesDir(p), name)
		if !validPath(n.Path) || n.Data != filepath.Base(n.Data) && n.Data != "" {
			continue
		}
		if n.Data != "" {
			n.File = filepath.Join(NotesDir(p), n.Data)
		}
		out = append(out, n)
	}
	return out
}

// validPath accepts paths below a root as manifests have them.
func validPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return false
		}
	}
	return true
}
