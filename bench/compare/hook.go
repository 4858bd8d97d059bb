package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"rewind/bench/measure"
	"rewind/bench/report"
	"rewind/bench/workload"
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

// unchangedHook is the hook at the end of a turn that changed nothing: it looks
// at everything and writes nothing.
func (b *bench) unchangedHook(p *project) (*subject, error) {
	if !b.hooks() {
		b.note("this rewind has no hook command: save stands for it")
		return nil, nil
	}
	// A session stays with the project of its first hook: each tree has its own.
	session := "5e55-" + p.name
	c, err := b.hookCommand(p, payload{Session: session, Transcript: filepath.Join(b.dir, "home", ".claude", "projects", p.name, session+".jsonl"), Event: "Stop"})
	return &subject{role: report.Ours, calls: true, Turn: measure.Turn{Name: "rewind hook", Command: func(int) measure.Command { return c }}}, err
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
	file := filepath.Join(b.dir, "home", ".claude", "projects", "made", t.Session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
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
		lines, err := t.Next()
		if err != nil {
			return err
		}
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		if _, err := f.Write(lines); err != nil {
			f.Close() // the write's error is the one to tell
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
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
