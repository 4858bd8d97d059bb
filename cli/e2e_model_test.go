package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// model answers as the Messages API does. A prompt scripts its own answer: each
// %%{"name":…,"input":…}%% in it is a tool call, one per request.
type model struct {
	*httptest.Server
	mu      sync.Mutex
	said    []request
	helpers []string // requests without tools: titles and the like
}

type request struct {
	raw      string
	messages []any // without what changes from request to request
}

var directive = regexp.MustCompile(`(?s)%%(\{.*?\})%%`)

func newModel(t *testing.T) *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	var raw bytes.Buffer
	_, err := raw.ReadFrom(r.Body)
	if p := protocolOf(r.URL.Path); err == nil && p != nil {
		m.serveProtocol(w, p, raw.Bytes())
		return
	}
	if err != nil || !strings.HasSuffix(r.URL.Path, "/messages") {
		http.NotFound(w, r)
		return
	}
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []any `json:"tools"`
	}
	if json.Unmarshal(raw.Bytes(), &body) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	last, calls := "", 0 // what was said since the last answer: a client may say more behind the prompt
	answered := false
	for _, msg := range body.Messages {
		text, uses, results := lookInto(msg.Content)
		switch {
		case msg.Role == "assistant":
			calls, answered = calls+uses, true
		case msg.Role == "user" && results == 0 && strings.TrimSpace(text) != "":
			if answered {
				last = ""
			}
			last, calls, answered = last+text, 0, false
		}
	}
	var script []string
	for _, d := range directive.FindAllStringSubmatch(last, -1) {
		script = append(script, d[1])
	}
	blocks, stop := []map[string]any{{"type": "text", "text": fmt.Sprintf("DONE %d", calls)}}, "end_turn"
	var call struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if calls < len(script) && len(body.Tools) > 0 && json.Unmarshal([]byte(script[calls]), &call) == nil {
		id := fmt.Sprintf("toolu_%d", time.Now().UnixNano())
		blocks = []map[string]any{{"type": "text", "text": "calling"}, {"type": "tool_use", "id": id, "name": call.Name, "input": call.Input}}
		stop = "tool_use"
	}
	if len(body.Tools) > 0 {
		m.mu.Lock()
		m.said = append(m.said, request{raw.String(), messagesOf(raw.Bytes())})
		m.mu.Unlock()
	} else {
		m.mu.Lock()
		m.helpers = append(m.helpers, raw.String())
		m.mu.Unlock()
	}
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, data map[string]any) {
		data["type"] = kind
		b, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	event("message_start", map[string]any{"message": map[string]any{"id": fmt.Sprintf("msg_%d", time.Now().UnixNano()), "type": "message",
		"role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "usage": usage}})
	for i, b := range blocks {
		start, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b["text"]}
		if b["type"] == "tool_use" {
			start = map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(b["input"].(json.RawMessage))}
		}
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		event("content_block_delta", map[string]any{"index": i, "delta": delta})
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": usage})
	event("message_stop", map[string]any{})
}

func lookInto(content json.RawMessage) (text string, uses, results int) {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s, 0, 0
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(content, &blocks) // another shape has no text
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if !surroundings(b.Text) { // what a hook tells comes like a reminder, and is no prompt
				text += b.Text + "\n"
			}
		case "tool_use":
			uses++
		case "tool_result":
			results++
		}
	}
	return text, uses, results
}

// messagesOf is what a request says, flat: a list of role and block, without
// caching marks and without the reminders that clients add as they see fit.
func messagesOf(raw []byte) (flat []any) {
	var body struct {
		Messages []struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	for _, m := range body.Messages {
		if m.Role == "system" {
			continue // reminders of newer clients
		}
		blocks, ok := m.Content.([]any)
		if !ok {
			blocks = []any{map[string]any{"type": "text", "text": m.Content}}
		}
		for _, b := range blocks {
			block, _ := b.(map[string]any)
			delete(block, "cache_control")
			if text, _ := block["text"].(string); strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>") {
				continue
			}
			if block["type"] == "tool_result" {
				delete(block, "is_error")
			}
			flat = append(flat, []any{m.Role, block})
		}
	}
	return flat
}

// since gives the requests from the n-th on.
func (m *model) since(n int) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said[n:])
}

func (m *model) count() int { return len(m.since(0)) }
