package checkpoint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

func TestSummary(t *testing.T) {
	for name, c := range map[string]struct {
		by   conversation.Trigger
		want string
	}{
		"nothing":            {},
		"a command":          {conversation.Trigger{Command: " make \t", Files: "/p/x"}, "make"},
		"a file":             {conversation.Trigger{Files: "/p/src/x.go"}, "src/x.go"},
		"one outside":        {conversation.Trigger{Files: "/p/a\n/pp/b"}, "a, /pp/b"},
		"above":              {conversation.Trigger{Files: "/p/../etc/passwd"}, "/p/../etc/passwd"},
		"the root itself":    {conversation.Trigger{Files: "/p"}, "/p"},
		"a URI":              {conversation.Trigger{Files: "https://x.org/"}, "https://x.org/"},
		"no UTF-8":           {conversation.Trigger{Command: "echo \xff\xfe"}, "echo \uFFFD"},
		"cut by a character": {conversation.Trigger{Command: strings.Repeat("é", 150)}, strings.Repeat("é", 98) + "…"},
	} {
		got := Summary("/p", c.by)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(got) > manifest.MaxToolSummary || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %v", name, len(got), utf8.ValidString(got))
		}
	}
}
