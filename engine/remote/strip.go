package remote

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// stripper takes precious files out of records, so that no content, size or hash of them leaves the machine.
type stripper struct {
	p    *project.Project
	sent map[oid.ID]struct{}       // directories in here have nothing precious in them
	memo map[oid.ID]manifest.Entry // directories by the id that they have here; only ID, Files and Size count
	made map[oid.ID][]byte         // directories that the store does not have
}

func newStripper(p *project.Project, sent map[oid.ID]struct{}) *stripper {
	return &stripper{p, sent, map[oid.ID]manifest.Entry{}, map[oid.ID][]byte{}}
}

// load is Project.LoadDir for what was made here, too.
func (s *stripper) load(id oid.ID) (manifest.Dir, error) {
	if data, ok := s.made[id]; ok {
		return manifest.ParseDir(data)
	}
	return s.p.LoadDir(id)
}

// withoutGit gives a record without git's own state: that can hold passwords, and the objects that it names stay here.
func withoutGit(r manifest.Record) manifest.Record {
	if r.Checkpoint != nil {
		c := *r.Checkpoint
		c.Git = oid.ID{}
		r.Checkpoint = &c
	}
	if r.Operation != nil {
		o := *r.Operation
		o.GitBefore, o.GitAfter = oid.ID{}, oid.ID{}
		r.Operation = &o
	}
	return r
}

// record gives a record without precious files; send is false for one that is about such a file alone. What it refers to may be
// lost: then it stays as it is.
func (s *stripper) record(r manifest.Record) (stripped manifest.Record, send bool, err error) {
	switch {
	case r.Checkpoint != nil:
		c := *r.Checkpoint
		e, err := s.dir(c.Root)
		if err != nil {
			return r, true, err
		}
		if e.ID != c.Root {
			c.Root, c.Files, c.Bytes = e.ID, e.Files, e.Size
		}
		r.Checkpoint = &c
	case r.Operation != nil:
		o := *r.Operation
		for _, root := range []*oid.ID{&o.Before, &o.After} {
			e, err := s.dir(*root)
			if err != nil {
				return r, true, err
			}
			*root = e.ID
		}
		r.Operation = &o
	case r.Rewrite != nil:
		w := *r.Rewrite
		w.Roots = nil
		for _, root := range r.Rewrite.Roots {
			e, err := s.dir(root)
			if err != nil {
				return r, true, err
			}
			w.Roots = append(w.Roots, e.ID)
		}
		r.Rewrite = &w
	case r.Touch != nil:
		return r, r.Touch.Entry == nil || !r.Touch.Entry.Precious, nil
	case r.Amend != nil:
		a := *r.Amend
		a.Records = nil
		for _, m := range r.Amend.Records {
			one, send, err := s.record(m.Record)
			if err != nil {
				return r, true, err
			}
			if send {
				m.Record = one
				a.Records = append(a.Records, m)
			}
		}
		r.Amend = &a
	}
	return r, true, nil
}

// dir gives a directory without precious files, and what is left of its totals. A directory that had only such files goes with them.
func (s *stripper) dir(id oid.ID) (manifest.Entry, error) {
	if _, ok := s.sent[id]; ok || id == (oid.ID{}) {
		return manifest.Entry{ID: id}, nil
	}
	if e, ok := s.memo[id]; ok {
		return e, nil
	}
	d, err := s.p.LoadDir(id)
	if project.IsLost(err) {
		return manifest.Entry{ID: id}, nil
	}
	if err != nil {
		return manifest.Entry{}, err
	}
	left := manifest.Dir{Entries: make([]manifest.Entry, 0, len(d.Entries))}
	changed := false
	for _, e := range d.Entries {
		if e.Precious {
			changed = true
			continue
		}
		if e.Kind == manifest.Subdir {
			below, err := s.dir(e.ID)
			if err != nil {
				return manifest.Entry{}, err
			}
			if below.ID != e.ID {
				changed = true
				if below.Files == 0 && e.Files > 0 {
					continue
				}
				e.ID, e.Files, e.Size = below.ID, below.Files, below.Size
			}
		}
		left.Entries = append(left.Entries, e)
	}
	e := manifest.Entry{ID: id}
	e.Files, e.Size = left.Totals()
	if changed {
		data := left.Append(nil)
		e.ID = oid.Sum(data)
		s.made[e.ID] = data
	}
	s.memo[id] = e
	return e, nil
}
