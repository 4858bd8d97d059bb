package pathspec

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// PathArg is one path argument of a command.
type PathArg struct {
	Path  string // relative to the root, with /, clean; "" is the root
	Fixed int    // leading names that are no pattern, whatever exists: those of the working directory
	Deep  bool   // it was given without a slash: as a glob it means any depth
}

// PatternOptions of Patterns.
type PatternOptions struct {
	Glob bool // every argument is a glob, whatever exists
	// Checkpoints whose paths count as well as those on disk; nil: all that there are.
	Checkpoints []manifest.Checkpoint
}

// Patterns says what path arguments mean, as the globs that Restore, Diff, Export, Forget
// and Entries take. A path that exists, on disk or in a checkpoint, is that path, whatever
// characters its name has; so is the part of an argument that leads through directories
// which exist. The rest is a glob. An argument that is the root means everything, and the result
// is then empty.
func Patterns(ctx context.Context, p *project.Project, args []PathArg, o PatternOptions) ([]string, error) {
	e := existing{p: p, ctx: ctx, o: o, known: map[string]bool{}}
	var out []string
	for _, a := range args {
		if a.Path == "" {
			return nil, nil
		}
		names := strings.Split(a.Path, "/")
		fixed := min(a.Fixed, len(names))
		if !o.Glob && hasGlob(a.Path) {
			n, err := e.leading(names, fixed)
			if err != nil {
				return nil, err
			}
			fixed = max(fixed, n)
		}
		for i := range fixed {
			names[i] = EscapeGlob(names[i])
		}
		for i := fixed; i < len(names); i++ {
			if _, err := path.Match(names[i], ""); err != nil {
				names[i] = EscapeGlob(names[i]) // no glob at all
			}
		}
		rest := names[fixed:]
		if len(rest) == 1 && a.Deep && hasGlob(rest[0]) {
			names = append(names[:fixed:fixed], "**", rest[0])
		}
		out = append(out, strings.Join(names, "/"))
	}
	return out, nil
}

// existing looks paths up on disk and in checkpoints.
type existing struct {
	p     *project.Project
	ctx   context.Context
	o     PatternOptions
	known map[string]bool
	roots []oid.ID // of the checkpoints, once they are known
}

// leading is how many names from the first on exist, as a path. Those before fixed need no proof.
func (e *existing) leading(names []string, fixed int) (int, error) {
	for n := len(names); n > fixed; n-- {
		ok, err := e.has(strings.Join(names[:n], "/"))
		if err != nil || ok {
			return n, err
		}
	}
	return fixed, nil
}

func (e *existing) has(path string) (bool, error) {
	if ok, seen := e.known[path]; seen {
		return ok, nil
	}
	ok, err := e.look(path)
	e.known[path] = ok
	return ok, err
}

func (e *existing) look(path string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(e.p.Root(), filepath.FromSlash(path))); err == nil {
		return true, nil
	}
	if e.o.Checkpoints == nil {
		if ok, err := e.ever(path); !project.IsDamage(err) {
			return ok, err
		} // else the trees that are whole say it: whoever reads a damaged one reports it
	}
	release, err := e.p.Use(e.ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if e.roots == nil {
		if err := e.readRoots(); err != nil {
			return false, err
		}
	}
	for _, root := range e.roots {
		if err := e.ctx.Err(); err != nil {
			return false, err
		}
		_, ok, err := manifest.Find(e.p.LoadDir, root, path)
		if ok {
			return true, nil
		}
		if err != nil && !project.IsDamage(err) {
			return false, err // whoever reads a damaged tree reports it
		}
	}
	return false, nil
}

// ever looks for a path in all checkpoints: one that has it has a checkpoint that brought it.
func (e *existing) ever(path string) (ok bool, err error) {
	err = e.p.Query(e.ctx, func(db *manifest.DB) error {
		for _, err := range db.History(path) {
			ok = err == nil
			return err
		}
		return nil
	})
	return ok, err
}

// readRoots collects the trees to look into, each once.
func (e *existing) readRoots() error {
	seen := map[oid.ID]bool{}
	add := func(c manifest.Checkpoint) {
		if !seen[c.Root] {
			seen[c.Root] = true
			e.roots = append(e.roots, c.Root)
		}
	}
	if e.o.Checkpoints != nil {
		for _, c := range e.o.Checkpoints {
			add(c)
		}
		return nil
	}
	return e.p.Query(e.ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			add(c)
		}
		return nil
	})
}

// EscapeGlob gives a pattern that matches one name only.
func EscapeGlob(name string) string {
	if !hasGlob(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(globBytes, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// Literal gives patterns that match these paths only; "" is none.
func Literal(paths []string) (patterns []string) {
	for _, path := range paths {
		if path != "" {
			patterns = append(patterns, EscapeGlob(path))
		}
	}
	return patterns
}

// PlainPath is the one path that a pattern without a glob stands for; ok is false for a glob.
func PlainPath(pattern string) (path string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
		case strings.IndexByte(globBytes, c) >= 0:
			return pattern, false
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), true
}

// Leading are the paths that a pattern leads through up to its first glob: directories, and, where it has no glob, itself.
func Leading(pattern string) (out []string) {
	at := ""
	for name := range strings.SplitSeq(path.Clean(pattern), "/") {
		name, plain := PlainPath(name)
		if !plain {
			break
		}
		at = path.Join(at, name)
		out = append(out, at)
	}
	return out
}

// MatchSome refuses (*NoPathError) a pattern that matches nothing in any of the trees.
func MatchSome(load func(oid.ID) (manifest.Dir, error), patterns []string, roots ...oid.ID) error {
	if len(patterns) > 1 {
		load = remembered(load)
	}
	for _, pattern := range patterns {
		one, err := Select([]string{pattern})
		if err != nil {
			return err
		}
		found := one.All()
		for _, root := range roots {
			if found {
				break
			}
			if path, plain := PlainPath(strings.Join(one.Patterns[0], "/")); plain {
				_, found, err = manifest.Find(load, root, path)
			} else {
				found, err = one.holds(load, "", root)
			}
			if err != nil {
				return err
			}
		}
		if !found {
			path, _ := PlainPath(pattern)
			return &project.NoPathError{Path: path}
		}
	}
	return nil
}

// remembered reads each directory once.
func remembered(load func(oid.ID) (manifest.Dir, error)) func(oid.ID) (manifest.Dir, error) {
	read := map[oid.ID]manifest.Dir{}
	return func(id oid.ID) (manifest.Dir, error) {
		if dir, ok := read[id]; ok {
			return dir, nil
		}
		dir, err := load(id)
		if err == nil {
			read[id] = dir
		}
		return dir, err
	}
}

// Unmatched gives the patterns that match none of the paths, nor a directory around them that a plain one names.
func Unmatched(patterns, paths []string) (out []string, err error) {
	all, err := Select(nil)
	for _, path := range paths {
		all.add(path)
	}
	for _, pattern := range patterns {
		one, err := Select([]string{pattern})
		if err != nil {
			return nil, err
		}
		switch path, plain := PlainPath(path.Clean(pattern)); {
		case one.All(), plain && (all.plain[path] || all.above[path]), !plain && slices.ContainsFunc(paths, one.Has):
		default:
			out = append(out, pattern)
		}
	}
	return out, err
}
