package hook

import (
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
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
	out.Kind, out.Moment = momentOf(e)
	out.Class, out.Edge = windowOf(e)
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
			break
		}
		if t.Class == hookio.Shell {
			out.Destructive = t.Truncated || shell.Destructive(t.Command) != ""
			break
		}
		out.Files = t.Files
		if t.Class == hookio.Edit && !t.Truncated {
			out.Edit = &hook.Edit{Chars: t.ChangedChars, Whole: t.WholeFile}
		}
	}
	return out
}

// windowOf says what the event begins or ends: a call of a tool that can write, or a part of the conversation.
func windowOf(e *hookio.Event) (manifest.WindowClass, manifest.WindowEdge) {
	edge := manifest.WindowOpen
	switch e.Kind {
	case hookio.SessionStart:
		return manifest.WindowNone, manifest.WindowStart
	case hookio.Prompt:
		return manifest.WindowNone, manifest.WindowPrompt
	case hookio.Stop:
		return manifest.WindowNone, manifest.WindowStop
	case hookio.SubagentStop:
		return manifest.WindowNone, manifest.WindowSubagentStop
	case hookio.SessionEnd:
		return manifest.WindowNone, manifest.WindowEnd
	case hookio.PreTool:
	case hookio.PostTool:
		edge = manifest.WindowClose
	default:
		return manifest.WindowNone, 0
	}
	switch e.Tool.Class {
	case hookio.Edit:
		if e.Tool.Failed {
			return manifest.WindowNone, edge // it did nothing: see attribution
		}
		return manifest.WindowEdit, edge
	case hookio.Shell:
		return manifest.WindowShell, edge
	case hookio.MCP, hookio.OtherTool:
		return manifest.WindowOther, edge
	}
	return manifest.WindowNone, 0
}

// momentOf says of which kind a checkpoint of an event is, and which of the tiers' moments it is.
// Editing tools, tools of MCP servers and tools that we do not know are edits; after a tool only a
// shell command is a moment.
func momentOf(e *hookio.Event) (kind manifest.CheckpointKind, moment string) {
	switch e.Kind {
	case hookio.SessionStart:
		return manifest.SessionStart, settings.SessionStart
	case hookio.Prompt:
		return manifest.Prompt, settings.Prompt
	case hookio.Stop:
		return manifest.Stop, settings.Stop
	case hookio.SubagentStop:
		return manifest.Stop, settings.SubagentStop
	case hookio.SessionEnd:
		return manifest.SessionEnd, settings.SessionEnd
	case hookio.PreTool:
		switch e.Tool.Class {
		case hookio.Edit, hookio.MCP, hookio.OtherTool:
			return manifest.PreTool, settings.PreEdit
		case hookio.Shell:
			return manifest.PreTool, settings.PreShell
		}
		return manifest.PreTool, ""
	case hookio.PostTool:
		if e.Tool.Class == hookio.Shell {
			return manifest.PostTool, settings.PostShell
		}
		return manifest.PostTool, ""
	}
	return "", ""
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
