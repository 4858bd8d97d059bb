package app

import (
	"bytes"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		info  project.ProgressInfo
		spent time.Duration
		want  string
	}{
		{project.ProgressInfo{Phase: "scan", Files: 1200}, time.Second, "scan: 1200 files"},
		{project.ProgressInfo{Phase: "restore", Files: 10, TotalFiles: 100, Bytes: 10 << 20, TotalBytes: 100 << 20}, 2 * time.Second,
			"restore: 10/100 files, 10 MiB/100 MiB, 5.0 MiB/s, 18s left"},
		{project.ProgressInfo{Phase: "verify", Unit: "pack", Files: 1, TotalFiles: 3}, time.Second, "verify: 1/3 packs, 2s left"},
		{project.ProgressInfo{Phase: "write", Files: 100, TotalFiles: 100, Bytes: 5, TotalBytes: 5}, 0, "write: 100/100 files, 5 B/5 B"},
	} {
		if got := progressLine(c.info, c.spent); got != c.want {
			t.Errorf("%+v: %q, want %q", c.info, got, c.want)
		}
	}
}

// Short work shows nothing, long work one line that is gone before a message comes.
func TestMeter(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	var buf bytes.Buffer
	o := &Output{Stderr: &buf, ErrTerm: true, Now: func() time.Time { return now }}
	progress := o.progress()
	progress(project.ProgressInfo{Phase: "scan", Files: 1})
	now = now.Add(200 * time.Millisecond)
	progress(project.ProgressInfo{Phase: "scan", Files: 2})
	if buf.Len() != 0 {
		t.Errorf("after 200 ms: %q", buf.String())
	}
	now = now.Add(200 * time.Millisecond)
	progress(project.ProgressInfo{Phase: "scan", Files: 3})
	progress(project.ProgressInfo{Phase: "scan", Files: 4})
	o.Warn("careful")
	const want = "\r\x1b[Kscan: 3 files" + "\r\x1b[K" + "rewind: warning: careful\n"
	if buf.String() != want {
		t.Errorf("%q, want %q", buf.String(), want)
	}
	o.FullScreen(true)
	now = now.Add(time.Second)
	progress(project.ProgressInfo{Phase: "scan", Files: 5})
	now = now.Add(time.Second)
	progress(project.ProgressInfo{Phase: "scan", Files: 6})
	if buf.String() != want {
		t.Errorf("progress over the picker: %q", buf.String())
	}
	o.FullScreen(false)
	buf.Reset()
	o.Working("stats") // nothing is reported
	defer o.EndProgress()
	o.Mu.Lock()
	o.meter.draw(&buf, now.Add(100*time.Millisecond))
	o.meter.draw(&buf, now.Add(1400*time.Millisecond))
	o.Mu.Unlock()
	progress(project.ProgressInfo{Phase: "scan", Files: 7})
	o.Mu.Lock()
	o.meter.draw(&buf, now.Add(500*time.Millisecond))
	o.meter.draw(&buf, now.Add(2500*time.Millisecond))
	o.Mu.Unlock()
	if got, want := buf.String(), "\r\x1b[Kstats: 1s\r\x1b[K\r\x1b[Kscan: 7 files\r\x1b[Kscan: 7 files, 3s"; got != want {
		t.Errorf("a line that nothing is reported to: %q, want %q", got, want)
	}
	if (&Output{Stderr: &buf}).progress() != nil {
		t.Error("progress without a terminal")
	}
	if (&Output{Stderr: &buf, ErrTerm: true, dumb: true}).progress() != nil {
		t.Error("a line that moves, at a terminal that can only print lines")
	}
	if (&Output{Stderr: &buf, ErrTerm: true, Quiet: true}).progress() != nil {
		t.Error("progress with --quiet")
	}
}
