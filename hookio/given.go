package hookio

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// given is what the words after an action's name say: the older tool's lines have the tool, the
// session and the tool's input there, and what stands in a payload beats it.
type given struct{ tool, session, source, input string }

// givenIn reads the words after action. A tool's events have the tool first and then the session,
// in some lines the other way round; a session's start has the session and its source. A word that
// nobody has expanded, and an empty one, keeps its place and says nothing.
func givenIn(words []string, action string) (g given) {
	at := slices.Index(words, action)
	if action == "" || at < 0 {
		return g
	}
	var plain []string
	for _, w := range words[at+1:] {
		switch {
		case strings.HasPrefix(w, "{"):
			if len(w) <= maxPatchBytes {
				g.input = w
			}
		case strings.HasPrefix(w, "$") || len(w) > maxFieldBytes:
			plain = append(plain, "")
		case !strings.HasPrefix(w, "-"):
			plain = append(plain, w)
		}
	}
	plain = append(plain, "", "")
	switch eventNamed(Generic, action).kind {
	case PreTool, PostTool:
		g.tool, g.session = plain[0], plain[1]
		if !isTool(g.tool) && (isTool(g.session) || len(plain) == 3) {
			g.tool, g.session = g.session, g.tool
		}
	default:
		g.session, g.source = plain[0], plain[1]
	}
	return g
}

// isTool reports whether some agent has a tool of that name.
func isTool(name string) bool {
	class := classOf(Generic, name)
	return class != NoTool && class != OtherTool
}

// complete adds to an event what its payload did not say.
func (g given) complete(d *payloadDecoder) {
	e := &d.event
	set := func(to *string, value string) {
		if *to == "" {
			*to = strings.ToValidUTF8(value, "\ufffd")
		}
	}
	set(&e.SessionID, g.session)
	set(&e.Source, g.source)
	if e.Kind == PreTool || e.Kind == PostTool {
		set(&e.Tool.Name, g.tool)
	}
	if g.input != "" && len(d.input.files) == 0 && d.input.command == "" {
		inner := jsonscan.Stream(strings.NewReader(g.input))
		members(inner, func(name string) { d.input.member(inner, name) })
		d.input.closeEdit()
	}
}
