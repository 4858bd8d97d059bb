package gitrepo

import (
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/ignore"
)

// InfoExclude is the name of the source that is in the git directory.
const InfoExclude = ".git/info/exclude"

// Excludes reads the ignore rules that lie outside the directory given to
// Find, weakest first: core.excludesFile (system, global, local configuration, with the default
// $XDG_CONFIG_HOME/git/ignore), info/exclude, and, where that directory is
// below the work tree's top, the .gitignore files of the directories above it. home is the person's
// home directory, "" when unknown. foldCase reports whether git takes names that differ in the case of letters for the
// same (core.ignoreCase). A file that is missing or that git could not read is passed over;
// first is nil or the first other error; all sources that could be read are there.
func (r Repo) Excludes(home string) (sources []ignore.Source, foldCase bool, first error) {
	settings := r.fullConfig(home)
	add := func(name, file, below string, flags int) {
		text, err := readWith(file, maxRules, flags)
		if err != nil {
			if _, ok := err.(*FormatError); ok && first == nil {
				first = err
			}
			return
		}
		sources = append(sources, ignore.Source{Name: name, Text: text, Below: below})
	}
	if name, file := r.excludesFile(settings, home); file != "" {
		add(name, file, r.Prefix, 0)
	}
	add(InfoExclude, filepath.Join(r.CommonDir, "info", "exclude"), r.Prefix, 0)
	// git does not follow a .gitignore that is a symbolic link.
	dir, below, up := r.WorkTree, r.Prefix, strings.Repeat("../", strings.Count(r.Prefix, "/"))
	for below != "" {
		add(up+".gitignore", filepath.Join(dir, ".gitignore"), below, vfs.NoFollow)
		name, rest, _ := strings.Cut(below, "/")
		dir, below, up = filepath.Join(dir, name), rest, strings.TrimPrefix(up, "../")
	}
	return sources, isTrue(settings.last("core.ignorecase")), first
}

// excludesFile is core.excludesFile as it is configured and where it is, or the default.
func (r Repo) excludesFile(settings config, home string) (name, file string) {
	v, ok := settings.last("core.excludesfile")
	if !ok {
		if dir := r.xdgDir(home); dir != "" {
			return "git/ignore", filepath.Join(dir, "ignore")
		}
		return "", ""
	}
	text := strings.TrimPrefix(v.text, ":(optional)")
	file, ok = expandHome(text, home)
	if !ok || file == "" {
		return "", ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.WorkTree, file) // git runs there
	}
	return text, file
}
