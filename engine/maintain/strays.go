package maintain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
)

// Stray is something that lies in the store's directory, or in its mirror, and is not the store's: a copy that a program
// left which edits all files below a directory, or what a person has put there.
type Stray struct {
	Path string // relative to the store's directory, with /; absolute in the mirror
	Copy bool   // a copy of a pack or of its index
	Tame bool   // a copy of a settings file, which nothing is forgotten from
}

// Text names it.
func (s Stray) Text() string {
	if s.Copy {
		return s.Path + " (a copy of a pack)"
	}
	return s.Path
}

// ownNames are what the store gives files and directories beside its packs.
var ownNames = []string{
	account.FormatName, account.ConfigName, account.ConfigName + ".lock", account.IgnoreName, account.ObjectsName, account.ManifestsName, account.StatCacheName, account.StatCacheName + ".new",
	account.LockName, account.TmpName, account.GitName, account.HomesName, account.HomeName, account.RestoreName, account.RemotesName, account.RemotesFile, account.RestoreHistoryName, account.SessionName, account.IndexStateName,
	account.RebuildingName, project.HookStateName, project.ForgettingName, project.ReturnedName, olderName, conversation.BackupName, project.ReachedName, project.ShortenedName, project.TornName,
}

// tame are the files of which a copy says nothing that a checkpoint has.
var tame = []string{account.FormatName, account.ConfigName, account.RemotesFile, account.IgnoreName}

// Strays lists what is not the store's, without what an older program of this name keeps in the same directory.
func Strays(p *project.Project) (all []Stray, err error) {
	found, err := p.Store.Strays()
	if err != nil {
		return nil, p.Classify(err)
	}
	for _, f := range found {
		name := filepath.Base(f.File)
		path, err := filepath.Rel(p.StoreDir(), f.File)
		if err != nil || !filepath.IsLocal(path) {
			path = f.File
			if slices.Contains(ownNames, name) {
				continue // a copy of the settings
			}
		}
		if !nobodys(name) {
			all = append(all, Stray{Path: filepath.ToSlash(path), Copy: f.Copy, Tame: isTame(name)})
		}
	}
	entries, err := os.ReadDir(p.StoreDir())
	if err != nil || project.HasOlder(p.StoreDir()) {
		return all, err
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(ownNames, name) && !nobodys(name) {
			all = append(all, Stray{Path: name, Tame: isTame(name)})
		}
	}
	return all, nil
}

func isTame(name string) bool {
	return slices.ContainsFunc(tame, func(own string) bool { return strings.HasPrefix(name, own) })
}

// nobodys reports whether a file is a temporary one, which a sweep removes, or what a file manager leaves everywhere.
func nobodys(name string) bool {
	return strings.HasPrefix(name, ".tmp-") || strings.HasSuffix(name, ".tmp") || name == ".DS_Store"
}
