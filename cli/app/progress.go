package app

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
)

// meter is the progress line on stderr: what is done, how fast, how long it will
// take. It shows itself only when work takes longer than the delay.
type meter struct {
	start, drawn time.Time
	told         time.Time // when the engine reported last
	phase        string
	info         project.ProgressInfo
	shown        bool
	width        int
}

const (
	meterDelay = 300 * time.Millisecond
	meterEvery = 100 * time.Millisecond
	meterStale = time.Second // after that without a report the line tells how long it takes
)

// progress returns the function that the engine reports to; nil where there is no terminal to show it on.
func (o *Output) progress() project.Progress {
	if o.watched != nil {
		return o.watched
	}
	if !o.ErrTerm || o.dumb || o.Quiet {
		return nil
	}
	return func(p project.ProgressInfo) {
		o.Mu.Lock()
		defer o.Mu.Unlock()
		if o.full {
			return
		}
		now := o.Now()
		phase := p.Phase + " " + p.Unit
		if o.meter == nil || o.meter.phase != phase {
			o.meter.clear(o.Stderr)
			o.meter = &meter{start: now, phase: phase, width: widthOf(o.Stderr)}
		}
		o.meter.told, o.meter.info = now, p
		o.meter.draw(o.Stderr, now)
	}
}

// Working sees to it that a command which takes long has a line from the first moment on, and one
// that moves: before the engine reports, and where it does not, the line tells how long it takes.
// It ends with EndProgress, and with the first byte of an answer on a terminal.
func (o *Output) Working(command string) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if !o.ErrTerm || o.dumb || o.Quiet || o.beat != nil || o.full {
		return
	}
	done, tick := make(chan struct{}), time.NewTicker(meterEvery)
	o.beat = done
	if o.meter == nil {
		o.meter = &meter{start: o.Now(), width: widthOf(o.Stderr), info: project.ProgressInfo{Phase: command}}
	}
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				o.Mu.Lock()
				if o.beat == done && o.meter != nil && !o.full {
					o.meter.draw(o.Stderr, o.Now())
				}
				o.Mu.Unlock()
			}
		}
	}()
}

func (o *Output) EndProgress() {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if o.beat != nil {
		close(o.beat)
		o.beat = nil
	}
	o.meter.clear(o.Stderr)
	o.meter = nil
}

func (m *meter) draw(w io.Writer, now time.Time) {
	if now.Sub(m.start) < meterDelay || now.Sub(m.drawn) < meterEvery {
		return
	}
	m.drawn, m.shown = now, true
	line := progressLine(m.info, now.Sub(m.start))
	if spent := now.Sub(m.start).Round(time.Second); m.told.IsZero() {
		line += ": " + FormatTook(spent)
	} else if now.Sub(m.told) >= meterStale {
		line += ", " + FormatTook(spent)
	}
	io.WriteString(w, "\r\x1b[K"+screen.Clip(line, max(m.width-1, 20)))
}

func (m *meter) clear(w io.Writer) {
	if m == nil || !m.shown {
		return
	}
	m.shown = false
	io.WriteString(w, "\r\x1b[K")
}

// progressLine is "restore: 1200/79000 files, 18 MiB/1.3 GiB, 90 MiB/s, 14s left".
func progressLine(p project.ProgressInfo, spent time.Duration) string {
	var parts []string
	unit := p.Unit
	if unit == "" {
		unit = "file"
	}
	if p.TotalFiles > 0 {
		parts = append(parts, fmt.Sprintf("%d/%s", p.Files, Plural(p.TotalFiles, unit, unit+"s")))
	} else if p.Files > 0 {
		parts = append(parts, Plural(p.Files, unit, unit+"s"))
	}
	if p.TotalBytes > 0 {
		parts = append(parts, FormatSize(p.Bytes)+"/"+FormatSize(p.TotalBytes))
	} else if p.Bytes > 0 {
		parts = append(parts, FormatSize(p.Bytes))
	}
	sec := spent.Seconds()
	if p.Bytes > 0 && sec > 0 {
		parts = append(parts, FormatSize(int64(float64(p.Bytes)/sec))+"/s")
	}
	done, total := p.Bytes, p.TotalBytes
	if total == 0 {
		done, total = p.Files, p.TotalFiles
	}
	if done > 0 && total > done {
		left := time.Duration(float64(spent) * float64(total-done) / float64(done))
		parts = append(parts, FormatTook(left.Round(time.Second))+" left")
	}
	if len(parts) == 0 {
		return Escape(p.Phase)
	}
	return Escape(p.Phase) + ": " + strings.Join(parts, ", ")
}
