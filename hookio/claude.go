package hookio

import (
	"bytes"
	"encoding/hex"
	"path"
	"strings"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// Claude is Claude Code. Its payloads are those that most others follow.
const Claude Agent = "claude"

var claude = adapter{
	agent: Claude, aliases: []string{"claude-code"}, title: "Claude Code",
	transcript: func(file string) bool {
		// …/projects/<encoded directory>/<uuid>.jsonl, wherever CLAUDE_CONFIG_DIR is.
		id, isJSONL := strings.CutSuffix(path.Base(file), ".jsonl")
		return isJSONL && isUUID(id) && path.Base(path.Dir(path.Dir(file))) == "projects"
	},
	variable:         "CLAUDECODE",
	switches:         []string{"plugin disable rewind", "plugin uninstall rewind", "plugin remove rewind", "config set disableAllHooks true"},
	projectVariables: []string{"CLAUDE_PROJECT_DIR"},
	events: []eventName{
		{"sessionstart", SessionStart, NoTool},
		{"userpromptsubmit", Prompt, NoTool},
		{"pretooluse", PreTool, NoTool},
		{"posttooluse", PostTool, NoTool},
		{"posttoolusefailure", PostTool, NoTool},
		{"stop", Stop, NoTool},
		{"stopfailure", Stop, NoTool},
		{"subagentstop", SubagentStop, NoTool},
		{"precompact", PreCompact, NoTool},
		{"notification", Notification, NoTool},
		{"sessionend", SessionEnd, NoTool},
	},
	tools: toolNames{
		edit:     []string{"edit", "write", "multiedit", "notebookedit"},
		shell:    []string{"bash", "powershell"},
		subagent: []string{"agent", "task"},
		read: []string{"read", "ls", "grep", "glob", "notebookread", "webfetch", "websearch", "todowrite", "todoread", "bashoutput", "taskoutput", "killshell", "killbash",
			"exitplanmode", "enterplanmode", "askuserquestion", "toolsearch", "taskcreate", "taskupdate", "tasklist", "taskget", "lsp", "listmcpresources", "readmcpresource"},
	},
	envFiles: []string{"CLAUDE_ENV_FILE"},
	messages: true,

	tellsFailures: true,

	inSession: true,
	informs:   []EventKind{Prompt},
	opens: func(session, version string) string {
		if strings.HasPrefix(version, "2.0.") { // its /resume takes no id
			return ""
		}
		return "/resume " + session
	},
}

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	id, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return err == nil && len(id) == 16
}

// FolderTrusted reads Claude Code's ~/.claude.json: interactive sessions run no
// hooks in a folder before it is trusted. known is false where the file says
// nothing about dir or a directory above it.
func FolderTrusted(claudeJSON []byte, dir string) (trusted, known bool) {
	dir = strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	s := jsonscan.Stream(bytes.NewReader(claudeJSON))
	members(s, func(name string) {
		if name != "projects" {
			s.Skip()
			return
		}
		members(s, func(folder string) {
			folder = strings.TrimSuffix(strings.ReplaceAll(folder, `\`, "/"), "/")
			if dir != folder && !strings.HasPrefix(dir, folder+"/") {
				s.Skip()
				return
			}
			members(s, func(key string) {
				if key == "hasTrustDialogAccepted" {
					known = true
					trusted = s.Peek() == 't' || trusted
				}
				s.Skip()
			})
		})
	})
	return trusted, known
}
