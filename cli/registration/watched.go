package registration

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/hookio/register"
)

// Registered is what hookio.Guard asks about the files by which agents run our hooks. Nothing is looked up before a
// tool call names a path, and no file is read before a path is one of them.
type Registered struct {
	Clients func() []AgentFiles

	agents  []AgentFiles
	files   []watchedFile
	program []string // of files, those that are the program itself
}

// watchedFile is one of them, with its identity: that of the name, and that of the file at the end of its links.
type watchedFile struct {
	path       string
	name, file os.FileInfo // nil: missing
}

// maxCopied bounds what is read of a file that a tool call copies from.
const maxCopied = 1 << 20

func (r *Registered) look() {
	if r.agents != nil {
		return
	}
	r.agents = r.Clients()
	var paths []string
	for _, a := range r.agents {
		paths = append(paths, a.Watched(a.Where)...)
	}
	if self, err := os.Executable(); err == nil {
		r.program = append(r.program, self)
		if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
			r.program = append(r.program, real)
		}
		paths = append(paths, r.program...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		f := watchedFile{path: path}
		if info, err := os.Lstat(path); err == nil {
			f.name, f.file = info, info
			if info.Mode()&os.ModeSymlink != 0 {
				f.file, _ = os.Stat(path) // nil where the link leads nowhere
			}
		}
		r.files = append(r.files, f)
	}
}

// Files implements hookio.Registered.
func (r *Registered) Files() (paths []string) {
	r.look()
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Named implements hookio.Registered.
func (r *Registered) Named(path string, last bool) (named []string) {
	r.look()
	stat := os.Lstat
	if last {
		stat = os.Stat
	}
	info, err := stat(path)
	for _, f := range r.files {
		is := f.path == path
		switch {
		case is:
		case err == nil:
			is = f.file != nil && os.SameFile(info, f.file) || !last && f.name != nil && os.SameFile(info, f.name)
		case f.file == nil && strings.EqualFold(filepath.Base(path), filepath.Base(f.path)): // neither is there yet
			is = strings.EqualFold(ResolveLinks(path, last), ResolveLinks(f.path, true))
		}
		if is {
			named = append(named, f.path)
		}
	}
	return named
}

// Read implements hookio.Registered.
func (r *Registered) Read(path string) []byte {
	f, info, err := vfs.OpenRegular(path, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info.Size() > maxCopied {
		return nil
	}
	content, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return content
}

// Lost implements hookio.Registered.
func (r *Registered) Lost(after map[string][]byte) string {
	r.look()
	for _, path := range r.program {
		if _, ok := after[path]; ok {
			return "the program " + path + ", which the hooks run"
		}
	}
	for _, a := range r.agents {
		before := a.Running(a.Where)
		if len(before) == 0 {
			continue
		}
		where := a.Where
		where.Read = func(file string) ([]byte, error) {
			if content, ok := after[file]; ok {
				return content, nil
			}
			return register.ReadFile(file)
		}
		var lost []string
		for _, hook := range register.Lost(before, a.Running(where)) {
			if text := hook.Text(); !slices.Contains(lost, text) {
				lost = append(lost, text)
			}
		}
		if len(lost) > maxLostNamed {
			lost = append(lost[:maxLostNamed], "others")
		}
		if len(lost) > 0 {
			return a.Title + " hooks (" + strings.Join(lost, ", ") + ")"
		}
	}
	return ""
}

// maxLostNamed bounds the hooks that a refusal names.
const maxLostNamed = 3

const (
	// maxLinkSteps bounds the work for one path: components that are not there, and links
	// that lead nowhere.
	maxLinkSteps = 64
	// MaxResolved bounds the paths of one tool call that are looked at on disk.
	MaxResolved = 256
)

// ResolveLinks follows the links in the part of path that is there, in its last component only
// where last is set; "" where that does not end.
func ResolveLinks(path string, last bool) string {
	path, rest := filepath.Clean(path), ""
	if !last {
		path, rest = filepath.Dir(path), filepath.Base(path)
	}
	for range maxLinkSteps {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(path); err == nil { // what it leads to is not there yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
			continue
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
	return ""
}
