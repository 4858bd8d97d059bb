package hookio

import (
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// toolInput gathers what a tool call says about files and commands.
type toolInput struct {
	files     []string
	paths     []string // of members whose name sounds like a path
	command   string
	dirs      []string // in which the command is run
	patch     string
	chars     int
	old, new  int // characters of the current edit
	swap      swap
	rewrite   Rewrite
	whole     bool
	truncated bool
	lasting   bool // a command in the background
}

func (d *payloadDecoder) toolInput() {
	switch d.Peek() {
	case '"': // JSON in a string, or a patch
		t, ok := d.Text(maxPatchBytes)
		if !ok {
			return
		}
		d.input.truncated = d.input.truncated || t.Truncated
		if inner := jsonscan.Stream(strings.NewReader(t.Kept)); inner.Peek() == '{' {
			members(inner, func(name string) { d.input.member(inner, name) })
			d.input.closeEdit()
			return
		}
		d.input.patch = t.Kept
	default:
		members(d.Scanner, func(name string) { d.input.member(d.Scanner, name) })
		d.input.closeEdit()
	}
}

func (in *toolInput) closeEdit() {
	in.chars += max(in.old, in.new)
	in.rewrite.close(in.swap)
	in.old, in.new, in.swap = 0, 0, swap{}
}

// member reads one member of a tool's input.
func (in *toolInput) member(s *jsonscan.Scanner, name string) {
	switch name {
	case "file_path", "filePath", "notebook_path", "target_file", "absolute_path":
		in.file(s, &in.files)
	case "path", "file", "filename", "paths", "files", "source", "destination", "src", "dest", "dst", "target", "from", "to", "old_path", "new_path", "uri", "output", "outputPath":
		in.file(s, &in.paths)
	case "directory", "dir", "dir_path": // where a search looks, or a command is run
		before := len(in.paths)
		in.file(s, &in.paths)
		in.dirs = append(in.dirs, in.paths[before:]...)
	case "workdir", "working_directory", "workingDirectory", "cwd":
		in.file(s, &in.dirs)
	case "command", "cmd", "script":
		in.commandLine(s)
	case "old_string", "old_str", "oldString", "old_text", "oldText":
		in.old += in.text(s, &in.swap.old)
	case "new_string", "new_str", "newString", "new_text", "newText":
		in.new += in.text(s, &in.swap.new)
	case "replace_all", "replaceAll", "change_all", "allow_multiple":
		in.swap.all = s.IsTrue()
	case "insert_text":
		in.new += in.text(s, nil)
	case "content", "file_text", "contents":
		in.whole = true
		in.new += in.text(s, &in.rewrite.content)
	case "new_source":
		t, _ := s.Text(0)
		in.new += t.Chars
		in.rewrite.partly = true
	case "run_in_background", "is_background", "isBackground":
		in.lasting = in.lasting || s.IsTrue()
	case "edits":
		s.Elements(func() {
			if members(s, func(name string) {
				switch name {
				case "old_string", "old_str", "oldString", "old_text", "oldText", "new_string", "new_str", "newString", "new_text", "newText", "file_path", "replace_all", "replaceAll", "change_all":
					in.member(s, name)
				default:
					s.Skip()
				}
			}) {
				in.rewrite.partly = in.rewrite.partly || in.swap.old == nil
				in.closeEdit()
			}
		})
	case "patch", "input", "diff", "patch_text", "patchText":
		if t, ok := s.Text(maxPatchBytes); ok {
			in.patch, in.truncated = t.Kept, in.truncated || t.Truncated
		}
	default:
		if s.Peek() == '"' && strings.HasSuffix(strings.ToLower(name), "path") {
			in.file(s, &in.paths)
			return
		}
		s.Skip()
	}
}

// file reads a path, or a list of them.
func (in *toolInput) file(s *jsonscan.Scanner, to *[]string) {
	one := func() {
		if len(*to) >= maxFiles {
			in.truncated = true
			s.Skip()
			return
		}
		if t, ok := s.Text(maxFieldBytes); ok {
			if t.Truncated {
				in.truncated = true
				return
			}
			if t.Kept != "" {
				*to = append(*to, t.Kept)
			}
		}
	}
	if s.Peek() == '[' {
		s.Elements(one)
		return
	}
	one()
}

// maxEditText bounds what is kept of an edit's text.
const maxEditText = 256 << 10

// text reads a text of an edit, and gives its size in characters. to is where it belongs, nil where it is not known
// what the tool does with it.
func (in *toolInput) text(s *jsonscan.Scanner, to **string) int {
	t, ok := s.Text(maxEditText)
	if to == nil || *to != nil || !ok || t.Truncated {
		in.rewrite.partly = true
	} else {
		*to = &t.Kept
	}
	return t.Chars
}

// commandLine reads a shell command: a string, or a list of arguments.
func (in *toolInput) commandLine(s *jsonscan.Scanner) {
	if s.Peek() != '[' {
		if t, ok := s.Text(maxCommandBytes); ok {
			in.command, in.truncated = t.Kept, in.truncated || t.Truncated
		}
		return
	}
	var args []string
	room := maxCommandBytes
	s.Elements(func() {
		t, ok := s.Text(room)
		if !ok {
			return
		}
		in.truncated = in.truncated || t.Truncated || len(args) >= maxFiles
		if room -= len(t.Kept); len(args) < maxFiles {
			args = append(args, t.Kept)
		}
	})
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shell.Quote(a)
	}
	in.command = strings.Join(quoted, " ")
}

