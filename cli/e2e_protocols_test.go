package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// protocol is how a client talks with its model: how a request says what was said,
// and how an answer, or a call of a tool, is put.
type protocol interface {
	// said are the parts of a conversation: who, and what, without what changes from request to request.
	said(raw []byte) []part
	answer(w http.ResponseWriter, text string, c *call)
}

// part is one block of a conversation.
type part struct {
	role string // user, assistant, tool
	text string // of the person's words; else ""
	call bool   // of a tool
	body any    // what is compared
}

// call is a tool call that a prompt scripts.
type call struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Custom string          `json:"custom"` // of tools that take a text
}

// protocolOf tells it from the path of a request; nil for other requests.
func protocolOf(path string) protocol {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chatProtocol{}
	case strings.HasSuffix(path, "/responses"):
		return responsesProtocol{}
	case strings.Contains(path, ":streamGenerateContent"):
		return geminiProtocol{}
	}
	return nil
}

// serveProtocol answers as serve does, for other clients than Claude's.
func (m *model) serveProtocol(w http.ResponseWriter, p protocol, raw []byte) {
	parts := p.said(raw)
	last, calls := "", 0
	var flat []any
	for _, b := range parts {
		switch {
		case b.call:
			calls++
		case b.text != "":
			last, calls = b.text, 0
		}
		flat = append(flat, []any{b.role, b.body})
	}
	m.mu.Lock()
	m.said = append(m.said, request{string(raw), flat})
	m.mu.Unlock()
	var script []string
	for _, d := range directive.FindAllStringSubmatch(last, -1) {
		script = append(script, d[1])
	}
	var c *call
	if calls < len(script) {
		c = &call{}
		if json.Unmarshal([]byte(script[calls]), c) != nil {
			c = nil
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	p.answer(w, fmt.Sprintf("DONE %d", calls), c)
}

func event(w http.ResponseWriter, kind string, data any) {
	b, _ := json.Marshal(data)
	if kind != "" {
		fmt.Fprintf(w, "event: %s\n", kind)
	}
	fmt.Fprintf(w, "data: %s\n\n", b)
}

// callID is unique, also where clients ask at the same time.
func callID() string { return fmt.Sprintf("call_%d", time.Now().UnixNano()) }

// surroundings are what clients tell the model of the machine, anew in each request.
func surroundings(text string) bool {
	text = strings.TrimSpace(text)
	for _, tag := range []string{"<system-reminder>", "<environment_context>", "<session_context>"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

// chatProtocol is OpenAI's chat completions.
type chatProtocol struct{}

func (chatProtocol) said(raw []byte) (parts []part) {
	var body struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   any    `json:"content"`
			ToolCalls []any  `json:"tool_calls"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	for _, m := range body.Messages {
		if m.Role == "system" {
			continue
		}
		blocks, ok := m.Content.([]any)
		if !ok && m.Content != nil {
			blocks = []any{map[string]any{"type": "text", "text": m.Content}}
		}
		for _, b := range blocks {
			text, _ := b.(map[string]any)["text"].(string)
			if strings.HasPrefix(text, "<current_datetime>") { // of Copilot CLI, before each prompt
				_, text, _ = strings.Cut(text, "</current_datetime>\n\n")
			}
			if surroundings(text) || text == "" {
				continue
			}
			one := part{role: m.Role, body: text}
			if m.Role == "user" {
				one.text = text
			}
			parts = append(parts, one)
		}
		for _, c := range m.ToolCalls {
			parts = append(parts, part{role: m.Role, call: true, body: c})
		}
	}
	return parts
}

func (chatProtocol) answer(w http.ResponseWriter, text string, c *call) {
	delta, stop := map[string]any{"role": "assistant", "content": text}, "stop"
	if c != nil {
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": callID(), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": string(c.Input)}}}}
		stop = "tool_calls"
	}
	chunk := func(choices ...any) map[string]any {
		return map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1", "choices": choices}
	}
	event(w, "", chunk(map[string]any{"index": 0, "delta": delta, "finish_reason": nil}))
	event(w, "", chunk(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": stop}))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// responsesProtocol is OpenAI's responses.
type responsesProtocol struct{}

func (responsesProtocol) said(raw []byte) (parts []part) {
	var body struct {
		Input []map[string]any `json:"input"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	for _, item := range body.Input {
		role, _ := item["role"].(string)
		kind, _ := item["type"].(string)
		delete(item, "id")
		delete(item, "internal_chat_message_metadata_passthrough")
		if role == "developer" {
			continue
		}
		if kind != "message" {
			one := part{role: "assistant", call: strings.HasSuffix(kind, "_call"), body: item}
			if !one.call {
				one.role = "tool"
			}
			parts = append(parts, one)
			continue
		}
		blocks, _ := item["content"].([]any)
		for _, b := range blocks {
			text, _ := b.(map[string]any)["text"].(string)
			if surroundings(text) {
				continue
			}
			one := part{role: role, body: text}
			if role == "user" {
				one.text = text
			}
			parts = append(parts, one)
		}
	}
	return parts
}

func (responsesProtocol) answer(w http.ResponseWriter, text string, c *call) {
	item := map[string]any{"id": "msg_" + callID(), "type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
	switch {
	case c != nil && c.Custom != "":
		item = map[string]any{"id": "ctc_1", "type": "custom_tool_call", "status": "completed", "call_id": callID(), "name": c.Name, "input": c.Custom}
	case c != nil:
		item = map[string]any{"id": "fc_1", "type": "function_call", "status": "completed", "call_id": callID(), "name": c.Name, "arguments": string(c.Input)}
	}
	response := map[string]any{"id": "resp_" + callID(), "object": "response", "status": "completed", "output": []any{item},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}}}
	event(w, "response.created", map[string]any{"type": "response.created", "response": map[string]any{"id": response["id"], "status": "in_progress", "output": []any{}}})
	event(w, "response.output_item.added", map[string]any{"type": "response.output_item.added", "output_index": 0, "item": item})
	event(w, "response.output_item.done", map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", map[string]any{"type": "response.completed", "response": response})
}

// geminiProtocol is Google's.
type geminiProtocol struct{}

func (geminiProtocol) said(raw []byte) (parts []part) {
	var body struct {
		Contents []struct {
			Role  string           `json:"role"`
			Parts []map[string]any `json:"parts"`
		} `json:"contents"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	for _, m := range body.Contents {
		for _, p := range m.Parts {
			text, _ := p["text"].(string)
			if surroundings(text) {
				continue
			}
			delete(p, "thoughtSignature")
			one := part{role: m.Role, body: p, call: p["functionCall"] != nil}
			if m.Role == "user" && p["functionResponse"] == nil {
				one.text = text
			}
			parts = append(parts, one)
		}
	}
	return parts
}

func (geminiProtocol) answer(w http.ResponseWriter, text string, c *call) {
	p := map[string]any{"text": text}
	if c != nil {
		p = map[string]any{"functionCall": map[string]any{"name": c.Name, "args": c.Input}}
	}
	event(w, "", map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{p}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "fake-1",
	})
}
