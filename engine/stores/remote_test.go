package stores

import "testing"

func TestRemoteByName(t *testing.T) {
	for _, c := range []struct {
		name   string
		local  bool
		remote bool
	}{
		{"apfs", true, false}, {"hfs", true, false}, {"exfat", true, false}, {"msdos", true, false}, {"tmpfs", true, false},
		{"nfs", false, true}, {"nfs", true, true}, {"smbfs", false, true}, {"afpfs", false, true}, {"webdav", false, true},
		{"osxfuse", true, true}, {"macfuse", true, true}, {"fusefs_txantfs", true, true}, {"AppleVirtIOFS", true, true},
		{"whatever", false, true}, {"", false, true},
	} {
		if kind, remote := remoteByName(c.name, c.local); remote != c.remote || remote && kind == "" && c.name != "" {
			t.Errorf("%s, local %v: %q, %v", c.name, c.local, kind, remote)
		}
	}
}
