package rules

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Scopes answers whether rules would capture a path, and keeps the scopes of
// the directories on the way.
type Scopes struct {
	Rules *ignore.Rules // nil: nothing is captured
	Read  func(path string) []byte
	Known map[string]*ignore.Scope // nil: left out whole
	all   bool                     // there are no rules
	// failed says why rules could not be read. Where they are not known nothing is in scope: nothing is deleted.
	Failed error
}

// Captures reports whether the rules would capture the path. A directory that
// is only passed through for what is below it counts too: it is never removed
// with anything in it.
func (s *Scopes) Captures(path string, dir bool) bool { return s.Decide(path, dir) != ignore.Skip }

// MayGo reports whether the rules let a restore delete a path: one that they
// capture, and that is not precious.
func (s *Scopes) MayGo(path string, dir bool) bool {
	return s.Captures(path, dir) && (dir || !s.Marks(path) || sqlite.Beside(path))
}

// Marks reports whether a file that the rules capture is marked as precious.
func (s *Scopes) Marks(path string) bool {
	d := s.Decide(path, false)
	return d == ignore.Precious || d == ignore.Marked
}

// Decide is what the rules say of a path.
func (s *Scopes) Decide(path string, dir bool) ignore.Decision {
	if s.all {
		return ignore.Capture
	}
	if s.Rules == nil {
		return ignore.Skip
	}
	parent, name := rootfs.Split(path)
	scope := s.scope(parent)
	if scope == nil {
		return ignore.Skip
	}
	d, _ := scope.Decide(name, dir)
	return d
}

// scope gives a directory's scope, nil if it is left out.
func (s *Scopes) scope(dir string) *ignore.Scope {
	if scope, ok := s.Known[dir]; ok {
		return scope
	}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	before := s.Failed
	read := func(name string) []byte { return s.Read(prefix + name) }
	var scope *ignore.Scope
	if dir == "" {
		scope = s.Rules.Root(read)
	} else {
		parent, name := rootfs.Split(dir)
		if up := s.scope(parent); up != nil {
			if d, _ := up.Decide(name, true); d != ignore.Skip {
				scope = up.Child(name, read)
			}
		}
	}
	if s.Failed != before {
		scope = nil
	}
	s.Known[dir] = scope
	return scope
}

// Fail notes that rules could not be read; what is not there, or is no file, has none.
func (s *Scopes) Fail(err error) {
	none := err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrLink) || errors.Is(err, rootfs.ErrNotRegular) || errors.Is(err, syscall.ENOTDIR)
	if !none {
		s.Failed = err
	}
}

func readRuleFile(d rootfs.Dir, name string) ([]byte, error) {
	f, info, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size > ignore.MaxRuleFile {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(f, info.Size))
}

// Today are the rules in force, with the rule files as they are in tree.
func Today(p *project.Project, kept []string, tree rootfs.FS) *Scopes {
	s := &Scopes{Known: map[string]*ignore.Scope{}}
	s.Read = func(path string) []byte {
		dir, name := rootfs.Split(path)
		d, err := tree.OpenDir(dir)
		if err != nil {
			s.Fail(err)
			return nil
		}
		defer d.Close()
		data, err := readRuleFile(d, name)
		s.Fail(err)
		return data
	}
	rs, err := Gather(p, kept, false)
	if err != nil {
		s.Fail(err)
		return s
	}
	s.Rules = rs.Rules
	return s
}

// Of are a checkpoint's rules, with the rule files as they are in its
// tree. What git tracked then is not known, so an ignored path that was
// captured for that reason only is out of scope, and stays.
func Of(p *project.Project, src treeio.Source, c manifest.Checkpoint) *Scopes {
	s := &Scopes{Known: map[string]*ignore.Scope{}, all: c.Rules == (oid.ID{})}
	s.Read = func(path string) []byte {
		e, ok, err := manifest.Find(src.Load, c.Root, path)
		if err != nil || !ok || !e.IsFile() || e.Size > ignore.MaxRuleFile {
			s.Fail(err)
			return nil
		}
		f, err := src.Open(e)
		if err != nil {
			s.Fail(err)
			return nil
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		s.Fail(err)
		return data
	}
	if s.all {
		return s
	}
	data, err := p.ReadObject(c.Rules)
	if err == nil {
		s.Rules, err = ignore.Decode(data)
	}
	s.Fail(err)
	return s
}
