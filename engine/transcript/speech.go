package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Part is one piece of what a line of a transcript says. Its texts are as they were: they can hold any
// character, and be of any length.
type Part struct {
	Kind PartKind
	Role Role
	Text string // words; what a tool was given, mostly JSON; what it answered
	Tool string // of a call, where the line says it also of an answer: the tool's name
	Call string // of both: the call's id, "" where the agent gives none
	// Failed says that a tool answered with an error.
	Failed   bool
	Subagent string // of an answer: the subagent that the call ran; "" for none, or where the line does not say it
}

// PartKind says what a Part is.
type PartKind uint8

const (
	Words   PartKind = iota + 1
	Thought          // the model's own words that it does not show
	ToolCall
	ToolAnswer
	Client // a text of the client's in the person's place, as a reminder or the output of the client's own command
)

// speechRow is what the lines of all agents have in common: words and tool calls, at the top or one level below.
type speechRow struct {
	Type     string          `json:"type"`
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	Parts    json.RawMessage `json:"parts"`
	Message  json.RawMessage `json:"message"`
	Payload  json.RawMessage `json:"payload"`
	Data     json.RawMessage `json:"data"`
	Item     json.RawMessage `json:"item"`          // codex
	Calls    []speechBlock   `json:"toolCalls"`     // gemini
	Requests []speechBlock   `json:"toolRequests"`  // copilot
	Gave     json.RawMessage `json:"toolUseResult"` // claude: what the call gave, for the client
	IsMeta   bool            `json:"isMeta"`
	IsSide   bool            `json:"isSidechain"`
	speechBlock
	speaker
}

// speechBlock is a piece of a message. The same things have a name of each agent's own.
type speechBlock struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  string          `json:"thinking"`
	Thought   json.RawMessage `json:"thought"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	ToolCall  string          `json:"toolCallId"`
	ToolUse   string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	ToolName  string          `json:"toolName"`
	Input     json.RawMessage `json:"input"`
	Arguments json.RawMessage `json:"arguments"`
	Args      json.RawMessage `json:"args"`
	Output    json.RawMessage `json:"output"`
	Result    json.RawMessage `json:"result"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Error     bool            `json:"isError"`
	Success   *bool           `json:"success"`
	Call      *speechBlock    `json:"functionCall"`
	Answer    *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// Speech reads what one line of an agent's transcript says, in its order; nothing where it says nothing: what the
// client notes for itself. It is for looking at: agents' formats are read by what they have in common, and
// a line of one that is not known can say nothing.
func Speech(agent Agent, line []byte) []Part {
	var row speechRow
	if json.Unmarshal(line, &row) != nil || row.IsMeta || row.IsSide {
		return nil
	}
	parts := row.spokenBy(agent, row.parts())
	if id := row.subagent(); id != "" {
		for i := range parts {
			if parts[i].Kind == ToolAnswer {
				parts[i].Subagent = id
			}
		}
	}
	return parts
}

// subagent is the one whose answer a line of claude is.
func (row *speechRow) subagent() string {
	var gave struct {
		AgentID string `json:"agentId"`
	}
	if !bytes.Contains(row.Gave, []byte(`"agentId"`)) || json.Unmarshal(row.Gave, &gave) != nil {
		return ""
	}
	return gave.AgentID
}

// parts reads the row. Whatever has the person's role counts as the person's.
func (row speechRow) parts() (parts []Part) {
	role := roleOf(row.Role, row.Type)
	at := row
	for _, inner := range []json.RawMessage{row.Message, row.Payload, row.Data} {
		var m speechRow
		if len(inner) > 0 && inner[0] == '{' && json.Unmarshal(inner, &m) == nil {
			at = m
			if r := roleOf(m.Role, m.Type); r != NoRole || m.Role != "" {
				role = r
			}
			break
		}
	}
	if row.Type == "attachment" {
		return row.queued()
	}
	switch row.Type { // codex: what the person typed is in rows of its own, and again, between what the client adds, in those for the model
	case "event_msg":
		return codexSpeech(&at)
	case "response_item":
		if at.Type == "message" && role != Assistant {
			return nil
		}
	}
	switch at.Type {
	case "function_call", "custom_tool_call", "local_shell_call":
		return at.speechBlock.call(at.speechBlock.CallID)
	case "function_call_output", "custom_tool_call_output":
		return []Part{{Kind: ToolAnswer, Text: plain(at.Output), Call: at.CallID}}
	}
	switch row.Type {
	case "tool.execution_complete": // copilot
		b := at.speechBlock
		return []Part{{Kind: ToolAnswer, Text: plain(b.Result), Call: b.ToolCall, Tool: b.ToolName, Failed: b.Success != nil && !*b.Success}}
	}
	if at.Role == "toolResult" { // pi
		b := at.speechBlock
		return []Part{{Kind: ToolAnswer, Text: plain(at.Content), Call: b.ToolCall, Tool: b.ToolName, Failed: b.Error}}
	}
	if role == NoRole {
		return nil
	}
	content := at.Content
	if len(content) == 0 {
		content = at.Parts
	}
	var text string
	switch {
	case len(content) == 0:
	case json.Unmarshal(content, &text) == nil:
		parts = append(parts, Part{Kind: Words, Role: role, Text: text})
	default:
		var blocks []speechBlock
		if content[0] == '{' {
			content = append(append(json.RawMessage("["), content...), ']')
		}
		if json.Unmarshal(content, &blocks) == nil {
			for _, b := range blocks {
				parts = append(parts, b.parts(role)...)
			}
		}
	}
	for _, b := range at.Calls {
		parts = append(parts, b.call(b.ID)...)
	}
	for _, b := range at.Requests {
		parts = append(parts, b.call(b.ToolCall)...)
	}
	return withoutEmpty(parts)
}

