package hookio

import (
	"bytes"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// EnvFile is the file whose exports the agent's shell reads, "" for none. It is
// only given at a session's start.
func EnvFile(e *Event, getenv func(string) string) string {
	if e.Kind != SessionStart {
		return ""
	}
	a := e.Agent.adapter()
	for _, name := range a.envFiles {
		if v := getenv(name); v != "" {
			return v
		}
	}
	if a.envMember {
		return e.EnvFile
	}
	return ""
}

// Variable is one export.
type Variable struct{ Name, Value string }

// ShellVariables are what rewind's commands are to know in the agent's shell;
// none where the agent tells its model of them.
func ShellVariables(e *Event, root string) []Variable {
	if e.Agent.adapter().tellsNames {
		return nil
	}
	return []Variable{
		{"REWIND_PROJECT_ROOT", root}, {"REWIND_SESSION_ID", e.SessionID},
		{"REWIND_TRANSCRIPT_PATH", e.TranscriptPath}, {"REWIND_AGENT", string(e.Agent)},
	}
}

// exportable reports whether the agent's shell gets a value as it is.
func exportable(agent Agent, value string) bool {
	return !agent.adapter().envLines || !strings.ContainsAny(value, "'\r\n")
}

// Exports is the text to append to an env file that holds old: the exports that
// are not in it yet, nil where all are. Others append to the file too, so it is
// never rewritten; a variable that has another value is exported again, the
// later line wins. Values with a NUL byte, which no environment can hold, and
// empty ones are left out.
// Lines are appended as they are, each once.
func Exports(old []byte, variables []Variable, lines ...string) []byte {
	var out []byte
	for _, v := range variables {
		if v.Value == "" || strings.IndexByte(v.Value, 0) >= 0 || !shell.IsName(v.Name) {
			continue
		}
		prefix := "export " + v.Name + "="
		line := prefix + shell.Quote(v.Value) + "\n"
		if i := bytes.LastIndex(prepend(old), []byte("\n"+prefix)); i >= 0 && bytes.HasPrefix(prepend(old)[i+1:], []byte(line)) {
			continue
		}
		out = append(out, line...)
	}
	for _, line := range lines {
		if line += "\n"; line != "\n" && !bytes.Contains(prepend(old), []byte("\n"+line)) {
			out = append(out, line...)
		}
	}
	if len(out) > 0 && len(old) > 0 && old[len(old)-1] != '\n' {
		out = append([]byte("\n"), out...)
	}
	return out
}

// prepend lets the first line be found like any other.
func prepend(b []byte) []byte { return append([]byte("\n"), b...) }

// withPath gives the literal value that makes programs in dir found; ok is
// false where dir is in path already, or cannot be.
func withPath(path, dir string) (value string, ok bool) {
	if dir == "" || strings.ContainsAny(dir, ":\x00") {
		return "", false
	}
	for p := range strings.SplitSeq(path, ":") {
		if p == dir {
			return "", false
		}
	}
	if path == "" {
		return "", false // an empty PATH means the shell's own default, which would be lost
	}
	return dir + ":" + path, true
}

// PathLine is the line that makes programs in dir found first, whatever PATH the agent's later
// shells begin with; path is the hook's own. "" where there is none: where the agent reads values
// and runs nothing, they are as they would be now.
func PathLine(agent Agent, path, dir string) string {
	value, ok := withPath(path, dir)
	if agent.adapter().envLines {
		if !ok || !exportable(agent, value) {
			return ""
		}
		return "export PATH=" + shell.Quote(value)
	}
	if dir == "" || strings.ContainsAny(dir, ":\x00\n") {
		return ""
	}
	return `case ":$PATH:" in *:` + shell.Quote(dir) + `:*) ;; *) export PATH=` + shell.Quote(dir) + `"${PATH:+:$PATH}" ;; esac`
}
