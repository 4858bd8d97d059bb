package gitrepo

import (
	"slices"
	"strings"
)

// Remote is the URL, or path, to which the repository pushes for one of its remotes; "." is the one that it pushes to without a name. "" where
// there is none, or where it is not one but a choice of several; have are the names of all.
func (r Repo) Remote(home, name string) (url string, have []string) {
	c := r.fullConfig(home)
	for _, e := range c.entries {
		rest, ok := strings.CutPrefix(e.key, "remote.")
		n, isURL := strings.CutSuffix(rest, ".url")
		if ok && isURL && n != "" && !slices.Contains(have, n) {
			have = append(have, n)
		}
	}
	if name == "." {
		name = r.defaultRemote(c, have)
	}
	if !slices.Contains(have, name) {
		return "", have
	}
	for _, key := range []string{".pushurl", ".url"} {
		for _, e := range c.entries { // of several, the first
			if e.key == "remote."+name+key && e.value.text != "" {
				return e.value.text, have
			}
		}
	}
	return "", have
}

// defaultRemote is the one that git push takes.
func (r Repo) defaultRemote(c config, have []string) string {
	_, branch, _ := r.Head()
	for _, key := range []string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"} {
		if v, ok := c.last(key); ok && v.text != "" && v.text != "." {
			return v.text
		}
	}
	if len(have) == 1 {
		return have[0]
	}
	return "origin"
}
