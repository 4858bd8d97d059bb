package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// linesPart measures what deals with lines: revert, blame, the hook of an edit, and the merge.
func (b *bench) linesPart() error {
	h, err := b.turns()
	if err != nil {
		return err
	}
	for _, part := range []func(*turnsMade) error{b.revertLine, b.blameLine, b.editHookLine} {
		if err := part(h); err != nil {
			return err
		}
	}
	return b.mergeLines()
}

// turnsMade is a project in which two sessions took turns, each of which edited all of its files.
type turnsMade struct {
	*project
	texts string // directory with each file's versions, for git
	files int
	last  int // the newest version
}

// The sessions: the first one took the odd versions.
var turnSessions = [2]string{"be0c4a00-lines-one", "be0c4a00-lines-two"}

func (h *turnsMade) file(f int) string { return filepath.Join(h.root, fmt.Sprintf("file-%02d", f)) }

func (h *turnsMade) version(f, v int) string {
	return filepath.Join(h.texts, fmt.Sprintf("file-%02d-%04d", f, v))
}

// call is a hook's payload about a tool call.
type call struct {
	payload
	PromptID string            `json:"prompt_id,omitempty"`
	Tool     string            `json:"tool_name,omitempty"`
	Input    map[string]string `json:"tool_input,omitempty"`
	Response map[string]string `json:"tool_response,omitempty"`
	ID       string            `json:"tool_use_id,omitempty"`
}

func (b *bench) callHook(p *project, session, event string, c call) (measure.Command, error) {
	c.payload = payload{Session: session, Cwd: p.root, Event: event, Prompt: c.Prompt}
	data, err := json.Marshal(c)
	cmd := b.rewindCommand(p, "hook", "claude")
	cmd.Stdin = string(data)
	return cmd, err
}

// turns makes the history, all of it through hooks: a prompt, a command that edits every file, the end of the turn.
func (b *bench) turns() (*turnsMade, error) {
	const lines = 1000
	h := &turnsMade{project: &project{name: "turns", root: filepath.Join(b.dir, "lines", "project")},
		texts: filepath.Join(b.dir, "lines", "versions"), files: 20, last: b.pick(100, 20) - 1}
	h.title = fmt.Sprintf("%d files of %s lines, %d versions", h.files, report.Count(lines), h.last+1)
	for _, d := range []string{h.root, h.texts} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	texts := workload.NewVersions(b.seed, h.files, lines)
	var stream bytes.Buffer // for git fast-import
	write := func(v int) error {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter bench <bench@localhost> %d +0000\ndata 1\nv\n", 1_700_000_000+v)
		for f, lines := range texts.Texts {
			text := strings.Join(lines, "")
			for _, name := range []string{h.file(f), h.version(f, v)} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					return err
				}
			}
			fmt.Fprintf(&stream, "M 644 inline file-%02d\ndata %d\n%s\n", f, len(text), text)
		}
		return nil
	}
	if err := write(0); err != nil {
		return nil, err
	}
	if err := b.ensureSaved(h.project); err != nil {
		return nil, err
	}
	for v := 1; v <= h.last; v++ {
		command := call{Tool: "Bash", Input: map[string]string{"command": "make all"}, ID: fmt.Sprintf("toolu_%06d", v)}
		for _, step := range []struct {
			event string
			call  call
		}{
			{"UserPromptSubmit", call{payload: payload{Prompt: fmt.Sprint("version ", v)}, PromptID: fmt.Sprintf("prompt-%06d", v)}},
			{"PreToolUse", command}, {"PostToolUse", command}, {"Stop", call{}},
		} {
			if step.event == "PostToolUse" {
				texts.Next()
				if err := write(v); err != nil {
					return nil, err
				}
			}
			c, err := b.callHook(h.project, turnSessions[(v+1)%2], step.event, step.call)
			if err == nil {
				err = b.do(c)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return h, os.WriteFile(filepath.Join(b.dir, "lines", "import"), stream.Bytes(), 0o644)
}

// revertLine takes one session's work back: every second version. git can only merge each of them the other way round.
func (b *bench) revertLine(h *turnsMade) error {
	scan := b.ours(h.project, "restore", "1", "--dry-run", "--quiet")
	scan.role, scan.Name, scan.calls = report.Floor, "rewind restore --dry-run", false
	ours := b.ours(h.project, "revert", "--session", turnSessions[0], "--dry-run", "--quiet")
	ours.calls = false
	subjects := []*subject{scan, ours}
	if b.has["git"] {
		var script strings.Builder
		merged := filepath.Join(b.dir, "lines", "merged")
		for f := range h.files {
			fmt.Fprintf(&script, "cp %s %s\n", h.version(f, h.last), merged)
			for v := (h.last-1)/2*2 + 1; v > 0; v -= 2 {
				fmt.Fprintf(&script, "git merge-file %s %s %s\n", merged, h.version(f, v), h.version(f, v-1))
			}
		}
		// A thousand calls are longer than an argument may be.
		file := filepath.Join(b.dir, "lines", "merge.sh")
		if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
			return err
		}
		subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git merge-file", Rounds: 3, Command: func(int) measure.Command {
			return measure.Command{Args: []string{"sh", "-e", file}}
		}}})
	}
	line, err := b.compare(comparison{what: "revert of one of two sessions", tree: h.title, rounds: b.pick(15, 3), subjects: subjects})
	if err != nil {
		return err
	}
	if floor := line.Find(report.Floor); floor != nil {
		budget(line, "≤ floor + 150 ms", floor.Median+150)
	}
	return nil
}

