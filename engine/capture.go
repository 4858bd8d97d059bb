package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rewind/cas"
	"rewind/engine/scan"
	"rewind/manifest"
)

// captureOptions of one scan into a batch.
type captureOptions struct {
	noIgnore bool
	rehash   bool
	late     time.Time
	moment   time.Time // zero: now
	// changed, if not nil, names the only paths that may differ from the tree
	// from, which was captured before. It saves looking at all others.
	changed []string
	from    manifest.ID
	// first is called before the tree is looked at, once the batch is there.
	first func(*captured) error
}

// captured is a scanned tree whose new objects lie in a transaction that is not
// committed yet. The caller holds the users lock from before capture until
// commit or discard.
type captured struct {
	p          *Project
	tx         *Tx
	scan       *scan.Result
	moment     time.Time
	generation uint64
	problems   []Problem
	rules      []byte // encoded rules of this capture
	git        gitPlace
	edited     *manifest.ID // the tree where it is not as it was scanned, see override
}

// gitPlace is where git's HEAD was.
type gitPlace struct{ head, branch string }

func (p *Project) headFile() string { return filepath.Join(p.place.store, headName) }

// capture scans the working tree against the head and stages what is new.
func (p *Project) capture(ctx context.Context, o captureOptions) (*captured, error) {
	rs, err := await(ctx, func() (ruleset, error) { return p.rules(o.noIgnore) })
	if err != nil {
		return nil, err
	}
	c := &captured{p: p, problems: rs.problems, rules: rs.rules.Encode()}
	if c.generation, err = p.store.Generation(); err != nil {
		return nil, err
	}
	head, err := p.head(c.generation)
	if err != nil {
		return nil, err
	}
	if rs.hasRepo {
		// HEAD is a label of the checkpoint, not part of it.
		c.git.head, c.git.branch, _ = rs.repo.Head()
	}
	if c.moment = o.moment; c.moment.IsZero() {
		if c.moment, err = p.moment(); err != nil {
			return nil, err
		}
	}
	c.tx = p.begin()
	if o.first != nil {
		if err := o.first(c); err != nil {
			return nil, errors.Join(err, c.discard())
		}
	}
	options := scan.Options{
		Root: p.place.root, Rules: rs.rules, Head: head, Sink: c.tx, Moment: c.moment,
		Workers: c.tx.Workers(), MaxFileSize: p.settings.MaxFileSize, Rehash: o.rehash, Late: o.late,
		Unsynced: p.unsynced(head, c.moment),
	}
	if head.Root() == o.from { // else the head is of another moment
		options.Within = o.changed
	}
	if p.progress != nil {
		options.Progress = func(files, bytes int64) {
			p.progress(ProgressInfo{Phase: "scan", Files: files, Bytes: bytes})
		}
	}
	c.scan, err = scan.Run(ctx, options)
	if err == nil {
		err = c.tx.Flush()
	}
	if err != nil {
		return nil, errors.Join(p.classify(err), c.discard())
	}
	c.problems = append(c.problems, rs.late()...)
	for _, problem := range c.scan.Problems {
		c.problems = append(c.problems, Problem(problem))
	}
	return c, nil
}

// await is for what reads files elsewhere, in a home across a network, say, and holds nothing:
// when ctx ends first, it is left to itself.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// root is the manifest of the tree as captured.
func (c *captured) root() manifest.ID {
	if c.edited != nil {
		return *c.edited
	}
	return c.scan.Root
}

func (c *captured) discard() error { return c.tx.Discard() }

// head loads the stat cache if the store still stands behind it.
func (p *Project) head(generation uint64) (*scan.Head, error) {
	head, err := scan.LoadHead(p.headFile())
	if err != nil || head == nil {
		return nil, err
	}
	s := readStamp(head.Stamp())
	if s.generation != generation {
		return nil, nil
	}
	holds, err := p.store.Holds(s.at)
	if err != nil || !holds {
		return nil, err
	}
	return head, nil
}

// moment is the present on the clock of the project's file system: what a file
// that is changed now would get as its change time.
func (p *Project) moment() (time.Time, error) {
	now := p.env.now()
	if p.readOnly != nil || p.place.mode == GlobalMode {
		return now, nil // the same kernel's clock; local file systems use no other
	}
	file := filepath.Join(p.place.store, tmpName, "clock")
	err := os.Chtimes(file, now, now)
	if errors.Is(err, os.ErrNotExist) {
		if err = writeCache(file, nil, p.owner); err == nil {
			err = os.Chtimes(file, now, now)
		}
	}
	if err != nil {
		return now, fmt.Errorf("read the file system's clock: %w", err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		return now, err
	}
	ctime, _ := changeTime(info)
	return time.Unix(0, ctime), nil
}

// publish writes the head that follows from the capture. The caller holds the
// append lock, and at is durable.
func (c *captured) publish(at cas.Position) error {
	generation, err := c.p.store.Generation()
	if err != nil || generation != c.generation {
		return err // a gc came between: the head would name what it may have dropped
	}
	return c.scan.Publish(c.p.headFile(), stamp{generation, at, c.moment}.encode(), c.p.owner)
}

// writeCache writes a file that may be lost at any time: no fsync.
func writeCache(file string, data []byte, owner func(string) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && owner != nil {
		err = owner(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}
