package transcript

// claudeContext are the kinds of metadata without which the conversation would
// not be sent to the model as it was, or which the client's own fork carries on.
var claudeContext = map[string]bool{
	"content-replacement": true, "history-suppression": true, "hybrid-organization": true, "atis-latch": true,
	"tools-used": true, "data-flow-records": true, "data-flow-incomplete": true, "derived-from": true, "relocated": true,
}

// claudeTitles are those that name the session, wherever they lie.
var claudeTitles = map[string]bool{
	"custom-title": true, "agent-name": true, "ai-title": true, "agent-color": true, "agent-setting": true, "tag": true,
}

func keepClaude(l *Line, place, past bool) bool {
	if !place {
		return !past && claudeContext[l.Type]
	}
	if past {
		return claudeTitles[l.Type]
	}
	return l.Type != "last-prompt"
}

// editsClaude gives a line to the new session. Only the top-level id changes, and the
// working directory: inside, paths that contain the old id must go on working.
func editsClaude(k *forking, i int) []edit {
	l := &k.x.Lines[i]
	edits := []edit{{key: "sessionId", value: quote(k.id), add: true}}
	if l.tree() {
		edits = append(edits, edit{key: "forkedFrom", value: object("sessionId", k.from, "messageUuid", l.ID), add: true})
	}
	if k.dir != "" { // pickers refuse a session of another directory
		edits = append(edits, edit{key: "cwd", value: quote(k.dir)})
	}
	if i == k.sel.last {
		// Pickers show and sort by the time of the last message.
		edits = append(edits, edit{key: "timestamp", value: quote(stamp(k.now)), add: true})
	}
	return edits
}

// trailerClaude are the lines that pickers read from the last 16 KiB of a file.
func trailerClaude(k *forking, place bool) [][]byte {
	id := k.id
	prompt := object("type", "last-prompt", "lastPrompt", k.lastPrompt(), "leafUuid", k.sel.Leaf, "sessionId", id)
	if place {
		return [][]byte{prompt}
	}
	return [][]byte{
		object("type", "custom-title", "customTitle", k.title, "sessionId", id),
		object("type", "agent-name", "agentName", k.title, "sessionId", id),
		prompt,
	}
}
