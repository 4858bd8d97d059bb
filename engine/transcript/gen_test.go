package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// maker writes synthetic transcripts in the shapes of a client's version. It
// keeps the tree as it goes, so that tests know what must be found in it.
type maker struct {
	agent   Agent
	version string // claude: 2.0.30, 2.1.50, 2.1.329; droid: 0.215
	session string
	cwd     string
	now     time.Time
	buf     bytes.Buffer

	n       int
	leaf    string // where the conversation stands
	parents map[string]string
	prompts map[string]string // event: text
	order   []string          // events in file order
	prompt  string            // current prompt id
}

func newMaker(agent Agent, version string) *maker {
	m := &maker{
		agent: agent, version: version, session: "61933d95-0000-4000-8000-000000000001", cwd: "/srv/a.b_c d+e",
		now: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC), parents: map[string]string{}, prompts: map[string]string{},
	}
	if agent == Droid {
		m.raw(fmt.Sprintf(`{"type":"session_start","id":%q,"title":"first prompt","owner":"someone","version":2,"cwd":%q,"hostId":"h1","isSessionTitleManuallySet":false}`, m.session, m.cwd))
	}
	return m
}

func (m *maker) raw(line string) {
	m.buf.WriteString(line)
	m.buf.WriteByte('\n')
}

func (m *maker) id() string {
	m.n++
	return fmt.Sprintf("%08x-aaaa-4bbb-8ccc-%012x", m.n*2654435761&0xffffffff, m.n)
}

func (m *maker) time() string {
	m.now = m.now.Add(1100 * time.Millisecond)
	return stamp(m.now)
}

func js(v any) string { return string(mustJSON(v)) }

func mustJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// event adds a line to the tree below parent; body are its members, in JSON
// without braces, that come before the common ones.
func (m *maker) event(parent, typ, body string) string {
	id := m.id()
	p := "null"
	if parent != "" {
		p = js(parent)
	}
	m.parents[id] = parent
	m.order = append(m.order, id)
	m.leaf = id
	if m.agent == Droid {
		key := ""
		if parent != "" {
			key = `"parentId":` + p + ","
		}
		m.raw(fmt.Sprintf(`{"type":%q,"id":%q,%s"timestamp":%q,%s}`, typ, id, key, m.time(), body))
		return id
	}
	m.raw(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,%s,"type":%q,"uuid":%q,"timestamp":%q,"userType":"external","entrypoint":"cli","cwd":%s,"sessionId":%q,"version":%q,"gitBranch":"main","cost":1.50e-1}`,
		p, body, typ, id, m.time(), js(m.cwd), m.session, m.version))
	return id
}

// say is a real prompt of the person.
func (m *maker) say(text string) string {
	m.prompt = m.id()
	var id string
	if m.agent == Droid {
		if m.leaf == "" {
			m.event("", "message", `"message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is Friday\n</system-reminder>"}],"visibility":"llm_only"}`)
		}
		id = m.event(m.leaf, "message", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"text","text":%s}],"interactionMode":"auto"}`, js(text)))
	} else {
		extra := ""
		if m.version == "2.1.329" {
			m.raw(fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":%q,"content":%s}`, m.time(), m.session, js(text)))
			extra = fmt.Sprintf(`"promptId":%q,"origin":{"kind":"human"},"promptSource":"typed","turnPosition":{"promptIndex":1,"turnIndex":1},`, m.prompt)
		}
		id = m.event(m.leaf, "user", extra+fmt.Sprintf(`"message":{"role":"user","content":%s}`, js(text)))
		switch m.version {
		case "2.1.329":
			for _, kind := range []string{"environment", "date"} {
				m.event(m.leaf, "attachment", fmt.Sprintf(`"attachment":{"type":%q}`, kind))
			}
		case "2.1.50":
			m.event(m.leaf, "progress", `"data":{"type":"hook_progress"}`)
		}
	}
	m.prompts[id] = text
	return id
}

