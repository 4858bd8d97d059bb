package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of Run.
type Options struct {
	Matcher *Matcher
	Paths   []string // patterns of package pathspec; empty: all

	// WithPrecious gives the text of lines of files that are marked as precious too.
	WithPrecious bool
}

// Span is a line of a file, from the checkpoint in which it appeared to the one in which it was gone.
type Span struct {
	Path     string
	Precious bool   // the file is marked, or was
	Hidden   bool   // and so Text is not given
	Line     int    // number, where it appeared, from 1
	Text     string // of the line, without its end; of a long one, what is around the match
	Clipped  bool   // Text is a part of the line
	// Start and End are the match in Text, as it was where the line appeared.
	Start, End int

	Appeared *project.Listed // nil: in the working tree, and in no checkpoint
	Oldest   bool            // Appeared is the oldest checkpoint: the line may have been there before
	Vanished *project.Listed // nil: not in a checkpoint
	Last     *project.Listed // the newest checkpoint that has it; nil: none
	Now      bool            // the working tree has it
}

// Summary is what Run did.
type Summary struct {
	Checkpoints, Paths, Contents int
	Bytes                        int64
	Spans                        int
	Clipped                      []string  // files in which more lines match than are distinguished
	Problems                     []Problem // what could not be read, and was passed over
}

// Run searches all checkpoints, and the working tree, and visits what it found in the order of the paths. An error of visit ends it,
// and is returned. What is damaged is in the summary. Error: *NoPathError for a pattern of
// Paths that nothing matches.
func Run(ctx context.Context, p *project.Project, o Options, visit func(Span) error) (*Summary, error) {
	chosen, err := pathspec.Select(o.Paths)
	if err != nil {
		return nil, err
	}
	// Until the end gc waits with what is going to be read.
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sum := &Summary{}
	err = p.Query(ctx, func(db *manifest.DB) error {
		g := newGatherer(ctx, p, db, chosen)
		if err := g.checkpoints(); err != nil {
			return err
		}
		now, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
		if err != nil {
			return err
		}
		err = func() error {
			var newest oid.ID
			if n := len(g.states); n > 0 {
				newest = g.states[n-1].root
			}
			err := manifest.Diff(now.Tx.Load, newest, now.Root(), func(c manifest.Change) error {
				g.add(uint32(len(g.states)), c, true)
				return ctx.Err()
			})
			if project.IsDamage(err) {
				g.problems = append(g.problems, Problem{Err: err})
			} else if err != nil {
				return err
			}
			t := g.done()
			if err := matchedAll(db, o.Paths, t.paths); err != nil {
				return err
			}
			stored := p.Store.NewReader(p.Store.Get)
			r := &runner{ctx: ctx, t: t, m: o.Matcher, open: o.WithPrecious, sum: sum, visit: visit, listed: (&lister{db: db, t: t}).get,
				get: func(c content) source {
					if !c.staged {
						return stored.View
					}
					return func(id oid.ID) ([]byte, error) { return now.Tx.Get(nil, id) }
				}}
			r.progress = p.Counting("search", "content")
			err = r.run()
			cancel() // whoever still reads stops before the transaction goes
			r.workers.Wait()
			sum.Problems = t.problems
			sum.Checkpoints, sum.Paths, sum.Contents = len(t.states), len(t.paths), len(t.contents)-1
			return err
		}()
		return errors.Join(err, now.Discard())
	})
	return sum, err
}

// matchedAll refuses patterns that no path ever matched: none of the files, and no link or directory.
func matchedAll(db *manifest.DB, patterns, paths []string) error {
	for _, pattern := range patterns {
		one, err := pathspec.Select([]string{pattern})
		if err != nil {
			return err
		}
		found := one.All()
		for i := 0; i < len(paths) && !found; i++ {
			found = one.Match(paths[i])
		}
		if !found {
			for path, err := range db.Paths("") {
				if err != nil {
					return err
				}
				if found = one.Match(path); found {
					break
				}
			}
		}
		if !found {
			path, _ := pathspec.PlainPath(pattern)
			return &project.NoPathError{Path: path}
		}
	}
	return nil
}

// lister gives the checkpoints of the spans, each read once.
type lister struct {
	db    *manifest.DB
	t     *timeline
	known map[uint32]*project.Listed
}

// get is nil for the working tree.
func (l *lister) get(state uint32) (*project.Listed, error) {
	if int(state) >= len(l.t.states) {
		return nil, nil
	}
	if c, ok := l.known[state]; ok {
		return c, nil
	}
	seq := l.t.states[state].seq
	c, err := project.NewestUpTo(l.db, seq)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, fmt.Errorf("checkpoint %d is not in the log", seq)
	case l.known == nil:
		l.known = map[uint32]*project.Listed{}
	}
	l.known[state] = c
	return c, nil
}
