package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// payload is what an agent gives to its hooks.
type payload struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Prompt     string `json:"prompt,omitempty"`
}

// hookCommand is the line that an agent runs, with its payload.
func (b *bench) hookCommand(p *project, l payload) (measure.Command, error) {
	l.Cwd = p.root
	data, err := json.Marshal(l)
	c := b.rewindCommand(p, "hook", "claude")
	c.Stdin = string(data)
	return c, err
}

// hooks says whether this rewind has the command.
func (b *bench) hooks() bool {
	return b.do(measure.Command{Args: []string{b.rewind, "hook", "--help"}}) == nil
}

// transcriptFile is where the agent keeps a session's conversation.
func (b *bench) transcriptFile(p *project, session string) string {
	return filepath.Join(b.dir, "home", ".claude", "projects", p.name, session+".jsonl")
}

// unchangedHook is the hook at the end of a turn that changed nothing: it looks
// at everything and writes nothing.
func (b *bench) unchangedHook(p *project) (*subject, error) {
	if !b.hooks() {
		b.note("this rewind has no hook command: save stands for it")
		return nil, nil
	}
	// A session stays with the project of its first hook: each tree has its own.
	session := "5e55-" + p.name
	c, err := b.hookCommand(p, payload{Session: session, Transcript: b.transcriptFile(p, session), Event: "Stop"})
	return &subject{role: report.Ours, calls: true, Turn: measure.Turn{Name: "rewind hook", Command: func(int) measure.Command { return c }}}, err
}

// hookParts calls the hook at the end of unchanged turns many times, beside a long
// conversation: what people wait for is the slowest of a hundred.
func (b *bench) hookParts() error {
	names := []string{"goroot", "kernel"}
	if b.short {
		names = names[:1]
	}
	return b.forTrees(names, func(p *project) error {
		if err := b.ensureSaved(p); err != nil {
			return err
		}
		hook, err := b.unchangedHook(p)
		if hook == nil || err != nil {
			return err
		}
		size := b.pick(100_000_000, 5_000_000)
		t := workload.NewTranscript(b.seed, p.root, size/100_000, size)
		t.Session = "5e55-" + p.name
		if err := writeTranscript(b.transcriptFile(p, t.Session), t, size/100_000); err != nil {
			return err
		}
		for range 2 { // the first one captures the conversation
			if err := b.do(hook.Command(0)); err != nil {
				return err
			}
		}
		walk := b.rawWalk(p)
		walk.calls, hook.calls = false, false
		line, err := b.compare(comparison{what: "hook, nothing changed, beside a transcript of " + report.Bytes(int64(size)), tree: p.title,
			rounds: b.pick(200, 25), subjects: []*subject{walk, hook}})
		if err != nil {
			return err
		}
		budget(line, "≤ 1.2 × floor + 5 ms", overFloor(line, 1.2, 5))
		if err := b.watchedHook(p, hook.Command); err != nil {
			return err
		}
		return os.Remove(b.transcriptFile(p, t.Session))
	})
}

// watchedHook is the same hook while rewind watch runs, beside the start of a process and beside a look at everything.
func (b *bench) watchedHook(p *project, command func(int) measure.Command) error {
	cmd := exec.CommandContext(b.ctx, b.rewind, "watch", "--min-interval", "1h")
	cmd.Dir, cmd.Env = p.root, b.run.Env
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	time.Sleep(3 * time.Second) // its first look
	version := b.rewindCommand(p, "--version")
	start := &subject{role: report.Floor, Turn: measure.Turn{Name: "start of the process", Command: func(int) measure.Command { return version }}}
	hook := &subject{role: report.Ours, Turn: measure.Turn{Name: "rewind hook", Command: command}}
	walk := b.rawWalk(p)
	walk.role, walk.calls = report.Peer, false
	line, err := b.compare(comparison{what: "hook, nothing changed, beside rewind watch", tree: p.title, rounds: b.pick(200, 25), subjects: []*subject{start, hook, walk}})
	if err != nil {
		return err
	}
	if ours := line.Find(report.Ours); ours != nil && ours.P99 > 0 {
		line.Budgets = append(line.Budgets, report.Budget{What: "p99 ≤ floor + 5 ms", Got: float64(ours.P99), Limit: float64(overFloor(line, 1, 5)), Unit: "ms"})
	}
	return nil
}

// writeTranscript adds turns to a transcript's file.
func writeTranscript(file string, t *workload.Transcript, turns int) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	for range turns {
		lines, err := t.Next()
		if err == nil {
			_, err = f.Write(lines)
		}
		if err != nil {
			f.Close() // the first error is the one to tell
			return err
		}
	}
	return f.Close()
}

// transcriptPart lets a conversation grow, with a hook at each prompt.
func (b *bench) transcriptPart() error {
	turns, size := b.pick(500, 50), b.pick(27_000_000, 2_700_000)
	if !b.hooks() {
		b.note("transcripts are captured by the hook command, which this rewind does not have: no numbers")
		return nil
	}
	p, err := b.tree("made10k")
	if err != nil {
		return err
	}
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	t := workload.NewTranscript(b.seed, p.root, turns, size)
	file := b.transcriptFile(p, t.Session)
	if err := b.do(b.rewindCommand(p, "save", "--quiet")); err != nil { // what the parts before left behind
		return err
	}
	objects := filepath.Join(p.store(), "objects") // not the database, which a detached process may make meanwhile
	before, err := measure.Allocated(objects)
	if err != nil {
		return err
	}
	hook := &subject{role: report.Ours, Turn: measure.Turn{Name: "rewind hook"}}
	var next measure.Command
	hook.Command = func(int) measure.Command { return next }
	grow := func(round int) error {
		if err := writeTranscript(file, t, 1); err != nil {
			return err
		}
		var err error
		next, err = b.hookCommand(p, payload{Session: t.Session, Transcript: file, Event: "UserPromptSubmit", Prompt: t.Prompt(round + 2)})
		return err
	}
	line, err := b.compare(comparison{what: "prompt hook while the transcript grows", tree: report.Bytes(int64(size)) + " in " + report.Count(turns) + " turns",
		rounds: turns, each: grow, subjects: []*subject{b.rawWalk(p), hook},
		settle: func(l *report.Line) error {
			after, err := measure.Allocated(objects)
			l.Subjects[1].Disk = after - before
			l.Budgets = append(l.Budgets, report.Budget{What: "store < 8 MB per 27 MB", Got: float64(after - before), Limit: 8e6 * float64(size) / 27e6, Unit: "bytes"})
			return err
		}})
	if err != nil {
		return err
	}
	points := make([][2]float64, len(hook.Times))
	for i, d := range hook.Times {
		points[i] = [2]float64{float64(i), float64(report.ToMillis(d))}
	}
	b.out.Curves = append(b.out.Curves, &report.Curve{Name: "transcript-time", Title: "A growing transcript: each prompt's hook", X: "turn", Y: "ms",
		Series: []report.Series{{Name: "rewind hook", Points: points}}})
	line.Notes = append(line.Notes, "disk is what the packs grew by")
	return nil
}
