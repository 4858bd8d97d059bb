package project

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// SignUp notes in the store that this account has a mirror of it, and up to what the mirror has obeyed.
func (p *Project) SignUp(use account.MirrorUse) error {
	dir := account.MirrorDir(p.Env, p.ID)
	if p.ReadOnly != nil || p.Copied || dir == "" || !account.IsDir(dir) {
		return nil
	}
	host, _ := os.Hostname()
	view, _ := os.Readlink("/proc/self/ns/mnt")                                                              // "": where there is only one
	git, _ := vfs.ReadSmall(filepath.Join(dir, account.GitName, account.ForgottenName), 1<<10, vfs.NoFollow) // none: it has obeyed nothing
	return account.Mirror{
		Store: p.at.Store, Dir: dir,
		Home:  account.Home{Home: strconv.Quote(p.Env.Home), Host: host, View: view, Git: string(git), Seen: p.Env.Time().UTC()},
		Owner: p.Owner, Mine: account.OwnerOf(p.Env.Home),
		List: p.Store.DroppedFile(), Sum: p.Store.DroppedSum, Obeys: p.Store.Obeys, Links: func() int { return max(p.Store.Linked(), p.Store.LinkedThen()) },
		Forget: func() error { return account.ForgetHeld(context.Background(), p.Env, p.ID.String()) },
	}.SignUp(use)
}

// mirroring is SignUp for the store, which gives packs to the mirror.
func (p *Project) mirroring(gets bool) error {
	if gets {
		return p.SignUp(account.MirrorGets)
	}
	return p.SignUp(account.MirrorLacks)
}

// noteLinks notes links of packs that are dropped which no other account explains.
func (p *Project) noteLinks(names int) error {
	homes, _, err := p.otherHomes()
	if n := names - len(homes); n > 0 && err == nil {
		return account.NoteLinks(p.at.Store, n, p.Owner)
	}
	return err
}

// HomesBehind are the other accounts whose mirrors may have what was dropped or, where git is not "", have not obeyed that note of git's
// objects; links is how many links of packs are not explained by any account.
func (p *Project) HomesBehind(git string) (behind []account.Home, links int, err error) {
	sum, err := p.Store.DroppedSum()
	if err != nil {
		return nil, 0, err
	}
	homes, links, err := p.otherHomes()
	for _, h := range homes {
		if h.Packs != sum || h.Holds && git != "" && h.Git != git {
			behind = append(behind, h)
		}
	}
	return behind, links, err
}

// HeldElsewhere reports whether another account may hold objects of git that are forgotten, although it has obeyed the note of them.
func (p *Project) HeldElsewhere() (bool, error) {
	homes, _, err := p.otherHomes()
	return slices.ContainsFunc(homes, func(h account.Home) bool { return h.Since || !h.Known() }), err
}

// HoldElsewhere reports whether another account may hold objects of git.
func (p *Project) HoldElsewhere() (bool, error) {
	homes, _, err := p.otherHomes()
	return slices.ContainsFunc(homes, func(h account.Home) bool { return h.Holds || !h.Known() }), err
}

func (p *Project) otherHomes() (others []account.Home, links int, err error) {
	homes, links, err := account.Homes(p.at.Store)
	own := account.OwnHome(account.MirrorDir(p.Env, p.ID))
	for _, h := range homes {
		if filepath.Base(h.File) != own {
			others = append(others, h)
		}
	}
	return others, links, err
}
