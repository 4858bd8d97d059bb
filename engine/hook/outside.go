package hook

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// maxOutside bounds the directories that the state of a session names.
	maxOutside = 8
	// outsidePause is how long such a note is fresh.
	outsidePause = 10 * time.Minute
	// outsideTime is how long status tells of it.
	outsideTime = 24 * time.Hour
)

// noteOutside leaves word, for status, of where the session works outside its project.
func (c *Call) noteOutside(ctx context.Context) {
	e, known := &c.Event, c.session.Outside
	if e.Kind == manifest.SessionEnd {
		if known != nil {
			_ = c.updateSession(ctx, func(s *account.SessionState) { s.Outside = nil })
		}
		return
	}
	dirs := []string{e.Cwd}
	for _, file := range e.Writes[:min(len(e.Writes), maxWrites)] {
		dirs = append(dirs, filepath.Dir(file))
	}
	root := ""
	if c.Project != nil {
		root = c.Project.Root()
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		if !filepath.IsAbs(dir) || known != nil && known.Root == root && e.Time.Sub(known.Dirs[dir]).Abs() < outsidePause {
			return true
		}
		if c.Project == nil {
			return false
		}
		_, inside := below(c.Project, filepath.Join(dir, "x"))
		return inside
	})
	if len(dirs) == 0 {
		if known != nil && known.Root != root { // captured by now
			_ = c.updateSession(ctx, func(s *account.SessionState) { s.Outside = nil })
		}
		return
	}
	_ = c.updateSession(ctx, func(s *account.SessionState) {
		if s.Outside == nil || s.Outside.Root != root {
			s.Outside = &account.OutsideWork{Agent: e.By.Agent, Session: e.By.Session, Root: root, Dirs: map[string]time.Time{}}
		}
		at := s.Outside.Dirs
		for _, dir := range dirs {
			at[dir] = e.Time.UTC()
		}
		for len(at) > maxOutside {
			oldest := ""
			for dir, t := range at {
				if oldest == "" || t.Before(at[oldest]) {
					oldest = dir
				}
			}
			delete(at, oldest)
		}
		c.session.Outside = s.Outside
	})
}

// Outsider is a session that works in a project and is captured in another one, or in none.
type Outsider struct {
	Agent, Session string
	Dir            string // in the project
	Root           string // of the project that has its checkpoints, "" for none
	Time           time.Time
}

// Outsiders are the sessions that worked in p lately and are captured elsewhere, the newest one first.
func Outsiders(p *project.Project) (out []Outsider) {
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, s := range account.Sessions(p.Env) {
		w := s.Outside
		if w == nil || w.Root == p.Root() {
			continue
		}
		var newest Outsider
		for dir, t := range w.Dirs {
			if p.Env.Time().Sub(t) < outsideTime && t.After(newest.Time) && isIn(p, dir, known) {
				newest = Outsider{Agent: w.Agent, Session: w.Session, Dir: dir, Root: w.Root, Time: t}
			}
		}
		if newest.Dir != "" {
			out = append(out, newest)
		}
	}
	slices.SortFunc(out, func(a, b Outsider) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Session, b.Session)
	})
	return out
}

// isIn reports whether p is the project of a directory.
func isIn(p *project.Project, dir string, known []account.KnownStore) bool {
	if _, inside := below(p, filepath.Join(dir, "x")); !inside {
		return false
	}
	at, err := discover(p.Env, dir, known)
	return err == nil && at.Root == p.Root()
}
