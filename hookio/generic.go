package hookio

// Generic is any agent that is not in the table, and what scripts call. Its
// words are those of "rewind hook generic", and the action names of the tool
// that went before, smart-checkpoint.
const Generic Agent = "generic"

var generic = adapter{
	agent: Generic, title: "another agent",
	events: []eventName{
		{"prompt", Prompt, NoTool},
		{"analyzeprompt", Prompt, NoTool},
		{"pretool", PreTool, NoTool},
		{"premodify", PreTool, Edit},
		{"posttool", PostTool, NoTool},
		{"postbash", PostTool, Shell},
	},
	members: []memberName{{"event", "hook_event_name"}},
	tools:   toolNames{edit: []string{"strreplace"}},
}
