package hookio

import "strings"

// Gemini is Google's Gemini CLI.
const Gemini Agent = "gemini"

// Its PreCompress is not among the events: it comes before every request.
var gemini = adapter{
	agent: Gemini, title: "Gemini CLI",
	transcript: func(file string) bool {
		return strings.Contains(file, "/.gemini/tmp/") && strings.Contains(file, "/chats/")
	},
	variable:         "GEMINI_SESSION_ID",
	switches:         []string{"hooks disable"},
	projectVariables: []string{"GEMINI_PROJECT_DIR"},
	events: []eventName{
		{"beforeagent", Prompt, NoTool},
		{"beforetool", PreTool, NoTool},
		{"aftertool", PostTool, NoTool},
		{"afteragent", Stop, NoTool},
	},
	tools: toolNames{
		edit:  []string{"replace", "writefile"},
		shell: []string{"runshellcommand"},
		read:  []string{"readfile", "readmanyfiles", "listdirectory", "searchfilecontent", "googlewebsearch", "savememory"},
	},
	informs: []EventKind{Prompt},
	settle: func(d *payloadDecoder) {
		// A session that is resumed begins with the file of another one, which is not gone on with.
		if e := &d.event; e.Kind == SessionStart && e.Source == "resume" {
			e.TranscriptPath = ""
		}
	},
}
