package rootfs

import "testing"

// What a restore names its files is taken for nothing else, and nothing else for it.
func TestIsRestores(t *testing.T) {
	for name, want := range map[string]bool{
		Reserved("00112233445566aa-0"): true, Aside(Reserved("00112233445566aa-17")): true,
		Reserved("checkout"): false, Reserved("export-123"): false, Reserved("00112233445566aa-"): false, Reserved("00112233445566AA-0"): false,
		Reserved("00112233445566a-0"): false, Reserved("00112233445566aa-0.bak"): false, Reserved("00112233445566aa-x"): false, "00112233445566aa-0": false,
	} {
		if IsRestores(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
