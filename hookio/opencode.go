package hookio

// OpenCode is opencode. Its plugin, which is ours, speaks the words of "rewind hook
// generic". It keeps conversations in a database of its own.
const OpenCode Agent = "opencode"

var opencode = adapter{
	agent: OpenCode, title: "opencode",
	tools: toolNames{
		edit: []string{"patch"},
		read: []string{"list", "question", "skill", "codesearch"},
	},
}
