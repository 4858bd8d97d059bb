package checkpoint

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

// Summary says in a line what a tool was called with: its command line's first line, or its
// files, relative to the root where they are below it.
func Summary(root string, by conversation.Trigger) string {
	if by.Command != "" {
		return bounded(strings.TrimSpace(by.Command))
	}
	if by.Files == "" {
		return ""
	}
	var files []string
	for file := range strings.SplitSeq(by.Files, "\n") {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) && rel != "." {
			file = filepath.ToSlash(rel)
		}
		files = append(files, file)
	}
	return bounded(strings.Join(files, ", "))
}

// bounded is s as it may be recorded: valid UTF-8, and no longer than a summary may be.
func bounded(s string) string {
	const cut = "…"
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= manifest.MaxToolSummary {
		return s
	}
	n := manifest.MaxToolSummary - len(cut)
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cut
}
