package transcript

import (
	"cmp"
	"path/filepath"
	"slices"
)

// Kept are the files and directories in which agents keep their sessions, and what they note of them, as absolute paths:
// where they are by default, and where variables say. A path that ends in "*" means all that begin with it.
// They are the agents' alone: settings are not among them.
func Kept(h Home) (paths []string) {
	for _, home := range []Home{{Dir: h.Dir}, h} { // a variable that an agent has, another process may be without
		for _, f := range formats() {
			paths = append(paths, f.format().keeps(home)...)
		}
		paths = append(paths, othersKeep(home)...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

// othersKeep are those of agents whose conversations are not understood: opencode, Cursor and Kiro.
func othersKeep(h Home) []string {
	data := cmp.Or(h.env("XDG_DATA_HOME"), filepath.Join(h.Dir, ".local", "share"))
	return append(in(h.Dir, ".cursor/projects", ".cursor/chats", ".kiro/sessions"), in(data, "opencode", "kiro-cli")...)
}

// in are names in a directory.
func in(dir string, names ...string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}
