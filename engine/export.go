package engine

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/klauspost/pgzip"

	"rewind/manifest"
)

// ExportOptions of rewind export.
type ExportOptions struct {
	Checkpoint manifest.Checkpoint
	Format     string // "tar.gz", "tar.zst", "tar"
	Paths      []string
}

// Compression is fixed, block sizes included, so that the same checkpoint gives
// the same bytes on every machine, whatever its number of cores.
const (
	gzipBlock   = 1 << 20
	exportAhead = 64 // files that are read ahead of the archive
)

// Export streams an archive of a checkpoint to w. Same checkpoint and options,
// same bytes. Every file is decoded and verified on the way; damage ends the
// export with an error, never with wrong bytes.
func (p *Project) Export(ctx context.Context, w io.Writer, o ExportOptions) error {
	chosen, err := selectPaths(o.Paths)
	if err != nil {
		return err
	}
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	for _, path := range o.Paths {
		if hasGlob(path) {
			continue
		}
		if _, err := p.entry(o.Checkpoint.Root, path); err != nil {
			return p.classify(err)
		}
	}
	out, err := compressor(w, o.Format)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	err = p.archive(ctx, archive, o.Checkpoint, chosen)
	if err == nil {
		err = archive.Close()
	}
	if cerr := out.Close(); err == nil || cerr != nil && errors.Is(err, io.ErrClosedPipe) {
		err = cerr
	}
	return p.classify(err)
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

// archive writes the entries in path order. Content is read ahead by several
// goroutines, so that decoding keeps up with compression.
func (p *Project) archive(ctx context.Context, archive *tar.Writer, c manifest.Checkpoint, chosen selection) error {
	ctx, cancel := context.WithCancel(ctx)
	type item struct {
		path string
		e    manifest.Entry
		data chan prefetched // nil where there is nothing to read ahead
	}
	queue := make(chan item, exportAhead)
	walked := make(chan error, 1)
	slots := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	go func() {
		defer close(queue)
		walked <- manifest.Walk(p.loadDir, c.Root, func(path string, e manifest.Entry) error {
			if !chosen.match(path) {
				return nil
			}
			it := item{path: path, e: e}
			if e.Kind == manifest.File {
				it.data = make(chan prefetched, 1)
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return ctx.Err()
				}
				go func() {
					data, err := p.readObject(e.ID)
					it.data <- prefetched{data, err}
					<-slots
				}()
			}
			select {
			case queue <- it:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	// The walk ends before we return: it must not read from a store that is being closed.
	defer func() {
		cancel()
		for it := range queue {
			if it.data != nil {
				<-it.data
			}
		}
	}()
	mtime := c.Time.Truncate(time.Second)
	var done ProgressInfo
	done.Phase, done.TotalFiles, done.TotalBytes = "export", int64(c.Files), int64(c.Bytes)
	for it := range queue {
		if err := p.archiveEntry(archive, it.path, it.e, mtime, it.data); err != nil {
			return fmt.Errorf("export %s: %w", quotePath(it.path), err)
		}
		done.Files, done.Bytes = done.Files+1, done.Bytes+int64(it.e.Size)
		if p.progress != nil && done.Files%64 == 0 {
			p.progress(done)
		}
	}
	return <-walked
}

type prefetched struct {
	data []byte
	err  error
}

// archiveEntry writes one header and its content. Owners are left out: a
// checkpoint does not hold them.
func (p *Project) archiveEntry(archive *tar.Writer, path string, e manifest.Entry, mtime time.Time, ahead chan prefetched) error {
	h := &tar.Header{Name: path, Mode: int64(e.Mode), ModTime: mtime, Format: tar.FormatPAX}
	switch e.Kind {
	case manifest.Subdir:
		h.Typeflag, h.Name = tar.TypeDir, path+"/"
		return writeHeader(archive, h)
	case manifest.Symlink:
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.Target, 0o777
		return writeHeader(archive, h)
	}
	h.Typeflag, h.Size = tar.TypeReg, int64(e.Size)
	if ahead != nil {
		got := <-ahead
		if got.err != nil {
			return got.err
		}
		h.Size = int64(len(got.data))
		if err := writeHeader(archive, h); err != nil {
			return err
		}
		_, err := archive.Write(got.data)
		return err
	}
	r, err := p.openContent(e)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := writeHeader(archive, h); err != nil {
		return err
	}
	_, err = io.Copy(archive, r)
	return err
}
