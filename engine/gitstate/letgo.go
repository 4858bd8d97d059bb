package gitstate

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
)

// LetGoAll holds no object any more: what git itself has is held again with the next capture.
func LetGoAll(p *project.Project) error {
	var errs []error
	for _, dir := range holdIn(p) {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// LetGo stops holding the objects with these ids that none of the git directories has any more: loose ones, and packs with all that
// is in them. With dry it only counts.
func LetGo(p *project.Project, commons, ids []string, dry bool) (objects, packs int, err error) {
	want := map[string]bool{}
	for _, id := range ids {
		want[id] = true
	}
	remove := func(file string) {
		if !dry {
			err = errors.Join(err, account.RemoveIfThere(file))
		}
	}
	inGit := func(name string) bool {
		return slices.ContainsFunc(commons, func(common string) bool {
			return slices.ContainsFunc(objectDirs(filepath.Join(common, "objects")), func(dir string) bool { return account.Exists(filepath.Join(dir, name)) })
		})
	}
	for _, dir := range HeldDirs(p) {
		for _, id := range ids {
			if name := filepath.Join(id[:2], id[2:]); account.Exists(filepath.Join(dir, name)) && !inGit(name) {
				objects++
				remove(filepath.Join(dir, name))
			}
		}
		files, _ := os.ReadDir(filepath.Join(dir, "pack")) // there may be none
		for _, f := range files {
			base, ok := strings.CutSuffix(filepath.Join("pack", f.Name()), ".idx")
			if !ok || inGit(base+".pack") || !packHas(filepath.Join(dir, base+".idx"), want) {
				continue
			}
			packs++
			for _, suffix := range []string{".pack", ".idx", ".promisor"} { // an index alone is nothing to git
				remove(filepath.Join(dir, base+suffix))
			}
		}
	}
	return objects, packs, err
}

// packHas reports whether the index of a pack has one of the ids, or cannot be read.
func packHas(index string, want map[string]bool) bool {
	size := 20
	if len(filepath.Base(index)) > len("pack-.idx")+40 {
		size = 32
	}
	data, err := gitrepo.PackIDs(index, size)
	if err != nil {
		return true
	}
	for id := range slices.Chunk(data, size) {
		if want[hex.EncodeToString(id)] {
			return true
		}
	}
	return false
}

// forgottenNote tells the other accounts, which hold objects of their own, what to let go of.
type forgottenNote struct {
	Time time.Time `json:"time"`
	IDs  []string  `json:"ids,omitempty"`
	All  time.Time `json:"all,omitzero"` // when all was let go of
}

const (
	forgottenName = "forgotten"
	maxForgotten  = 64 << 20
)

// NoteForgotten tells the accounts that hold objects of their own what to let go of, or to let go of all; this one has.
func NoteForgotten(p *project.Project, ids []string, all bool) error {
	n := readForgotten(p)
	if n.Time = p.Env.Time().UTC(); all {
		n.All = n.Time
	}
	n.IDs = append(n.IDs, ids...)
	slices.Sort(n.IDs)
	n.IDs = slices.Compact(n.IDs)
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := account.MakeDir(filepath.Join(p.StoreDir(), account.GitName), p.Owner); err != nil {
		return err
	}
	if err := account.WriteCache(filepath.Join(p.StoreDir(), account.GitName, forgottenName), data, p.Owner); err != nil {
		return err
	}
	return obeyed(p, n)
}

func readForgotten(p *project.Project) (n forgottenNote) {
	if data, err := account.ReadSmall(filepath.Join(p.StoreDir(), account.GitName, forgottenName), maxForgotten); err == nil {
		_ = json.Unmarshal(data, &n) // a damaged one says nothing
	}
	return n
}

// obeyed notes in the directory that holds what this account has let go of.
func obeyed(p *project.Project, n forgottenNote) error {
	dir := holdIn(p)[0]
	if !account.IsDir(filepath.Dir(dir)) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return account.WriteCache(filepath.Join(dir, forgottenName), []byte(n.Time.Format(time.RFC3339Nano)), p.Owner)
}

// ObeyForgotten lets go of what was forgotten in another account.
func ObeyForgotten(p *project.Project) error {
	n := readForgotten(p)
	if n.Time.IsZero() || p.Copied || p.ReadOnly != nil {
		return nil
	}
	text, _ := account.ReadSmall(filepath.Join(holdIn(p)[0], forgottenName), maxForgotten) // none: it has obeyed nothing
	at, _ := time.Parse(time.RFC3339Nano, string(text))
	if at.Equal(n.Time) {
		return nil
	}
	var commons []string
	if around, ok := gitrepo.Find(p.Root()); ok {
		commons = append(commons, around.CommonDir)
	}
	if n.All.After(at) {
		if err := LetGoAll(p); err != nil {
			return err
		}
	} else if _, _, err := LetGo(p, commons, n.IDs, false); err != nil {
		return err
	}
	return obeyed(p, n)
}
