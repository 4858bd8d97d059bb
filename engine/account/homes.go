package account

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

const (
	// HomesName is the directory in the store that has a file for each account with a mirror of it. In a mirror it is a file with
	// all of them, for a store that has to be rebuilt.
	HomesName = "homes"
	// HomeName is the file in a mirror with its name among the homes.
	HomeName = "home"
	// unknownHome is the file among the homes for links that no account of the others explains.
	unknownHome = "unknown"
	maxHomes    = 1000
	maxHome     = 1 << 16
	// seenAgain is how old the note of an account may be that it was there.
	seenAgain = 24 * time.Hour
)

// Home is an account that has a mirror of a store.
type Home struct {
	File  string    `json:"-"`
	Home  string    `json:"home"` // its home directory, quoted as Go does
	Host  string    `json:"host"`
	View  string    `json:"view,omitempty"`  // the mount namespace: in one, a path leads to one home
	Seen  time.Time `json:"seen"`            // when it was last there, to a day
	Packs string    `json:"packs"`           // the list of dropped packs of which its mirror has none any more; "": not known
	List  string    `json:"list,omitempty"`  // which file had that list: while it is there, it need not be read again
	Git   string    `json:"git,omitempty"`   // the note of git's objects that it has obeyed
	Holds bool      `json:"holds,omitempty"` // it holds objects of git
	Since bool      `json:"since,omitempty"` // some of them may be what that note forgets: git had them, or has had them since
	Links int       `json:"links,omitempty"` // of the file for what is not known
}

// Known reports whether the file names a home.
func (h Home) Known() bool { return h.Home != "" }

// Dir is the home directory.
func (h Home) Dir() string {
	if dir, err := strconv.Unquote(h.Home); err == nil {
		return dir
	}
	return h.Home
}

// homeNames are the names of the files of homes in a directory. whole is false where there are more.
func homeNames(dir string) (names []string, whole bool, err error) {
	if !Exists(dir) {
		return nil, true, nil
	}
	if err := InPlace(dir, true, nil); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|vfs.NoFollow|vfs.NoWait, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()                      // read only: nothing can be lost
	all, err := f.Readdirnames(maxHomes) // an empty directory is an error, io.EOF
	if len(all) > 0 {
		err = nil
	}
	for _, name := range all {
		if isHome(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(all) == 0 {
		return nil, true, nil
	}
	return names, len(all) < maxHomes, err
}

// Homes are the accounts with a mirror of a store, and how many links of its packs no account explains. One whose file cannot be
// read is not known, and has removed nothing.
func Homes(store string) (homes []Home, links int, err error) {
	dir := filepath.Join(store, HomesName)
	names, whole, err := homeNames(dir)
	for _, name := range names {
		h := readHome(filepath.Join(dir, name))
		if name == unknownHome {
			links = max(h.Links, 1)
			continue
		}
		homes = append(homes, h)
	}
	if !whole {
		homes = append(homes, Home{File: dir})
	}
	return homes, links, err
}

func readHome(file string) Home {
	h := Home{}
	data, err := vfs.ReadSmall(file, maxHome, vfs.NoFollow)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		h = Home{}
	}
	h.File = file
	return h
}

func (h Home) write(owner func(string) error) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := MakeDir(filepath.Dir(h.File), owner); err != nil {
		return err
	}
	return WriteFile(h.File, append(data, '\n'), owner)
}

// LinksFile has the number of links of a store's packs that no account explains.
func LinksFile(store string) string { return filepath.Join(store, HomesName, unknownHome) }

// NoteLinks notes how many links of packs no account explains, at least.
func NoteLinks(store string, links int, owner func(string) error) error {
	h := readHome(LinksFile(store))
	if h.Links >= links {
		return nil
	}
	h.Links = links
	return h.write(owner)
}

// explainLink takes one of these links off, as that of an account which was not known.
func explainLink(store string, owner func(string) error) error {
	h := readHome(LinksFile(store))
	if h.Links--; h.Links > 0 {
		return h.write(owner)
	}
	return RemoveIfThere(h.File)
}

// Mirror is an account's mirror of a store, and what the store notes of it.
type Mirror struct {
	Store, Dir string
	Home       Home                   // where it is, and the note of git's objects that it has obeyed
	Owner      func(string) error     // of files of the store
	Mine       func(string) error     // of files of the mirror
	List       string                 // the file with the list of dropped packs
	Sum        func() (string, error) // of that list
	Obeys      func() bool            // the mirror has none of them
	Links      func() int             // of the store's packs outside of the store and the mirror
	Forget     func() error           // takes out of the account's other files what may be of dropped packs
}

// MirrorUse is what a mirror is about to be used for.
type MirrorUse int

const (
	MirrorLooked         MirrorUse = iota // nothing
	MirrorGets                            // it gets a pack
	MirrorLacks                           // it could not get one
	MirrorHolds                           // it gets an object of git
	MirrorHoldsForgotten                  // it gets, or keeps, one that is forgotten: git has it
	MirrorObeyed                          // it has none that is forgotten
)

func (u MirrorUse) holds() bool { return u == MirrorHolds || u == MirrorHoldsForgotten }

