package hook

import (
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
	"github.com/rewind-cli/rewind/manifest"
)

// placed is the event with its relative paths below a directory, where it does not say its own: agents run hooks where
// they work.
func placed(e *hookio.Event, dir string) *hookio.Event {
	if filepath.IsAbs(e.Cwd) || dir == "" {
		return e
	}
	there := *e
	there.Cwd, there.Tool.Files = dir, nil
	for _, file := range e.Tool.Files {
		there.Tool.Files = append(there.Tool.Files, shell.Absolute(dir, file))
	}
	if t := &there.Tool; t.Dir != "" {
		t.Dir = shell.Absolute(dir, t.Dir)
	}
	return &there
}

// eventOf says what an agent reports in the words of package hook.
func eventOf(e *hookio.Event, env account.Env, start time.Time) hook.Event {
	dir, by := hookio.Root(e, env.Getenv)
	e = placed(e, env.Dir)
	out := hook.Event{
		Time: start,
		By: conversation.Trigger{
			Agent: string(e.Agent), Session: e.SessionID, Subagent: e.AgentID,
			PromptID: e.PromptID, Tool: e.Tool.Name, ToolUseID: e.ToolUseID, Transcript: e.TranscriptPath,
		},
		Dir: dir, Exact: by == hookio.ExportedRoot, Fixed: by != "" && by != hookio.ExportedRoot && by != hookio.WorkingDir, Cwd: e.Cwd,
		Source: e.Source, Previous: e.PreviousSessionID, Process: env.Getenv("CLAUDE_PID"),
	}
	describe(e, &out)
	if out.Class != manifest.WindowNone {
		out.Writes, out.Background = hookio.Writes(e, env.Home), e.Tool.Background
	}
	switch e.Kind {
	case hookio.SessionStart:
		out.StartsATurn = e.Agent.Promptless()
		out.EnvFile, out.Exports = hookio.EnvFile(e, env.Getenv), exports(e, env)
	case hookio.Prompt:
		out.By.Prompt, out.Asked = e.Prompt, e.Agent == hookio.Generic
	case hookio.PreTool, hookio.PostTool:
		t := &e.Tool
		out.By.Command, out.By.Files = hookio.Argument(t)
		if t.Class == hookio.Edit && !t.Failed {
			out.Edited = t.Files
			if e.Kind == hookio.PostTool && t.Rewrite != nil {
				out.Explains = t.Rewrite.Explains
			}
		}
		if e.Kind == hookio.PostTool {
			out.Succeeded = hookio.Succeeded(t)
			break
		}
		if t.Class == hookio.Shell {
			out.Destructive = t.Truncated || shell.Destructive(t.Command, e.CommandDir(), aliases(e.CommandDir(), env)) != ""
			break
		}
		out.Files = t.Files
		if t.Class == hookio.Edit && !t.Truncated {
			out.Edit = &hook.Edit{Chars: t.ChangedChars, Whole: t.WholeFile}
		}
	}
	return out
}

// maxAliasDirs bounds the directories whose git configuration is read for one command line.
const maxAliasDirs = 16

// aliases reads what git's aliases stand for where a command line is run, once for each directory; dir is taken for one that is not known.
func aliases(dir string, env account.Env) shell.Aliases {
	known := map[string]map[string]string{}
	return func(at, name string) string {
		if at == "" {
			at = dir
		}
		if known[at] == nil {
			if !filepath.IsAbs(at) || len(known) == maxAliasDirs {
				return ""
			}
			known[at] = gitrepo.Aliases(filepath.FromSlash(at), env.Home, env.Getenv)
		}
		return known[at][name]
	}
}

// describe says of which kind a checkpoint of the event is, which of the tiers' moments it is, and what it begins or ends:
// a call of a tool that can write, or a part of the conversation. Editing tools, tools of MCP servers and tools that we do
// not know are edits; after a tool only a shell command is a moment.
func describe(e *hookio.Event, out *hook.Event) {
	switch e.Kind {
	case hookio.SessionStart:
		out.Kind, out.Moment, out.Edge = manifest.SessionStart, settings.SessionStart, manifest.WindowStart
	case hookio.Prompt:
		out.Kind, out.Moment, out.Edge = manifest.Prompt, settings.Prompt, manifest.WindowPrompt
	case hookio.Stop:
		out.Kind, out.Moment, out.Edge = manifest.Stop, settings.Stop, manifest.WindowStop
	case hookio.SubagentStop:
		out.Kind, out.Moment, out.Edge = manifest.Stop, settings.SubagentStop, manifest.WindowSubagentStop
	case hookio.SessionEnd:
		out.Kind, out.Moment, out.Edge = manifest.SessionEnd, settings.SessionEnd, manifest.WindowEnd
	case hookio.PreTool:
		out.Kind = manifest.PreTool
		describeCall(&e.Tool, out, manifest.WindowOpen, settings.PreEdit, settings.PreShell)
	case hookio.PostTool:
		out.Kind = manifest.PostTool
		describeCall(&e.Tool, out, manifest.WindowClose, "", settings.PostShell)
	}
}

// describeCall is describe for a tool's call, with the moments of edits and of shell commands.
func describeCall(t *hookio.Tool, out *hook.Event, edge manifest.WindowEdge, edits, commands string) {
	switch t.Class {
	case hookio.Edit:
		out.Moment, out.Edge = edits, edge
		if !t.Failed { // else it did nothing: see attribution
			out.Class = manifest.WindowEdit
		}
	case hookio.Shell:
		out.Class, out.Moment, out.Edge = manifest.WindowShell, commands, edge
	case hookio.MCP, hookio.OtherTool:
		out.Class, out.Moment, out.Edge = manifest.WindowOther, edits, edge
	}
}

// exports gives the text that tells the agent's shell of session and project, and where rewind is.
func exports(e *hookio.Event, env account.Env) func(root string, old []byte) []byte {
	var variables []hookio.Variable
	var line string
	return func(root string, old []byte) []byte {
		if variables == nil {
			variables = hookio.ShellVariables(e, root)
			if exe, err := os.Executable(); err == nil && filepath.Base(exe) == "rewind" && !onPath(env.Getenv("PATH"), exe) {
				line = hookio.PathLine(e.Agent, env.Getenv("PATH"), filepath.Dir(exe))
			}
		}
		return hookio.Exports(old, variables, line)
	}
}

// onPath reports whether a shell with this PATH finds another rewind than exe first: that is what
// the person wants.
func onPath(path, exe string) bool {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, "rewind")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			mine, err := os.Stat(exe)
			return err == nil && !os.SameFile(info, mine)
		}
	}
	return false
}
