package hookio

import (
	"path"
	"slices"
	"strings"
)

// toolInput gathers what a tool call says about files and commands.
type toolInput struct {
	files     []string
	paths     []string // of members whose name sounds like a path
	command   string
	patch     string
	chars     int
	old, new  int // characters of the current edit
	whole     bool
	truncated bool

	hooksGo, hooksCome, hooksOff bool // see Tool.Unhooks
}

func (d *decoder) toolInput() {
	switch d.peek() {
	case '"': // JSON in a string, or a patch
		t, ok := d.text(maxPatchBytes)
		if !ok {
			return
		}
		d.input.truncated = d.input.truncated || t.truncated
		if inner := newScanner(strings.NewReader(t.kept)); inner.peek() == '{' {
			inner.object(func(name string) { d.input.member(inner, name) })
			d.input.closeEdit()
			return
		}
		d.input.patch = t.kept
	default:
		d.object(func(name string) { d.input.member(d.scanner, name) })
		d.input.closeEdit()
	}
}

func (in *toolInput) closeEdit() {
	in.chars += max(in.old, in.new)
	in.old, in.new = 0, 0
}

// member reads one member of a tool's input.
func (in *toolInput) member(s *scanner, name string) {
	switch name {
	case "file_path", "filePath", "notebook_path", "target_file", "absolute_path":
		in.file(s, &in.files)
	case "path", "file", "filename", "paths", "files", "source", "destination", "src", "dest", "dst", "target", "from", "to", "old_path", "new_path", "directory", "dir", "uri", "output", "outputPath":
		in.file(s, &in.paths)
	case "command", "cmd", "script":
		in.commandLine(s)
	case "old_string", "old_str", "oldString", "old_text":
		in.old += in.going(s)
	case "new_string", "new_str", "newString", "new_text", "insert_text":
		in.new += in.coming(s)
	case "content", "file_text", "contents":
		in.whole = true
		in.new += in.coming(s)
	case "new_source":
		in.new += in.size(s)
	case "edits":
		s.array(func() {
			if s.object(func(name string) {
				switch name {
				case "old_string", "old_str", "old_text", "new_string", "new_str", "new_text", "file_path":
					in.member(s, name)
				default:
					s.skip()
				}
			}) {
				in.closeEdit()
			}
		})
	case "patch", "input", "diff", "patch_text", "patchText":
		if t, ok := s.text(maxPatchBytes); ok {
			in.patch, in.truncated = t.kept, in.truncated || t.truncated
		}
	default:
		if s.peek() == '"' && strings.HasSuffix(strings.ToLower(name), "path") {
			in.file(s, &in.paths)
			return
		}
		s.skip()
	}
}

// file reads a path, or a list of them.
func (in *toolInput) file(s *scanner, to *[]string) {
	one := func() {
		if len(*to) >= maxFiles {
			in.truncated = true
			s.skip()
			return
		}
		if t, ok := s.text(maxFieldBytes); ok {
			if t.truncated {
				in.truncated = true
				return
			}
			if t.kept != "" {
				*to = append(*to, t.kept)
			}
		}
	}
	if s.peek() == '[' {
		s.array(one)
		return
	}
	one()
}

// maxHooksText bounds what is looked at of an edit's text for our hooks: settings are smaller.
const maxHooksText = 256 << 10

// going reads a text that goes, and gives its size in characters.
func (in *toolInput) going(s *scanner) int {
	t, _ := s.text(maxHooksText)
	in.hooksGo = in.hooksGo || mentionsHooks(t.kept)
	return t.chars
}

// coming reads a text that comes, and gives its size in characters.
func (in *toolInput) coming(s *scanner) int {
	t, _ := s.text(maxHooksText)
	in.hooksCome = in.hooksCome || mentionsHooks(t.kept)
	in.hooksOff = in.hooksOff || strings.Contains(t.kept, "disableAllHooks")
	return t.chars
}

// mentionsHooks reports whether a text has a line that calls us.
func mentionsHooks(text string) bool {
	return strings.Contains(text, "rewind' hook ") || strings.Contains(text, "rewind hook ") || strings.Contains(text, "smart-checkpoint")
}

func (in *toolInput) size(s *scanner) int {
	t, _ := s.text(0)
	return t.chars
}

