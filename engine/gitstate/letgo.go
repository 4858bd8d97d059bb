package gitstate

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
)

// LetGoAll holds no object any more, nor what was kept of the last capture, which has the names of branches, tags and worktrees: the
// next one looks at everything, and holds what git itself has. It lets go of what other stores hold of the git directories, too.
func LetGoAll(p *project.Project, commons []string) error {
	dirs := append(holdIn(p), heldBeside(p, commons)...)
	store := filepath.Join(p.StoreDir(), account.GitName)
	names, err := os.ReadDir(store)
	if vfs.IsMissing(err) {
		err = nil
	}
	for _, name := range names {
		if name.Name() != account.ForgottenName {
			dirs = append(dirs, filepath.Join(store, name.Name()))
		}
	}
	for _, dir := range dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// HeldWith are HeldDirs, and those in which other stores of the account hold objects of the git directories.
func HeldWith(p *project.Project, commons []string) []string {
	return append(HeldDirs(p), heldBeside(p, commons)...)
}

// Released is what LetGo stopped holding, or would.
type Released struct {
	Objects, Packs int
	InGit          map[string][]string // ids of objects that a git directory has itself, in order, by the directory
	Kept           bool                // some of these may be held
}

// LetGo stops holding the objects with these ids that none of the git directories has any more, loose or in a pack: loose ones, and
// packs with all that is in them, also where another store of the account holds them. With dry it only counts.
func LetGo(p *project.Project, commons, ids []string, dry bool) (done Released, err error) {
	wanted := setOf(ids)
	gone := maps.Clone(wanted)
	done.InGit = map[string][]string{}
	for _, common := range commons {
		for _, dir := range objectDirs(filepath.Join(common, "objects")) {
			for _, id := range ids {
				if account.Exists(loose(dir, id)) {
					done.InGit[common] = append(done.InGit[common], id)
				}
			}
			for _, has := range packsWith(dir, wanted) {
				done.InGit[common] = append(done.InGit[common], has...)
			}
		}
		slices.Sort(done.InGit[common])
		done.InGit[common] = slices.Compact(done.InGit[common])
		for _, id := range done.InGit[common] {
			delete(gone, id)
		}
	}
	var remove []string
	objects, packs := map[string]bool{}, map[string]bool{} // by name: several directories can hold one
	for _, dir := range HeldWith(p, commons) {
		for id := range wanted {
			switch file := loose(dir, id); {
			case !account.Exists(file):
			case gone[id]:
				objects[id] = true
				remove = append(remove, file)
			default:
				done.Kept = true
			}
		}
		for pack, has := range packsWith(dir, wanted) {
			if slices.ContainsFunc(has, func(id string) bool { return gone[id] }) || has == nil && len(gone) > 0 {
				packs[filepath.Base(pack)] = true
				remove = append(remove, pack+".pack", pack+".idx", pack+".promisor") // an index alone is nothing to git
			} else {
				done.Kept = true
			}
		}
	}
	done.Objects, done.Packs = len(objects), len(packs)
	for _, file := range remove {
		if !dry {
			err = errors.Join(err, account.RemoveIfThere(file))
		}
	}
	return done, err
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func loose(dir, id string) string { return filepath.Join(dir, id[:2], id[2:]) }

// packsWith gives those of the ids that packs of a directory have, by the file of the pack without its suffix: nil for a pack whose
// index cannot be read, and that may have any.
func packsWith(dir string, ids map[string]bool) map[string][]string {
	packs := map[string][]string{}
	files, _ := os.ReadDir(filepath.Join(dir, "pack")) // there may be none
	for _, f := range files {
		base, ok := strings.CutSuffix(filepath.Join(dir, "pack", f.Name()), ".idx")
		if !ok {
			continue
		}
		if has, err := packHas(base, ids); err != nil || len(has) > 0 {
			packs[base] = has
		}
	}
	return packs
}

// packHas are those of the ids that a pack has, a file without its suffix.
func packHas(base string, ids map[string]bool) (has []string, err error) {
	size := 20
	if len(filepath.Base(base)) > len("pack-")+40 {
		size = 32
	}
	data, err := gitrepo.PackIDs(base+".idx", size)
	for id := range slices.Chunk(data, size) {
		if text := hex.EncodeToString(id); ids[text] {
			has = append(has, text)
		}
	}
	return has, err
}

// Sought is what accounts that hold objects of their own are to look for in them, since no other can: it may be in objects that only they hold.
type Sought struct {
	Paths []string `json:"paths,omitempty"` // keys of paths: what commits have there is forgotten
	Above []string `json:"above,omitempty"` // keys of the directories above these
	Asked []string `json:"asked,omitempty"` // ids of objects that states name and that who forgot could not read
}

// forgottenNote tells the other accounts, which hold objects of their own, what to let go of.
type forgottenNote struct {
	Time time.Time `json:"time"`
	IDs  []string  `json:"ids,omitempty"`
	All  time.Time `json:"all,omitzero"` // when all was let go of
	Salt []byte    `json:"salt,omitempty"`
	For  []byte    `json:"for,omitempty"` // a hash of the texts for which it was, if no git directory had them then
	Sought
	Looked time.Time `json:"looked,omitzero"` // when something was sought that was not before
}

const maxForgotten = 64 << 20

// NoteForgotten tells the accounts that hold objects of their own what to let go of, and what to look for; this one has, but for what it
// has kept. What was noted before is not noted again, if none of them can hold any of it.
func NoteForgotten(p *project.Project, ids []string, sought Sought, kept bool) error {
	held, err := p.HeldElsewhere()
	if err != nil {
		return err
	}
	n := readForgotten(p)
	known, looked := len(n.IDs), n.size()
	n.IDs = union(n.IDs, ids)
	n.Paths, n.Above, n.Asked = union(n.Paths, sought.Paths), union(n.Above, sought.Above), union(n.Asked, sought.Asked)
	switch more := n.size() > looked; {
	case more || held && len(n.Paths) > 0:
		n.Looked = p.Env.Time().UTC() // not after the time of the note
	case len(n.IDs) == known && (!held || known == 0):
		return obeyed(p, n, kept)
	}
	return n.write(p, kept)
}

func (s Sought) size() int { return len(s.Paths) + len(s.Above) + len(s.Asked) }

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// NoteAll is NoteForgotten of all objects, for some texts. clean: no git directory has the texts. Then who obeys the note cannot hold
// them again, and it is not noted again for the same texts: another account that is at work would never be done.
func NoteAll(p *project.Project, texts string, clean bool) error {
	n := readForgotten(p)
	same, err := n.isFor(texts)
	if err != nil {
		return err
	}
	if clean && same {
		return obeyed(p, n, false)
	}
	if n.All, n.For, n.Salt = p.Env.Time().UTC(), nil, nil; clean { // the time is not after that of the note
		n.Salt = make([]byte, 16)
		rand.Read(n.Salt) // never fails
		if n.For, err = n.hash(texts); err != nil {
			return err
		}
	}
	return n.write(p, false)
}

// isFor reports whether all was let go of for these texts.
func (n forgottenNote) isFor(texts string) (bool, error) {
	if len(n.For) == 0 {
		return false, nil
	}
	sum, err := n.hash(texts)
	return bytes.Equal(sum, n.For), err
}

// hash is slow: a text that is forgotten is not to be found by trying many.
func (n forgottenNote) hash(texts string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, texts, n.Salt, 600_000, 16)
}

func (n forgottenNote) write(p *project.Project, kept bool) error {
	n.Time = p.Env.Time().UTC()
	if err := n.save(p); err != nil {
		return err
	}
	return obeyed(p, n, kept)
}

func (n forgottenNote) save(p *project.Project) error { return n.saveIn(p.StoreDir(), p.Owner) }

func (n forgottenNote) saveIn(store string, owner func(string) error) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := account.MakeDir(filepath.Join(store, account.GitName), owner); err != nil {
		return err
	}
	return account.WriteCache(filepath.Join(store, account.GitName, account.ForgottenName), data, owner)
}