// finishTool classifies the tool and makes its files absolute.
func (d *payloadDecoder) finishTool() {
	e, in := &d.event, &d.input
	in.closeEdit() // of what is beside the rest
	t := &e.Tool
	if t.Class == NoTool && (e.Kind == PreTool || e.Kind == PostTool) {
		t.Class = classOf(e.Agent, t.Name)
	}
	if t.Class == NoTool {
		*t = Tool{}
		return
	}
	t.ChangedChars, t.WholeFile, t.Truncated = in.chars, in.whole, in.truncated
	t.Files = append(t.Files, in.files...)
	switch t.Class {
	case Shell:
		t.Command = in.command
		t.Background = in.lasting || goesOn(in.command)
	case Edit, OtherTool:
		if in.patch == "" && strings.Contains(in.command, "*** Begin Patch") { // a patch as its command
			in.patch = in.command
		}
		if in.patch != "" {
			p := readPatch(in.patch)
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
	if t.Command != "" && len(in.dirs) > 0 {
		t.Dir = shell.Absolute(e.Cwd, in.dirs[0])
	}
	if e.Kind == PostTool && t.Class == Shell {
		t.Succeeded = !t.Failed && !d.stopped && !t.Background && !t.Truncated && (d.exit == "0" || d.exit == "" && e.Agent.adapter().tellsFailures)
	}
	before := e.Kind == PreTool
	if known := before && t.Class != Shell || e.Kind == PostTool && t.Class == Edit && in.command == ""; known && in.patch == "" && !in.truncated && in.rewrite.known() && oneFile(t.Files) {
		t.Rewrite = &in.rewrite
	}
	if before && !in.truncated {
		t.Patch = in.patch
	}
	if e.Cwd != "" {
		for i, f := range t.Files {
			if !isAbs(f) {
				t.Files[i] = strings.TrimSuffix(e.Cwd, "/") + "/" + path.Clean(f)
			}
		}
	}
}

func oneFile(files []string) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(f string) bool { return f != files[0] })
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

// maxArgument bounds what is kept of a call to be shown in a line: it leaves room for a root
// that is cut off a path later.
const maxArgument = 4 << 10

// Argument is what a person would call a tool call by: the first line of its command that says
// something, or the files that it names, one a line, as many as there is room for.
func Argument(t *Tool) (command, files string) {
	if strings.HasPrefix(t.Command, "*** Begin Patch") {
		t = &Tool{Files: t.Files}
	}
	for line := range strings.SplitSeq(inShell(t.Command), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line[:min(len(line), maxArgument)], ""
		}
	}
	if t.Command != "" {
		return strings.TrimSpace(t.Command[:min(len(t.Command), maxArgument)]), ""
	}
	for i, file := range t.Files {
		if file == "" || slices.Contains(t.Files[:i], file) || strings.ContainsAny(file, "\n") || len(files)+len(file) >= maxArgument {
			continue
		}
		if files != "" {
			files += "\n"
		}
		files += file
	}
	return "", files
}

// inShell is the script where an agent gives a shell's own command line: bash -lc 'make test'.
func inShell(command string) string {
	name, rest, _ := strings.Cut(command, " ")
	flag, script, _ := strings.Cut(rest, " ")
	script = strings.TrimSpace(script)
	name, flag = strings.Trim(name, "'"), strings.Trim(flag, "'")
	n := len(script)
	if base := path.Base(name); base != "sh" && base != "bash" && base != "zsh" || flag != "-c" && flag != "-lc" || n < 2 || script[0] != '\'' || script[n-1] != '\'' {
		return command
	}
	if script = script[1 : n-1]; strings.Contains(strings.ReplaceAll(script, `'\''`, ""), "'") {
		return command
	}
	return strings.ReplaceAll(script, `'\''`, "'")
}
