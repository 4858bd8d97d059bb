package hookio

// Kiro is Kiro CLI, once Amazon Q. It names no transcript.
const Kiro Agent = "kiro"

var kiro = adapter{
	agent: Kiro, title: "Kiro CLI",
	events: []eventName{{"agentspawn", SessionStart, NoTool}},
}
