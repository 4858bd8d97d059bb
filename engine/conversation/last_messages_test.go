package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/transcript"
)

func TestSayings(t *testing.T) {
	for line, want := range map[string][]LastMessage{
		`{"type":"user","message":{"role":"user","content":"add tz"}}`:                                                {{Person: true, Text: "add tz"}},
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"ok"}]}}`:                 nil,
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"caveat"}}`:                                  nil,
		`{"type":"user","message":{"role":"user","content":"<command-name>/x</command-name>"}}`:                       {{Person: true, Text: "/x"}},
		`{"type":"user","message":{"role":"user","content":"<task-notification>x"}}`:                                  nil,
		`{"type":"user","message":{"role":"user","content":"<div> is not closed"}}`:                                   {{Person: true, Text: "<div> is not closed"}},
		`{"isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"x"}]}}`:                  nil,
		`{"type":"response_item","payload":{"role":"assistant","content":[{"type":"output_text","text":" done\n"}]}}`: {{Text: "done"}},
		`{"message":{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","name":"Bash","input":{"command":"go test"}}]}}`: {
			{Text: "I look"}, {Tool: "Bash", Text: "go test"}},
		`{"message":{"role":"assistant","content":[{"type":"toolCall","name":"edit","arguments":{"path":"a.go"}}]}}`: {{Tool: "edit", Text: "a.go"}},
		`{"message":{"role":"assistant","content":17}}`:                                                              nil,
		`{"summary":"x"}`: nil,
		"\x00not json":    nil,
	} {
		if got := messagesOf(transcript.Claude, []byte(line)); !slices.Equal(got, want) {
			t.Errorf("%s\nsays %+v, want %+v", line, got, want)
		}
	}
	long := messagesOf(transcript.Claude, []byte(`{"role":"user","content":"`+strings.Repeat("é", maxSaying)+`"}`))
	if len(long) != 1 || len(long[0].Text) > maxSaying+len("…") {
		t.Errorf("a long saying has %d bytes", len(long[0].Text))
	}
}

// The end of a conversation is whole lines, whatever its size.
func TestLastBytes(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, n := range []int{1, 50, 5000, 1 << 20} {
		tail, err := lastBytes(context.Background(), strings.NewReader(text.String()), n)
		if err != nil || !strings.HasSuffix(text.String(), string(tail)) || len(tail) > n || len(tail) > 0 && !strings.HasPrefix(string(tail), "line ") {
			t.Errorf("%d: %q, %v", n, tail[:min(len(tail), 40)], err)
		}
	}
}
