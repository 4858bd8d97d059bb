package transcript

import (
	"encoding/json"
	"strings"
)

// speaker is what a line says of who wrote a text in the person's place.
type speaker struct {
	Origin     json.RawMessage `json:"origin"`           // claude
	Source     json.RawMessage `json:"promptSource"`     // claude
	Summary    json.RawMessage `json:"isCompactSummary"` // claude
	Attachment json.RawMessage `json:"attachment"`       // claude
	Subtype    json.RawMessage `json:"subtype"`          // qwen
	Provenance json.RawMessage `json:"provenance"`       // qwen
	Shown      json.RawMessage `json:"systemPayload"`    // qwen
	Hook       json.RawMessage `json:"hookEventName"`    // droid
	Visibility json.RawMessage `json:"visibility"`       // droid
}

// midTurn is the subtype of what the person typed into a running turn of Qwen Code.
const midTurn = "mid_turn_user_message"

// spokenBy tells the person's words from those that the client put in the person's place.
func (row *speechRow) spokenBy(agent Agent, parts []Part) []Part {
	f, ok := agent.format()
	if !ok {
		return parts
	}
	client, typed := row.byClient()
	if agent == Qwen && word(row.Subtype) == midTurn {
		var shown struct{ DisplayText string }
		if json.Unmarshal(row.Shown, &shown) == nil && strings.TrimSpace(shown.DisplayText) != "" {
			return []Part{{Kind: Words, Role: User, Text: shown.DisplayText}}
		}
	}
	for i := range parts {
		p := &parts[i]
		if p.Kind != Words || p.Role != User {
			continue
		}
		text := strings.TrimSpace(p.Text)
		switch {
		case client:
			p.Kind, p.Role = Client, NoRole
		case agent == Claude && (strings.HasPrefix(text, "<command-message>") || strings.HasPrefix(text, "<command-name>")):
			p.Text = commandText(text)
		case agent == Claude && strings.HasPrefix(text, "<bash-input>"):
			p.Text = "!" + between(text, "<bash-input>", "</bash-input>")
		case !typed && f.kinds.injected([]byte(text)):
			p.Kind, p.Role = Client, NoRole
		}
	}
	return parts
}

// byClient reports whether the line says that the client wrote it, or that the person typed it.
func (row *speechRow) byClient() (client, typed bool) {
	var origin struct{ Kind json.RawMessage }
	var queued struct{ Origin, CommandMode json.RawMessage }
	if json.Unmarshal(row.Attachment, &queued) == nil {
		row.Origin = queued.Origin
		if mode := word(queued.CommandMode); mode != "" && mode != "prompt" {
			return true, false
		}
	}
	if json.Unmarshal(row.Origin, &origin) == nil {
		if person, known := claudeKinds.origins[word(origin.Kind)]; known && !person {
			return true, false
		}
	}
	if person, known := claudeKinds.sources[word(row.Source)]; known {
		client, typed = !person, person
	}
	var message speaker // droid
	_ = json.Unmarshal(row.Message, &message)
	set := func(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }
	subtype, provenance := word(row.Subtype), word(row.Provenance)
	client = client || string(row.Summary) == "true" || set(message.Hook) || set(message.Visibility) ||
		provenance != "" && provenance != "real_user" || row.Type == "user" && subtype != "" && subtype != midTurn
	return client, typed && !client
}

// queued is what was typed into a running turn of Claude Code, which has no line of the person's.
func (row *speechRow) queued() []Part {
	var a struct{ Type, Prompt json.RawMessage }
	if json.Unmarshal(row.Attachment, &a) != nil || word(a.Type) != "queued_command" {
		return nil
	}
	return withoutEmpty([]Part{{Kind: Words, Role: User, Text: plain(a.Prompt)}})
}

// word is a string, "" where the value is none.
func word(v json.RawMessage) (s string) {
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
