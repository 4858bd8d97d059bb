package picker

import (
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
)

// What an agent wrote has its emphasis without the marks; what only looks like a mark is text.
func TestEmphasised(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                        "plain",
		"a **strong word** and *one*":  "a [strong word] and [one]",
		"**Use** `a*b*c`, not `**x**`": "[Use] {`}a*b*c{`}, not {`}**x**{`}",
		"## It is **done**":            "[It is done]",
		"#!/bin/sh":                    "#!/bin/sh",
		"2 * 3 * 4 and *.go and *.js":  "2 * 3 * 4 and *.go and *.js",
		"a*b*c, **open, ``, *":         "a*b*c, **open, ``, *",
		"(*p).x = (*q).y":              "(*p).x = (*q).y",
		"世*界*世, *世界*, **世界**.":         "世*界*世, [世界], [世界].",
	} {
		var b strings.Builder
		for _, s := range emphasised(text) {
			switch s.Style {
			case screen.Bold:
				b.WriteString("[" + s.Text + "]")
			case screen.Dim:
				b.WriteString("{" + s.Text + "}")
			default:
				b.WriteString(s.Text)
			}
		}
		if b.String() != want {
			t.Errorf("%q: %q, want %q", text, &b, want)
		}
	}
	lines := talkLines([]conversation.LastMessage{{Text: "```go\na := *b * *c\n```\n*so*"}, {Person: true, Text: "*as typed*"}}, "/p")
	var got []string
	for _, l := range lines {
		got = append(got, l.String())
	}
	if want := "```go|a := *b * *c|```|so||> *as typed*"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
}
