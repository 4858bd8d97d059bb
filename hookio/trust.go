package hookio

import (
	"bytes"
	"strings"
)

// FolderTrusted reads Claude Code's ~/.claude.json: interactive sessions run no
// hooks in a folder before it is trusted. known is false where the file says
// nothing about dir or a directory above it.
func FolderTrusted(claudeJSON []byte, dir string) (trusted, known bool) {
	dir = strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	s := newScanner(bytes.NewReader(claudeJSON))
	s.object(func(name string) {
		if name != "projects" {
			s.skip()
			return
		}
		s.object(func(folder string) {
			folder = strings.TrimSuffix(strings.ReplaceAll(folder, `\`, "/"), "/")
			if dir != folder && !strings.HasPrefix(dir, folder+"/") {
				s.skip()
				return
			}
			s.object(func(key string) {
				if key == "hasTrustDialogAccepted" {
					known = true
					trusted = s.peek() == 't' || trusted
				}
				s.skip()
			})
		})
	})
	return trusted, known
}
