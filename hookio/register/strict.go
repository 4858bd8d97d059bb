package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/rewind-cli/rewind/hookio"
)

// looseJSON says in which line a text that is JSON with comments and trailing commas has the first of them; 0: in none.
func looseJSON(b []byte) (line int, what string) {
	var bad *json.SyntaxError
	if len(bytes.Trim(b, blanks)) == 0 || !errors.As(json.Unmarshal(b, new(json.RawMessage)), &bad) {
		return 0, ""
	}
	at := max(int(bad.Offset)-1, 0)
	switch what = "something that is not JSON"; b[at] {
	case '/':
		what = "a comment"
	case '}', ']':
		at, what = bytes.LastIndexByte(b[:at], ','), "a comma with nothing behind it"
	}
	return lineOf(b, at), what
}

func lineOf(b []byte, offset int) int { return 1 + bytes.Count(b[:max(offset, 0)], []byte("\n")) }

// claudeReads finds what keeps Claude Code from reading a settings file that calls us: it takes nothing but JSON, and
// looks at the types of what is in it.
func claudeReads(f SettingsFile, root hujson.Value) (out []Finding) {
	text := f.Content
	add := func(code FindingCode, line int, cure, detail string, args ...any) {
		detail = fmt.Sprintf("line %d has %s", line, fmt.Sprintf(detail, args...))
		out = append(out, Finding{Code: code, File: f.Path, Detail: detail, Cure: fmt.Sprintf("%s in line %d of %s", cure, line, f.Path)})
	}
	const bom = "\ufeff"
	if bytes.HasPrefix(text, []byte(bom)) {
		add(OlderIgnores, 1, "remove that", "a byte order mark")
		text = append([]byte("   "), text[len(bom):]...)
	}
	if line, what := looseJSON(text); line > 0 {
		add(Ignored, line, "remove that", "%s, and it reads nothing but JSON", what)
		return out
	}
	top, _ := containerOf(root)
	if permissions, ok := top.member("permissions"); ok {
		fields, isObject := containerOf(permissions.value)
		if !isObject || isList(permissions.value) {
			add(Ignored, lineOf(text, permissions.start), "write an object", `"permissions", which is no object`)
		}
		for _, name := range []string{"allow", "deny", "ask", "additionalDirectories"} {
			if m, ok := fields.member(name); ok && !isTexts(m.value) {
				add(Ignored, lineOf(text, m.start), "write a list", "permissions.%s, which is no list of strings", name)
			}
		}
	}
	events, _ := form{}.eventsIn(root)
	for _, event := range events.items {
		if !isList(event.value) || !slices.Contains(classicEvents, event.name) {
			continue // inspectEvents says it
		}
		groups, _ := containerOf(event.value)
		for _, group := range groups.items {
			fields, _ := containerOf(group.value)
			list, _ := fields.member("hooks")
			if !isList(list.value) {
				add(OlderIgnores, lineOf(text, group.start), "add one", `an entry of %s without a list "hooks"`, event.name)
				continue
			}
			hooks, _ := containerOf(list.value)
			for _, hook := range hooks.items {
				fields, _ := containerOf(hook.value)
				m, ok := fields.member("timeout")
				var seconds float64
				if !ok || json.Unmarshal(text[m.value.StartOffset:m.value.EndOffset], &seconds) == nil && seconds > 0 {
					continue
				}
				code := OlderIgnores // the entry is the person's
				if _, ours := ourEntry(hook.value); ours {
					code = Ignored
				}
				add(code, lineOf(text, m.start), "write seconds", "a timeout that is no number above 0")
			}
		}
	}
	return out
}

// milliseconds is the timeout of any event's hook.
func milliseconds(string) string { return Seconds + "000" }

// shortTimeouts finds hooks of ours whose timeout was written in seconds, which who (the agent, or some versions of it) reads as milliseconds.
func shortTimeouts(agent hookio.Agent, who string) func(f SettingsFile, root hujson.Value) []Finding {
	return func(f SettingsFile, root hujson.Value) []Finding {
		for _, e := range entriesIn(root, form{}) {
			if ms, err := strconv.ParseFloat(e.Timeout, 64); err == nil && ms < 1000 && !e.Older {
				return []Finding{{Code: AgentsOwn, File: f.Path,
					Detail: fmt.Sprintf("%s: after %s milliseconds, the hooks of rewind in %s are stopped", who, e.Timeout, f.Path),
					Cure:   "rewind config --register-hooks --agent " + string(agent)}}
			}
		}
		return nil
	}
}

// isTexts reports whether a value is a list of strings.
func isTexts(v hujson.Value) bool {
	list, _ := containerOf(v)
	return isList(v) && !slices.ContainsFunc(list.items, func(it item) bool { return it.value.Value.Kind() != '"' })
}
