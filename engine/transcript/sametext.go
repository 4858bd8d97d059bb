package transcript

import (
	"regexp"
	"strings"
)

// ForgottenMark replaces a text that was forgotten, filled up with asterisks to its
// length; where that is too short, asterisks alone.
const ForgottenMark = "[forgotten]"

// SameText reports whether two texts of a prompt are the same, but for white space around them and
// for what was forgotten in either: a record can have a mark where the agent's file still has the text.
func SameText(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a == b || matchesMarked(a, b) || matchesMarked(b, a)
}

// matchesMarked reports whether text is what marked was before something in it was forgotten.
func matchesMarked(marked, text string) bool {
	if !strings.Contains(marked, ForgottenMark) && !strings.Contains(marked, "****") {
		return false
	}
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	at := 0
	marks := regexp.MustCompile(`\[forgotten\]\**|\*{4,}`)
	for _, m := range marks.FindAllStringIndex(marked, -1) {
		pattern.WriteString(regexp.QuoteMeta(marked[at:m[0]]) + ".+")
		at = m[1]
	}
	pattern.WriteString(regexp.QuoteMeta(marked[at:]) + `\z`)
	whole, err := regexp.Compile(pattern.String())
	return err == nil && whole.MatchString(text) // too long a text is no match: time decides
}
