package register

import (
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// PluginFile is one file of a plugin directory. Path is relative, with slashes.
type PluginFile struct {
	Path       string
	Content    string
	Executable bool
}

// Plugin is a Claude Code plugin that is its own marketplace: hooks, and the
// commands of InSessionCommand, which the prompt's hook answers without a turn
// of the model: their files run nothing, so no argument reaches a shell. exe is the program's path; the
// shim in bin/ falls back to PATH, and does nothing where rewind is gone.
func Plugin(version, exe string) []PluginFile {
	l := layout{style: styleOf(nil, container{}), multi: true}
	json := func(n jsonNode) string { return n.render(l) + "\n" }
	const description = "Checkpoints of code and conversation at every prompt and before every tool call, and an undo for both"
	author := object("name", quoted("rewind"))
	files := []PluginFile{
		{Path: ".claude-plugin/plugin.json", Content: json(object(
			"name", quoted("rewind"), "version", quoted(version), "description", quoted(description), "author", author,
			"license", quoted("MIT"), "keywords", array(quoted("checkpoint"), quoted("undo"), quoted("rewind"))))},
		{Path: ".claude-plugin/marketplace.json", Content: json(object(
			"name", quoted("rewind"), "owner", author,
			"plugins", array(object("name", quoted("rewind"), "source", quoted("./"), "description", quoted(description)))))},
		{Path: "hooks/hooks.json", Content: json(object("description", quoted(description),
			"hooks", events(claude.hooks, `"${CLAUDE_PLUGIN_ROOT}"/bin/rewind hook claude`, claude.form)))},
		{Path: "bin/rewind", Executable: true, Content: "#!/bin/sh\n" +
			"# Runs the installed rewind; without one it is silent, so that an agent is never disturbed.\n" +
			"for program in " + shell.Quote(exe) + " \"$HOME/.local/bin/rewind\"; do\n" +
			"  [ -x \"$program\" ] && exec \"$program\" \"$@\"\n" +
			"done\n" +
			"here=$(cd \"$(dirname \"$0\")\" && pwd)\n" +
			"IFS=:\n" +
			"for dir in $PATH; do\n" +
			"  [ \"$dir\" != \"$here\" ] && [ -x \"$dir/rewind\" ] && exec \"$dir/rewind\" \"$@\"\n" +
			"done\n" +
			"exit 0\n"},
		{Path: "README.md", Content: pluginReadme},
	}
	for _, c := range hookio.InSessionCommands() {
		if c.Older {
			continue
		}
		front := "---\ndescription: \"" + c.Description + "\"\n"
		if c.Hint != "" {
			front += "argument-hint: \"" + c.Hint + "\"\n"
		}
		files = append(files, PluginFile{Path: "commands/" + c.Name + ".md",
			Content: front + "disable-model-invocation: true\n---\n\nThe rewind hook answers this command itself. If you read this, it is not running: do nothing else, and tell the user to run `rewind status --check`.\n"})
	}
	return files
}

const pluginReadme = `# rewind

Takes a checkpoint of the whole project and of the conversation at every prompt and before every tool call that can
change files, whatever changes them: an edit, a shell command, a subagent. Look, compare, and put code, conversation or
both back exactly; and undo that too.

The plugin needs the ` + "`rewind`" + ` program. It registers the hooks and adds commands that cost no turn of the model:

- ` + "`/rewind:list [n]`" + `: the checkpoints of this project
- ` + "`/rewind:restore <checkpoint>`" + `: code and conversation as they were; ` + "`--code-only`" + ` and ` + "`--context-only`" + ` for one half
- ` + "`/rewind:undo [n]`" + `: one step back: to the newest checkpoint that differs, or to before the last of these commands; run again to go further back; ` + "`--code-only`" + ` for the files alone
- ` + "`/rewind:redo`" + `: goes forward again
- ` + "`/rewind:revert prompt~1`" + `: takes back what one turn changed, or with ` + "`--session=ID`" + ` what another session did, and keeps the rest; the conversation stays
- ` + "`/rewind:back [n]`" + `: the conversation to before the nth-last prompt, as a new session
- ` + "`/rewind:status`" + `: whether rewind is on, and the last checkpoint

A conversation that was put back is a new session: the answer ends with the ` + "`/resume`" + ` that opens it.

Everything else is a command in a terminal: ` + "`rewind --help`" + `. Do not register the hooks in the settings as well: each event
would be handled twice. ` + "`rewind status --check`" + ` reports it.
`
