package port

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/pgzip"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// ExportOptions of rewind export.
type ExportOptions struct {
	Checkpoint manifest.Checkpoint
	Format     string // "tar.gz", "tar.zst", "tar"
	Paths      []string
	// WithPrecious takes files along that are marked as precious. Without it they
	// are left out, and directories that hold nothing else; LeftOut, which may be
	// nil, is then called for each, from another goroutine.
	WithPrecious bool
	LeftOut      func(path string)
	// Taken, which may be nil, is called for each file that goes into the archive, from another goroutine.
	Taken func(path string)
}

// Compression is fixed, block sizes included, so that the same checkpoint gives
// the same bytes on every machine, whatever its number of cores.
const (
	gzipBlock   = 1 << 20
	exportAhead = 16 // objects, of 2 MiB at most, that are read ahead of the archive
)

// Export streams an archive of a checkpoint to w. Same checkpoint and options,
// same bytes. Every file is decoded and verified on the way; damage ends the
// export with an error, never with wrong bytes.
func Export(ctx context.Context, p *project.Project, w io.Writer, o ExportOptions) error {
	chosen, release, err := choose(ctx, p, &o.Checkpoint, o.Paths)
	if err != nil {
		return err
	}
	defer release()
	if len(o.Paths) > 0 {
		if err := holdsSome(p, o, chosen); err != nil {
			return p.Classify(err)
		}
	}
	out, err := compressor(w, o.Format)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	err = writeArchive(ctx, p, archive, o, chosen)
	if err == nil {
		err = archive.Close()
	}
	if cerr := out.Close(); err == nil || cerr != nil && errors.Is(err, io.ErrClosedPipe) {
		err = cerr
	}
	return p.Classify(err)
}

// choose gives which paths of a checkpoint are to be read, and keeps what it has until release. The checkpoint becomes what the
// log has now. A path that it does not have is refused; a glob may match nothing.
func choose(ctx context.Context, p *project.Project, c *manifest.Checkpoint, paths []string) (chosen pathspec.Selection, release func(), err error) {
	if chosen, err = pathspec.Select(paths); err != nil {
		return chosen, nil, err
	}
	if release, err = p.Use(ctx); err != nil {
		return chosen, nil, err
	}
	*c, err = p.Current(ctx, *c)
	for _, pattern := range paths {
		if path, plain := pathspec.PlainPath(pattern); plain && err == nil {
			_, err = inspect.EntryIn(p, c.Root, path)
			err = p.Classify(err)
		}
	}
	if err != nil {
		release()
	}
	return chosen, release, err
}

func compressor(w io.Writer, format string) (io.WriteCloser, error) {
	switch format {
	case "tar":
		return nopCloser{w}, nil
	case "tar.gz":
		z, err := pgzip.NewWriterLevel(w, 6)
		if err != nil {
			return nil, err
		}
		// The number of blocks in flight does not show in the output.
		return z, z.SetConcurrency(gzipBlock, 2*runtime.GOMAXPROCS(0))
	case "tar.zst":
		return newFrameWriter(w)
	}
	return nil, fmt.Errorf("archive format %q is none of tar.gz, tar.zst, tar", format)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// piece is a header of an archive, an object that follows it, or both.
type piece struct {
	path string
	e    *manifest.Entry // nil: more of the entry before
	id   oid.ID
	data chan prefetched // nil where there is nothing to read
}

type prefetched struct {
	data []byte
	err  error
}

// writeArchive writes the entries in path order. Objects are read ahead by several
// goroutines, so that decoding keeps up with compression.
func writeArchive(ctx context.Context, p *project.Project, archive *tar.Writer, o ExportOptions, chosen pathspec.Selection) error {
	ctx, cancel := context.WithCancel(ctx)
	queue := make(chan piece, exportAhead)
	wanted := make(chan piece)
	walked := make(chan error, 1)
	send := func(to chan<- piece, it piece) error {
		select {
		case to <- it:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// A piece is asked for before it is queued: who finds it in the queue gets its data.
	enqueue := func(it piece) error {
		if it.id != (oid.ID{}) {
			it.data = make(chan prefetched, 1)
			if err := send(wanted, it); err != nil {
				return err
			}
		}
		return send(queue, it)
	}
	go func() {
		defer close(queue)
		defer close(wanted)
		walked <- exported(p, o, chosen, o.LeftOut, func(path string, e manifest.Entry) error {
			if o.Taken != nil && e.Kind != manifest.Subdir {
				o.Taken(path)
			}
			return pieces(p, path, e, enqueue)
		})
	}()
	var spare sync.Pool // of *[]byte: what was written
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for it := range wanted {
				buf, _ := spare.Get().(*[]byte)
				if buf == nil {
					buf = new([]byte)
				}
				data, err := p.Store.Get((*buf)[:0], it.id)
				it.data <- prefetched{data, err}
			}
		})
	}
	// The walk and the readers end before we return: they must not read from a
	// store that is being closed.
	defer func() {
		cancel()
		for range queue {
		}
		readers.Wait()
	}()
	mtime := o.Checkpoint.Time.Truncate(time.Second)
	progress, err := exportProgress(ctx, p, o, chosen)
	if err != nil {
		return err
	}
	for it := range queue {
		var got prefetched
		if it.data != nil {
			if got = <-it.data; got.err != nil {
				return fmt.Errorf("export %s: %w", patch.Quote(it.path), got.err)
			}
		}
		if err := writePiece(archive, mtime, it, got.data); err != nil {
			return fmt.Errorf("export %s: %w", patch.Quote(it.path), err)
		}
		if it.data != nil {
			spare.Put(&got.data)
		}
		if progress != nil {
			progress(it.e, len(got.data))
		}
	}
	return <-walked
}

// pieces yields what an entry is made of.
func pieces(p *project.Project, path string, e manifest.Entry, yield func(piece) error) error {
	switch e.Kind {
	case manifest.File:
		return yield(piece{path: path, e: &e, id: e.ID})
	case manifest.Chunked:
		data, err := p.ReadObject(e.ID)
		if err != nil {
			return fmt.Errorf("export %s: %w", patch.Quote(path), err)
		}
		list, err := cas.ParseList(data)
		if err != nil {
			return fmt.Errorf("export %s: %w", patch.Quote(path), err)
		}
		if err := yield(piece{path: path, e: &e}); err != nil {
			return err
		}
		for _, k := range list.Chunks {
			if err := yield(piece{path: path, id: k.ID}); err != nil {
				return err
			}
		}
		return nil
	}
	return yield(piece{path: path, e: &e})
}

// exportProgress counts what an archive of the chosen paths holds, and returns the function that reports each piece of it: its
// entry, if it begins one, and the bytes that were written; nil without p.Progress. Directories do not count.
func exportProgress(ctx context.Context, p *project.Project, o ExportOptions, chosen pathspec.Selection) (func(e *manifest.Entry, written int), error) {
	if p.Progress == nil {
		return nil, nil
	}
	now := project.ProgressInfo{Phase: "export"}
	err := exported(p, o, chosen, nil, func(_ string, e manifest.Entry) error {
		if e.Kind != manifest.Subdir {
			now.TotalFiles, now.TotalBytes = now.TotalFiles+1, now.TotalBytes+int64(e.Size)
			if now.TotalFiles%1024 == 0 {
				p.Progress(project.ProgressInfo{Phase: "count", Files: now.TotalFiles})
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return func(e *manifest.Entry, written int) {
		now.Bytes += int64(written)
		if e != nil && e.Kind != manifest.Subdir {
			now.Files++
		}
		p.Progress(now)
	}, nil
}