// reply is an answer in text.
func (m *maker) reply(text string) string {
	msg := fmt.Sprintf("msg_%d", m.n)
	if m.agent == Droid {
		return m.event(m.leaf, "message", fmt.Sprintf(`"message":{"role":"assistant","content":[{"type":"text","text":%s}],"modelId":"m"}`, js(text)))
	}
	m.event(m.leaf, "assistant", fmt.Sprintf(`"message":{"model":"m","id":%q,"type":"message","role":"assistant","content":[{"type":"text","text":%s}],"stop_reason":null}`, msg, js(text)))
	leaf := m.leaf
	if m.version == "2.1.329" {
		m.raw(fmt.Sprintf(`{"type":"last-prompt","lastPrompt":"x","leafUuid":%q,"sessionId":%q}`, leaf, m.session))
		m.raw(fmt.Sprintf(`{"type":"cost-state","sessionId":%q,"totalCostUSD":0.10}`, m.session))
	}
	return leaf
}

// calls is a message with n tool calls, answered ones in the order given
// (indexes), in the shape of the version: on a new client the results hang on
// their calls, and only the last written one leads on.
func (m *maker) calls(n int, answers ...int) (ids []string) {
	msg := fmt.Sprintf("msg_%d", m.n)
	at := make([]string, n)
	if m.agent == Droid {
		var blocks []any
		for range n {
			id := fmt.Sprintf("call_%d_%d", m.n, len(ids))
			ids = append(ids, id)
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": id, "name": "Execute", "input": map[string]any{"command": "ls"}})
		}
		m.event(m.leaf, "message", `"message":{"role":"assistant","content":`+js(blocks)+`,"modelId":"m"}`)
		var results []any
		for _, a := range answers {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": ids[a], "is_error": false, "content": "ok"})
		}
		if len(results) > 0 {
			m.event(m.leaf, "message", `"message":{"role":"user","content":`+js(results)+`}`)
		}
		return ids
	}
	m.event(m.leaf, "assistant", fmt.Sprintf(`"message":{"model":"m","id":%q,"type":"message","role":"assistant","content":[{"type":"text","text":"I call"}]}`, msg))
	for i := range n {
		id := fmt.Sprintf("toolu_%d", m.n)
		ids = append(ids, id)
		at[i] = m.event(m.leaf, "assistant", fmt.Sprintf(`"message":{"model":"m","id":%q,"type":"message","role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"cat %s/tool-results/x.txt","sessionId":%q}}]}`, msg, id, m.session, m.session))
	}
	for _, a := range answers {
		parent, extra := at[a], fmt.Sprintf(`"sourceToolAssistantUUID":%q,`, at[a])
		if m.version == "2.0.30" {
			parent, extra = m.leaf, ""
		}
		if m.version == "2.1.329" {
			extra += fmt.Sprintf(`"promptId":%q,`, m.prompt)
		}
		m.event(parent, "user", extra+fmt.Sprintf(`"message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":"line \"1\"\n"}]},"toolUseResult":{"stdout":"line"}`, ids[a]))
	}
	return ids
}

// compact is a compaction: a boundary without a parent, and the summary.
func (m *maker) compact() {
	old := m.leaf
	id := m.event("", "system", fmt.Sprintf(`"logicalParentUuid":%q,"subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"manual","preTokens":47}`, old))
	m.parents[id] = old
	m.event(id, "user", `"message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context."},"isVisibleInTranscriptOnly":true,"isCompactSummary":true`)
}

// rewind goes to the event before the prompt, as the client's own does: it writes nothing.
func (m *maker) rewind(prompt string) { m.leaf = m.parents[prompt] }

// chain is the way from the root to leaf.
func (m *maker) chain(leaf string) []string {
	var out []string
	for ; leaf != ""; leaf = m.parents[leaf] {
		out = append([]string{leaf}, out...)
	}
	return out
}

// said are the prompts on the way to leaf, newest first.
func (m *maker) said(leaf string) []string {
	var out []string
	for ; leaf != ""; leaf = m.parents[leaf] {
		if text, ok := m.prompts[leaf]; ok {
			out = append(out, text)
		}
	}
	return out
}

// makers are all versions that there are fixtures of.
func makers() []*maker {
	return []*maker{newMaker(Claude, "2.0.30"), newMaker(Claude, "2.1.50"), newMaker(Claude, "2.1.329"), newMaker(Droid, "0.215")}
}