func (b *bench) blameLine(h *turnsMade) error {
	ours := b.ours(h.project, "blame", "file-00")
	ours.calls = false
	subjects := []*subject{ours}
	if b.has["git"] {
		repository := filepath.Join(b.dir, "lines", "git")
		script := fmt.Sprintf("git init -q %[1]s && git -C %[1]s symbolic-ref HEAD refs/heads/main && git -C %[1]s fast-import --quiet <%[2]s && git -C %[1]s reset -q --hard", repository, filepath.Join(b.dir, "lines", "import"))
		if err := b.do(measure.Command{Args: []string{"sh", "-ec", script}}); err != nil {
			return err
		}
		subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git blame", Command: func(int) measure.Command {
			return measure.Command{Args: []string{"git", "-C", repository, "blame", "file-00"}}
		}}})
	}
	line, err := b.compare(comparison{what: "blame of one file", tree: h.title, rounds: b.pick(21, 5), subjects: subjects})
	if err != nil {
		return err
	}
	budget(line, "≤ 60 ms", 60)
	return nil
}

// editHookLine is what an agent waits for behind each edit.
func (b *bench) editHookLine(h *turnsMade) error {
	rounds := b.pick(100, 10)
	session := turnSessions[1]
	var after measure.Command
	edit := func(round int) error {
		data, err := os.ReadFile(h.file(0))
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(data), "\n")
		was, is := lines[round*7%(len(lines)-1)], fmt.Sprintf("\treturn edited(%d)\n", round)
		c := call{Tool: "Edit", Input: map[string]string{"file_path": h.file(0), "old_string": was, "new_string": is}, ID: fmt.Sprintf("toolu_edit_%04d", round)}
		before, err := b.callHook(h.project, session, "PreToolUse", c)
		if err == nil {
			err = b.do(before)
		}
		if err == nil {
			err = os.WriteFile(h.file(0), []byte(strings.Replace(string(data), was, is, 1)), 0o644)
		}
		if err != nil {
			return err
		}
		after, err = b.callHook(h.project, session, "PostToolUse", c)
		return err
	}
	nothing := &subject{role: report.Floor, Turn: measure.Turn{Name: "a hook that does nothing", Command: func(int) measure.Command {
		return measure.Command{Args: []string{"cat"}, Stdin: after.Stdin}
	}}}
	var grown int64
	ours := &subject{role: report.Ours, Turn: measure.Turn{Name: "rewind hook", Command: func(int) measure.Command { return after }}}
	was, err := measure.Allocated(h.store())
	if err != nil {
		return err
	}
	line, err := b.compare(comparison{what: "hook after an edit", tree: h.title, rounds: rounds, each: edit, subjects: []*subject{nothing, ours},
		settle: func(line *report.Line) error {
			now, err := measure.Allocated(h.store())
			grown = (now - was) / int64(rounds)
			line.Subjects[1].Disk = grown
			line.Notes = append(line.Notes, "disk is what an edit took with the hook before it, the mean of all")
			return err
		}})
	if err != nil {
		return err
	}
	budget(line, "≤ floor + 7 ms", line.Subjects[0].Median+7)
	line.Budgets = append(line.Budgets, report.Budget{What: "≤ 1 KB on disk per edit", Got: float64(grown), Limit: 1000, Unit: "bytes"})
	return nil
}

// mergeLines merges texts that are hard to compare.
func (b *bench) mergeLines() error {
	for _, c := range []struct {
		what, tree, budget string
		texts              workload.Triple
		limit              report.Millis
	}{
		{"merge, both sides rewrote all", "10,000 lines", "≤ 100 ms", workload.Rewritten(10_000), 100},
		{"merge, the same lines again and again", "8 MiB", "≤ 1 s", workload.Repetitive(8 << 20), 1000},
	} {
		var names []string
		for side, text := range map[string]string{"ours": c.texts.Ours, "base": c.texts.Base, "theirs": c.texts.Theirs} {
			if err := os.WriteFile(filepath.Join(b.dir, "lines", side), []byte(text), 0o644); err != nil {
				return err
			}
		}
		for _, side := range []string{"ours", "base", "theirs"} {
			names = append(names, filepath.Join(b.dir, "lines", side))
		}
		subjects := []*subject{{role: report.Ours, Turn: measure.Turn{Name: "rewind's merge", Command: func(int) measure.Command {
			return measure.Command{Args: append([]string{b.program("mergeloop")}, names...)}
		}}}}
		if b.has["git"] {
			var conflicts []int // are the exit code
			for n := range 127 {
				conflicts = append(conflicts, n+1)
			}
			subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git merge-file", Command: func(int) measure.Command {
				return measure.Command{Args: append([]string{"git", "merge-file", "-p", "--diff3"}, names...), Exits: conflicts}
			}}})
		}
		line, err := b.compare(comparison{what: c.what, tree: c.tree, rounds: b.pick(21, 3), subjects: subjects})
		if err != nil {
			return err
		}
		budget(line, c.budget, c.limit)
		line.Detail = true
	}
	return nil
}
