package project

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// laterName is the file in the mirror of a store whose directory is gone that says for which store it was compared, and what
// came out: that one can sweep what they have in common.
const laterName = "later"

// Later lists the stores that another directory had at this path, and whose history continues behind what this store has of it:
// the project was deleted and put back from a backup. The newest comes first.
func (p *Project) Later() []History {
	all, _ := p.later(false)
	return all
}

// later also says of which no notice was shown, which show does.
func (p *Project) later(show bool) (all, unseen []History) {
	known, err := account.KnownStores(p.Env)
	if err != nil {
		return nil, nil
	}
	for _, h := range p.at.History(p.Env, known) {
		id, err := account.ParseStoreID(h.ID)
		mirror := account.MirrorDir(p.Env, id)
		origin, readable := cas.PacksOf(vfs.OS, mirror)
		if err != nil || !readable || account.StoreID(origin).String() != p.Format.Origin {
			continue
		}
		mark := filepath.Join(mirror, laterName)
		data, _ := vfs.ReadSmall(mark, 1<<10, vfs.NoFollow)
		seen, is, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
		if p.Copied || seen != p.ID.String() {
			if is, err = p.compareLater(origin, mirror); err != nil {
				continue
			}
		}
		isNew := p.Copied || seen != p.ID.String()
		if is == "more" {
			all = append(all, h)
			if isNew {
				unseen = append(unseen, h)
			}
		}
		if isNew && !p.Copied && (show || is == "same") {
			_ = account.WriteFile(mark, []byte(p.ID.String()+" "+is+"\n"), account.OwnerOf(p.Env.Home)) // else it is shown again
		}
	}
	return all, unseen
}

// compareLater is "more" where a mirror's log continues behind what this store has.
func (p *Project) compareLater(origin [16]byte, mirror string) (string, error) {
	other, err := cas.Open(cas.Options{Dir: mirror, StoreID: origin, ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer other.Close()
	last, err := other.Last()
	if err != nil || last.Seq == 0 {
		return "same", err
	}
	holds, err := p.Store.Holds(last)
	if holds {
		return "same", err
	}
	return "more", err
}

// tellLater makes a notice of it, once as soon as the store is one of its own.
func (p *Project) tellLater() {
	if _, unseen := p.later(true); len(unseen) > 0 {
		p.Notify(fmt.Sprintf("this project was put back from an older state, and the history that it had until %s is in the mirror of the store %s: rewind init --adopt %s, in an empty directory, brings it there",
			unseen[0].LastSave.Local().Format("2006-01-02 15:04"), unseen[0].ID[:8], unseen[0].ID[:8]))
	}
}
