package workload

import (
	"encoding/json"
	"fmt"
	"time"
)

// Transcript is a conversation in the format of Claude Code that grows turn by
// turn to about a given size: a prompt, an answer, tool calls with their results.
type Transcript struct {
	Session string
	Cwd     string
	seed    uint64
	perTurn int // bytes
	turn    int
	parent  string // id of the event before
	events  int
}

// NewTranscript grows to size bytes in so many turns.
func NewTranscript(seed uint64, cwd string, turns, size int) *Transcript {
	return &Transcript{Session: uuid(derive(seed, 0x5e5)), Cwd: cwd, seed: seed, perTurn: size / turns}
}

// Prompt of a turn, as the person types it.
func (t *Transcript) Prompt(turn int) string {
	return fmt.Sprintf("%d: please %s", turn, string(Content(t.seed^uint64(turn)*77, 120)))
}

type event struct {
	Parent    *string        `json:"parentUuid"`
	Sidechain bool           `json:"isSidechain"`
	UserType  string         `json:"userType"`
	Cwd       string         `json:"cwd"`
	Session   string         `json:"sessionId"`
	Version   string         `json:"version"`
	Branch    string         `json:"gitBranch"`
	PromptID  string         `json:"promptId,omitempty"`
	Message   map[string]any `json:"message"`
	Type      string         `json:"type"`
	UUID      string         `json:"uuid"`
	Time      string         `json:"timestamp"`
}

// Next gives the lines of the next turn, each with its newline.
func (t *Transcript) Next() ([]byte, error) {
	t.turn++
	r := derive(t.seed, 0x7a1, uint64(t.turn))
	prompt := uuid(r)
	var out []byte
	add := func(kind string, message map[string]any) error {
		e := event{UserType: "external", Cwd: t.Cwd, Session: t.Session, Version: "2.1.329", Branch: "main", PromptID: prompt,
			Message: message, Type: kind, UUID: uuid(r),
			Time: time.Date(2026, 1, 2, 9, 0, t.events, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")}
		if t.parent != "" {
			parent := t.parent
			e.Parent = &parent
		}
		t.parent, t.events = e.UUID, t.events+1
		line, err := json.Marshal(e)
		out = append(append(out, line...), '\n')
		return err
	}
	if err := add("user", map[string]any{"role": "user", "content": t.Prompt(t.turn)}); err != nil {
		return nil, err
	}
	var file []byte // that the agent works on
	for call := 0; len(out) < t.perTurn; call++ {
		id := fmt.Sprintf("toolu_%d_%d", t.turn, call)
		use := map[string]any{"type": "tool_use", "id": id, "name": "Read", "input": map[string]any{"file_path": t.Cwd + "/" + string(appendHex(nil, r.next()))}}
		text := map[string]any{"type": "text", "text": string(Content(r.next(), 300))}
		if err := add("assistant", map[string]any{"role": "assistant", "id": "msg_" + id, "type": "message", "model": "m", "content": []any{text, use}}); err != nil {
			return nil, err
		}
		size := min(max(0, t.perTurn-len(out)-1800), 12_000) // what the lines themselves take is about that
		if file == nil || r.chance(60) {
			file = Content(r.next(), size)
		} else { // the same file again, edited
			file = editLine(file, r.next())
			file = file[:min(len(file), size)]
		}
		result := map[string]any{"type": "tool_result", "tool_use_id": id, "content": string(file)}
		if err := add("user", map[string]any{"role": "user", "content": []any{result}}); err != nil {
			return nil, err
		}
	}
	err := add("assistant", map[string]any{"role": "assistant", "id": fmt.Sprintf("msg_%d", t.turn), "type": "message", "model": "m",
		"content": []any{map[string]any{"type": "text", "text": "done: " + string(Content(r.next(), 200))}}, "stop_reason": "end_turn"})
	return out, err
}

func uuid(r *random) string {
	a, b := r.next(), r.next()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&(1<<48-1))
}
