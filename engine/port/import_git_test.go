package port

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/manifest"
)

// A line of a session that is too long to be the extension's, with a picture in it, hides nothing that follows it.
func TestPiBindingsBehindALongLine(t *testing.T) {
	line := func(entry, snapshot string) string {
		return fmt.Sprintf(`{"type":"custom","customType":"rewind-turn","data":{"snapshots":[%q],"bindings":[[%q,0]]}}`, snapshot, entry)
	}
	there := map[manifest.CheckpointID]bool{importID("git:one"): true, importID("git:two"): true}
	for name, end := range map[string]string{"with a last newline": "\n", "without": ""} {
		session := strings.Join([]string{`{"type":"session","id":"s"}`, line("e1", "one"), strings.Repeat("x", maxPiLine+5), line("e2", "two")}, "\n") + end
		all := piBindingsIn(strings.NewReader(session), there)
		if len(all) != 2 || all[0].Entries[0] != "e1" || all[1].Entries[0] != "e2" || all[1].Session != "s" {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
