package hookio

import (
	"strings"
	"testing"
)

// TestWordsAfterTheAction: the lines of the older tool's settings, as its versions had them.
func TestWordsAfterTheAction(t *testing.T) {
	for _, c := range []struct {
		words, payload                 string
		kind                           EventKind
		class                          Class
		tool, session, source, command string
	}{
		{"pre-modify Edit session-123", "", PreTool, Edit, "Edit", "session-123", "", ""},
		{"pre-modify session-123 Edit", "", PreTool, Edit, "Edit", "session-123", "", ""},
		{"pre-modify session-123", "", PreTool, Edit, "", "session-123", "", ""},
		{"pre-modify Edit", "", PreTool, Edit, "Edit", "", "", ""},
		{"pre-modify $TOOL_NAME $SESSION_ID", "", PreTool, Edit, "", "", "", ""},
		{"pre-modify mine session-123", "", PreTool, Edit, "mine", "session-123", "", ""},
		{"pre-modify Edit a", `{"session_id":"b","tool_name":"Write"}`, PreTool, Edit, "Write", "b", "", ""},
		{"pre-tool-use Bash s {\"command\":\"ls\"}", "", PreTool, Shell, "Bash", "s", "", "ls"},
		{"post-bash Bash s", "", PostTool, Shell, "Bash", "s", "", ""},
		{"session-start s startup", "", SessionStart, NoTool, "", "s", "startup", ""},
		{"analyze-prompt s", `{"prompt":"x"}`, Prompt, NoTool, "", "s", "", ""},
		{"stop --quiet s", "{}", Stop, NoTool, "", "s", "", ""},
		{"claude pre-modify Edit s", "", PreTool, Edit, "Edit", "s", "", ""},
		{"claude", `{"hook_event_name":"Stop"}`, Stop, NoTool, "", "", "", ""},
		{"nonsense Edit s", "", Ignored, NoTool, "", "", "", ""},
	} {
		e := Decode(strings.NewReader(c.payload), strings.Split(c.words, " "), noEnv)
		if e.Kind != c.kind || e.Tool.Class != c.class || e.Tool.Name != c.tool || e.SessionID != c.session || e.Source != c.source || e.Tool.Command != c.command {
			t.Errorf("%s: %+v", c.words, e)
		}
	}
	// A tool's input alone, on stdin.
	e := Decode(strings.NewReader(`{"file_path":"/p/test.js","old_string":"ab","new_string":"abcdef"}`), []string{"pre-modify", "s", "Edit"}, noEnv)
	if len(e.Tool.Files) != 1 || e.Tool.ChangedChars != 6 || e.Damaged != nil {
		t.Errorf("%+v", e)
	}
}