// commandLine reads a shell command: a string, or a list of arguments.
func (in *toolInput) commandLine(s *scanner) {
	if s.peek() != '[' {
		if t, ok := s.text(maxCommandBytes); ok {
			in.command, in.truncated = t.kept, in.truncated || t.truncated
		}
		return
	}
	var args []string
	room := maxCommandBytes
	s.array(func() {
		t, ok := s.text(room)
		if !ok {
			return
		}
		in.truncated = in.truncated || t.truncated || len(args) >= maxFiles
		if room -= len(t.kept); len(args) < maxFiles {
			args = append(args, t.kept)
		}
	})
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = Quote(a)
	}
	in.command = strings.Join(quoted, " ")
}

// finishTool classifies the tool and makes its files absolute.
func (d *decoder) finishTool() {
	e, in := &d.event, &d.input
	in.closeEdit() // of what stands beside the rest
	t := &e.Tool
	if t.Class == NoTool && (e.Kind == PreTool || e.Kind == PostTool) {
		t.Class = classOf(e.Agent, t.Name)
	}
	if t.Class == NoTool {
		*t = Tool{}
		return
	}
	t.ChangedChars, t.WholeFile, t.Truncated = in.chars, in.whole, in.truncated
	t.Unhooks, t.CallsUs = in.hooksOff || in.hooksGo && !in.hooksCome, in.hooksCome
	t.Files = append(t.Files, in.files...)
	switch t.Class {
	case Shell:
		t.Command = in.command
	case Edit, OtherTool:
		if in.patch == "" && strings.Contains(in.command, "*** Begin Patch") { // a patch as its command
			in.patch = in.command
		}
		if in.patch != "" {
			p := parsePatch(in.patch)
			t.Files = append(t.Files, p.files...)
			t.ChangedChars += p.chars
			t.WholeFile = false
		}
		if t.Class == OtherTool {
			t.Command = in.command
		}
		t.Files = append(t.Files, in.paths...)
	case MCP:
		t.Command = in.command
		t.Files = append(t.Files, in.paths...)
	default:
		t.Files = append(t.Files, in.paths...)
	}
	if e.Cwd != "" {
		for i, f := range t.Files {
			if !isAbs(f) {
				t.Files[i] = strings.TrimSuffix(e.Cwd, "/") + "/" + path.Clean(f)
			}
		}
	}
}

// isAbs accepts the absolute paths of every system, since payloads may be from
// any, and URIs.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || strings.Contains(p, "://") ||
		len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// toolNames are an agent's tools by what they do, in lower case and without
// separators.
type toolNames struct{ edit, shell, subagent, read []string }

// classOf is what a tool does, first by the agent's own list.
func classOf(agent Agent, name string) Class {
	if strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:") {
		return MCP
	}
	name = squash(name)
	if name == "" {
		return NoTool
	}
	for _, a := range ownFirst(agent) {
		switch t := &a.tools; {
		case slices.Contains(t.edit, name):
			return Edit
		case slices.Contains(t.shell, name):
			return Shell
		case slices.Contains(t.subagent, name):
			return Subagent
		case slices.Contains(t.read, name):
			return Read
		}
	}
	return OtherTool
}

type patch struct {
	files []string
	chars int
}

// parsePatch finds the files of an "*** Begin Patch" text, or of a unified
// diff, and the size of the change.
func parsePatch(text string) patch {
	var p patch
	var added, removed int
	add := func(f string) {
		if f = strings.TrimRight(f, "\r"); f != "" && f != "/dev/null" && len(p.files) < maxFiles {
			p.files = append(p.files, f)
		}
	}
	marked := strings.Contains(text, "*** Begin Patch")
	for line := range strings.SplitSeq(text, "\n") {
		if marked {
			if f, ok := cutPrefixes(line, "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "); ok {
				add(f)
				if strings.HasPrefix(line, "*** Delete") {
					removed += 1 << 10 // unknown, but a whole file
				}
				continue
			}
		} else if f, ok := cutPrefixes(line, "--- ", "+++ "); ok {
			f, _, _ = strings.Cut(f, "\t")
			add(strings.TrimPrefix(strings.TrimPrefix(f, "a/"), "b/"))
			continue
		}
		switch {
		case strings.HasPrefix(line, "+"):
			added += len(line) - 1
		case strings.HasPrefix(line, "-"):
			removed += len(line) - 1
		}
	}
	p.chars = max(added, removed)
	return p
}

func cutPrefixes(s string, prefixes ...string) (rest string, ok bool) {
	for _, p := range prefixes {
		if rest, ok = strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return "", false
}
