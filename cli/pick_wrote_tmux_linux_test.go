package cli_test

import "testing"

// The lines of a file, asked for at a row, are those that the row left, as the diff beside it has them; the title says so.
// The list of files begins at the one that the row changed.
func TestTmuxWhoWrote(t *testing.T) {
	x := newTmux(t, "120", "24")
	x.write("a.txt", "zero\n")
	x.write("b.txt", "b\n")
	x.write("c.txt", "c\n")
	x.run("init")
	x.turn(1, "first version", "b.txt", "first line\n", "Done.")
	x.turn(2, "second version", "b.txt", "second line\n", "Done.")
	x.keys("rewind", "Enter")
	x.shows(`@ .*now`, `second version`)
	x.keys("/", "first version", "Enter")
	x.shows(`> .*first version`, `\+first line`)
	x.keys("F")
	x.shows(`(?m)^> b\.txt`)
	x.keys("Enter")
	x.shows(`b\.txt, after \d+: who wrote each line`, `(?m)^> \d+ .*first version.* 1 first line`)
	x.keys("Escape", "Escape")
	x.shows(`^rewind .*checkpoints`)
	x.keys("g", "F")
	x.shows(`> a\.txt`)
	x.keys("b.txt", "Enter")
	x.shows(`b\.txt, now: who wrote each line`, `second version.* 1 second line`)
	x.keys("q", "q")
	x.shows(`(?m)^\$ *$`)
}
