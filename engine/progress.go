package engine

import (
	"context"

	"rewind/manifest"
)

// counting tells how many of some items are done; nil where nobody wants to know.
func (p *Project) counting(phase, unit string) func(done, total int) {
	if p.progress == nil {
		return nil
	}
	return func(done, total int) {
		p.progress(ProgressInfo{Phase: phase, Unit: unit, Files: int64(done), TotalFiles: int64(total)})
	}
}

// exportProgress counts what an archive of the chosen paths holds, and returns what
// is told of each piece of it: its entry, if it begins one, and the bytes that were
// written. It is nil where nobody wants to know. A directory is none of its own:
// its size is that of the files below.
func (p *Project) exportProgress(ctx context.Context, o ExportOptions, chosen selection) (func(e *manifest.Entry, written int), error) {
	if p.progress == nil {
		return nil, nil
	}
	now := ProgressInfo{Phase: "export"}
	err := p.exported(o, chosen, nil, func(_ string, e manifest.Entry) error {
		if e.Kind != manifest.Subdir {
			now.TotalFiles, now.TotalBytes = now.TotalFiles+1, now.TotalBytes+int64(e.Size)
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
		p.progress(now)
	}, nil
}