// SignUp notes in the store that the mirror is there, and what is gone from it of what the store dropped. Nearly always it is
// noted already.
func (m Mirror) SignUp(use MirrorUse) error {
	name, known := m.name()
	if !known && (use == MirrorLooked || use == MirrorObeyed) && !m.hasPacks() && !m.holds() {
		return nil
	}
	dir := filepath.Join(m.Store, HomesName)
	if !known {
		var err error
		if name, err = m.newName(); err != nil {
			return err
		}
	}
	was := readHome(filepath.Join(dir, name))
	list, sum := m.listed(), was.Packs
	if list == "" || list != was.List {
		var err error
		if sum, err = m.Sum(); err != nil {
			return err
		}
	}
	now := was
	if now.List = ""; now.Packs == sum {
		now.List = list
	}
	now.Home, now.Host, now.Git = m.Home.Home, m.Home.Host, m.Home.Git
	now.Since = use == MirrorHoldsForgotten || was.Since && use != MirrorObeyed
	now.Holds = was.Holds || use.holds()
	if m.Home.Seen.Sub(was.Seen).Abs() > seenAgain {
		now.Seen = m.Home.Seen
	}
	if now != was || now.Packs != sum || use == MirrorLacks {
		if now.Packs != sum && m.Obeys() {
			if err := m.Forget(); err != nil {
				return err
			}
			now.Packs, now.List = sum, list
		}
		now.Holds = use.holds() || m.holds()
		packs := m.hasPacks()
		if use != MirrorGets && !packs && !now.Holds {
			return RemoveIfThere(was.File)
		}
		if err := m.first(dir, was, packs); err != nil {
			return err
		}
		if now.View = m.Home.View; now != was {
			now.Seen = m.Home.Seen
			if err := now.write(m.Owner); err != nil {
				return err
			}
		}
	}
	return m.copyHomes(dir)
}

// first is for what the store says of others when it hears of the mirror, which may have had packs before. What was where this
// mirror is, as before the home was put back from a copy, is gone.
func (m Mirror) first(dir string, was Home, packs bool) error {
	there := Exists(dir)
	homes, _, err := Homes(m.Store)
	for _, h := range homes {
		if h.Home == m.Home.Home && h.Host == m.Home.Host && h.View == m.Home.View && h.File != was.File {
			err = errors.Join(err, RemoveIfThere(h.File))
		}
	}
	switch {
	case err != nil || !packs || was.Known():
		return err
	case there:
		return explainLink(m.Store, m.Owner)
	}
	if n := m.Links(); n > 0 { // of an account that does not sign up yet
		return NoteLinks(m.Store, n, m.Owner)
	}
	return nil
}

// listed tells the file with the list from those that were there before or will be. "" where that cannot be told, as of a file that
// was written a moment ago: it could be written again within the same tick of the clock.
func (m Mirror) listed() string {
	info, err := os.Lstat(m.List)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	changed, inode := ChangeTime(info)
	if inode == 0 || time.Since(time.Unix(0, changed)) < time.Second {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", inode, info.Size(), changed)
}

func (m Mirror) name() (string, bool) {
	text, _ := vfs.ReadSmall(filepath.Join(m.Dir, HomeName), 64, vfs.NoFollow) // one that cannot be read is no name
	name := strings.TrimSuffix(string(text), "\n")
	if _, err := ParseStoreID(name); err != nil {
		return "", false
	}
	return name, true
}

// OwnHome is what a mirror calls itself among the homes, "" if it has no name yet.
func OwnHome(mirror string) string {
	name, _ := Mirror{Dir: mirror}.name()
	return name
}

func (m Mirror) newName() (string, error) {
	var id StoreID
	rand.Read(id[:])
	name := hex.EncodeToString(id[:])
	return name, WriteFile(filepath.Join(m.Dir, HomeName), []byte(name+"\n"), m.Mine)
}

func (m Mirror) hasPacks() bool {
	entries, err := os.ReadDir(m.Dir)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".pack" })
}

// holds reports whether objects of git are held beside the packs.
func (m Mirror) holds() bool {
	dir := filepath.Join(m.Dir, GitName)
	entries, _ := os.ReadDir(dir) // there may be none
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if !e.IsDir() {
			return false
		}
		files, err := os.ReadDir(filepath.Join(dir, e.Name()))
		return err != nil || len(files) > 0
	})
}

// copiedHome is a home in the file of a mirror.
type copiedHome struct {
	Name string `json:"name"`
	Home
}

func copiedHomes(mirror string) (list []copiedHome) {
	if data, err := vfs.ReadSmall(filepath.Join(mirror, HomesName), maxHomes*maxHome, vfs.NoFollow); err == nil {
		_ = json.Unmarshal(data, &list) // a damaged one is made anew
	}
	return list
}

// copyHomes gives the mirror what the store knows of all accounts.
func (m Mirror) copyHomes(dir string) error {
	names, whole, err := homeNames(dir)
	if err != nil || !whole {
		return err
	}
	had := copiedHomes(m.Dir)
	if slices.EqualFunc(names, had, func(name string, h copiedHome) bool { return name == h.Name }) {
		return nil
	}
	list := []copiedHome{}
	for _, name := range names {
		list = append(list, copiedHome{name, readHome(filepath.Join(dir, name))})
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return WriteCache(filepath.Join(m.Dir, HomesName), append(data, '\n'), m.Mine) // the next command makes it anew
}

// restoreHomes gives a store that is rebuilt from a mirror what that knows of the other accounts: they may have more of the store.
func restoreHomes(mirror, store string, owner func(string) error) error {
	own := OwnHome(mirror)
	for _, h := range copiedHomes(mirror) {
		if !isHome(h.Name) || h.Name == own {
			continue
		}
		h.File, h.Packs, h.List, h.Git = filepath.Join(store, HomesName, h.Name), "", "", ""
		if err := h.write(owner); err != nil {
			return err
		}
	}
	return nil
}

func isHome(name string) bool {
	_, err := ParseStoreID(name)
	return err == nil || name == unknownHome
}