// codexSpeech are the words of the person in an event. Those of the model are in the rows for the model, once more.
func codexSpeech(event *speechRow) (parts []Part) {
	switch event.Type {
	case "user_message": // of older versions
		return withoutEmpty([]Part{{Kind: Words, Role: User, Text: plain(event.Message)}})
	case "item_completed":
		var item speechRow
		var blocks []speechBlock
		if json.Unmarshal(event.Item, &item) == nil && item.Type == "UserMessage" && json.Unmarshal(item.Content, &blocks) == nil {
			for _, b := range blocks {
				parts = append(parts, b.parts(User)...)
			}
		}
	}
	return withoutEmpty(parts)
}

// roleOf reads who a line is of.
func roleOf(role, kind string) Role {
	for _, word := range []string{role, kind} {
		switch word {
		case "user", "user.message":
			return User
		case "assistant", "model", "gemini", "assistant.message":
			return Assistant
		}
	}
	return NoRole
}

// parts are those of one block of a message.
func (b *speechBlock) parts(role Role) []Part {
	switch {
	case b.Call != nil:
		return b.Call.call(b.Call.ID)
	case b.Answer != nil:
		text, failed := plain(b.Answer.Response["output"]), false
		if e := b.Answer.Response["error"]; len(e) > 0 {
			text, failed = plain(e), true
		}
		return []Part{{Kind: ToolAnswer, Text: text, Call: b.Answer.ID, Tool: b.Answer.Name, Failed: failed}}
	}
	switch b.Type {
	case "tool_use", "toolCall":
		return b.call(b.ID)
	case "tool_result":
		return []Part{{Kind: ToolAnswer, Text: plain(b.Content), Call: b.ToolUse, Failed: b.IsError}}
	case "thinking", "reasoning":
		if b.Thinking == "" {
			b.Thinking = plain(b.Text)
		}
		return []Part{{Kind: Thought, Role: role, Text: b.Thinking}}
	case "text", "output_text", "input_text", "":
		kind := Words
		if string(b.Thought) == "true" {
			kind = Thought
		}
		return []Part{{Kind: kind, Role: role, Text: plain(b.Text)}}
	}
	return nil
}

// call is a block as a call of a tool.
func (b *speechBlock) call(id string) []Part {
	given := b.Input
	for _, other := range []json.RawMessage{b.Arguments, b.Args} {
		if len(given) == 0 {
			given = other
		}
	}
	text := string(given)
	var inner string
	if json.Unmarshal(given, &inner) == nil { // JSON in a string, or a patch
		text = inner
	}
	return []Part{{Kind: ToolCall, Role: Assistant, Text: text, Tool: b.Name, Call: id}}
}

// plain is the text of a value: of a string, of a list of texts, of an object that has one; else its JSON.
func plain(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil {
		var all []string
		for _, one := range list {
			if s := plain(one); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, "\n")
	}
	var object struct {
		Text, Content, Output json.RawMessage
	}
	if json.Unmarshal(v, &object) == nil {
		for _, one := range []json.RawMessage{object.Text, object.Content, object.Output} {
			if s := plain(one); s != "" {
				return s
			}
		}
	}
	return string(v)
}

func withoutEmpty(parts []Part) []Part {
	out := parts[:0]
	for _, p := range parts {
		if p.Kind == ToolCall || p.Kind == ToolAnswer || strings.TrimSpace(p.Text) != "" {
			out = append(out, p)
		}
	}
	return out
}
