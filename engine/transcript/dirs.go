package transcript

import (
	"os"
	"path/filepath"
	"strings"
)

// Home is where agents keep their files.
type Home struct {
	Dir    string // the home directory
	Getenv func(string) string
}

func (h Home) env(name string) string {
	if h.Getenv == nil {
		return ""
	}
	return h.Getenv(name)
}

// matching lists the directories in dir that are called name, or begin with
// name and sep.
func matching(dir, name, sep string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if n := e.Name(); e.IsDir() && (n == name || strings.HasPrefix(n, name+sep)) {
			out = append(out, filepath.Join(dir, n))
		}
	}
	return out
}

// Dir is the working directory to open the session in: of those that its lines
// name, the one that the transcript's directory is called after, since older
// clients look nowhere else; else the first.
func (x *Index) Dir(file string) string {
	f, _ := x.Agent.format()
	if f.root != nil {
		return f.root(file)
	}
	name := filepath.Base(f.folderIn(file))
	for _, dir := range x.Dirs {
		if f.folder != nil && f.folder(dir) == name {
			return dir
		}
	}
	if len(x.Dirs) == 0 {
		return ""
	}
	return x.Dirs[0]
}

// FolderFor is where a client looks for the sessions of the working directory
// now, given a transcript from the time that this was called was; "" where that
// does not follow from the transcript's place.
func FolderFor(a Agent, file, was, now string) string {
	f, _ := a.format()
	if real, err := filepath.EvalSymlinks(now); err == nil {
		now = real
	}
	if f.folderOf != nil {
		return f.folderOf(file, now)
	}
	folder := f.folderIn(file)
	if f.folder == nil || filepath.Base(folder) != f.folder(was) {
		return ""
	}
	return filepath.Join(filepath.Dir(folder), f.folder(now), f.below)
}

// folderIn is the directory that is called after the working directory.
func (f *format) folderIn(file string) string {
	if f.below != "" {
		file = filepath.Dir(file)
	}
	return filepath.Dir(file)
}

func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// FileIn is the path of the transcript of a session of the working directory dir: told, as the agent
// gave it, if that is among the agent's own files and has the session's name; else where the agent would look for it.
// "" where that is not known, or the session's id is none that the agent makes.
func FileIn(a Agent, h Home, dir, session, told string) string {
	f, _ := a.format()
	if f.home == nil || f.session != nil || !IsUUID(session) {
		return ""
	}
	home := f.home(h)
	if told = filepath.Clean(told); filepath.IsAbs(told) && filepath.Base(told) == session+".jsonl" {
		if in := filepath.Dir(told); in == home || filepath.Dir(in) == home {
			return told
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(home, f.folder(dir), f.below, session+".jsonl")
}

// Here is where the agent would keep on this account what it kept at a path on another one, or on another machine: below the same
// of its directories. A path among the account's own files, or with none of these directories in it, stays.
func Here(a Agent, h Home, file string) string {
	f, ok := a.format()
	if !ok || f.keeps == nil {
		return file
	}
	here := file
	for _, keep := range f.keeps(h) {
		if keep == "" {
			continue
		}
		if strings.HasPrefix(file, keep+string(filepath.Separator)) {
			return file
		}
		below, err := filepath.Rel(h.Dir, keep)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		below = string(filepath.Separator) + below + string(filepath.Separator)
		if i := strings.LastIndex(file, below); i >= 0 && here == file {
			here = filepath.Join(keep, file[i+len(below):])
		}
	}
	return here
}
