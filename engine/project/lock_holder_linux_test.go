package project

import "testing"

// Who holds a lock is read from the kernel's list: waiters, other files and other kinds of
// locks are none.
func TestHolderIn(t *testing.T) {
	const list = "1: POSIX  ADVISORY  WRITE 11 fe:01:42 0 EOF\n" +
		"2: FLOCK  ADVISORY  WRITE 12 fe:01:421 0 EOF\n" +
		"3: -> FLOCK  ADVISORY  WRITE 13 fe:01:42 0 EOF\n" +
		"4: FLOCK  ADVISORY  READ 14 fe:01:42 0 EOF\n"
	for inode, want := range map[uint64]int{42: 14, 421: 12, 7: 0} {
		if got := holderIn(list, inode); got != want {
			t.Errorf("%d: %d, want %d", inode, got, want)
		}
	}
	if holderIn("nonsense", 42) != 0 {
		t.Error("nonsense holds a lock")
	}
}