// Note is which note of forgotten objects counts, "" where there is none.
func Note(p *project.Project) string { return readForgotten(p).name() }

func (n forgottenNote) name() string {
	if n.Time.IsZero() {
		return ""
	}
	return n.Time.Format(time.RFC3339Nano)
}

// Forgotten are the ids of all objects that LetGo was to stop holding, in any account.
func Forgotten(p *project.Project) []string { return readForgotten(p).IDs }

// IsSought reports whether the other accounts were to look for a path, by its key.
func IsSought(p *project.Project, key string) bool {
	return slices.Contains(readForgotten(p).Paths, key)
}

func readForgotten(p *project.Project) forgottenNote { return readForgottenIn(p.StoreDir()) }

func readForgottenIn(store string) (n forgottenNote) {
	if data, err := vfs.ReadSmall(filepath.Join(store, account.GitName, account.ForgottenName), maxForgotten, vfs.NoFollow); err == nil {
		_ = json.Unmarshal(data, &n) // a damaged one says nothing
	}
	return n
}

// obeyed notes in the directory that holds what this account has let go of. kept: but for what git itself has, of which it lets go
// when that is noted again.
func obeyed(p *project.Project, n forgottenNote, kept bool) error {
	dir := holdIn(p)[0]
	if n.Time.IsZero() || !account.IsDir(filepath.Dir(dir)) {
		return nil
	}
	if kept { // before it seems to hold nothing of the note
		if err := p.SignUp(account.MirrorHoldsForgotten); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := account.WriteCache(filepath.Join(dir, account.ForgottenName), []byte(n.name()), p.Owner); err != nil || kept {
		return err
	}
	return p.SignUp(account.MirrorObeyed)
}

// ObeyForgotten lets go of what was forgotten in another account. Of a note that has something looked for it does nothing: see ToLookFor.
func ObeyForgotten(p *project.Project) error {
	n, at, ok := unobeyed(p)
	if !ok || n.Looked.After(at) {
		return nil
	}
	return n.obey(p, at)
}

// ToLookFor is what this account has not looked for yet, as a note of another one says; nil for nothing.
func ToLookFor(p *project.Project) *Sought {
	n, at, ok := unobeyed(p)
	if !ok || !n.Looked.After(at) {
		return nil
	}
	return &n.Sought
}

// ObeyWith lets go of what was forgotten in another account, and of the objects that this one has found.
func ObeyWith(p *project.Project, found []string) error {
	n, at, ok := unobeyed(p)
	if !ok {
		return nil
	}
	if known := len(n.IDs); len(found) > 0 {
		if n.IDs = union(n.IDs, found); len(n.IDs) > known {
			if err := n.save(p); err != nil { // the same note
				return err
			}
		}
	}
	return n.obey(p, at)
}

// unobeyed is the note, and the time of the one that this account has obeyed; ok: it is another one.
func unobeyed(p *project.Project) (n forgottenNote, at time.Time, ok bool) {
	n = readForgotten(p)
	dir := holdIn(p)[0]
	if n.Time.IsZero() || p.Copied || p.ReadOnly != nil || !account.IsDir(filepath.Dir(dir)) { // without a mirror it holds nothing of its own
		return n, at, false
	}
	text, _ := vfs.ReadSmall(filepath.Join(dir, account.ForgottenName), maxForgotten, vfs.NoFollow) // none: it has obeyed nothing
	at, _ = time.Parse(time.RFC3339Nano, string(text))
	return n, at, !at.Equal(n.Time)
}

func (n forgottenNote) obey(p *project.Project, at time.Time) error {
	var commons []string
	if around, ok := gitrepo.Find(p.Root()); ok {
		commons = append(commons, around.CommonDir)
	}
	kept := false
	if n.All.After(at) {
		if err := LetGoAll(p, nil); err != nil {
			return err
		}
	} else {
		done, err := LetGo(p, commons, n.IDs, false)
		if err != nil {
			return err
		}
		kept = done.Kept
	}
	return obeyed(p, n, kept)
}
