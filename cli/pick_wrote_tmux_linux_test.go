package cli_test

import (
	"strings"
	"testing"
)

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

// What was recorded while the picker is open counts the checkpoints anew: the list counts as what was asked since then does.
func TestTmuxCountsOnce(t *testing.T) {
	for _, c := range []struct{ keys, shows, leave []string }{
		{[]string{"F", "b.txt", "Enter"}, []string{`(?m)^> 4 .*second version.* 1 second line`}, []string{"q"}},
		{[]string{"/", "second line", "Tab"}, []string{`1 line with second line`, `came with 4 `}, []string{"q", "Escape"}},
		{[]string{"i"}, []string{`4 prompt second version`}, []string{"q"}},
	} {
		x := newTmux(t, "120", "24")
		x.write("a.txt", "zero\n")
		x.run("init")
		x.turn(1, "first version", "b.txt", "first line\n", "Done.")
		x.turn(2, "second version", "b.txt", "second line\n", "Done.")
		x.keys("rewind", "Enter")
		x.shows(`@ .*now`, `2 .*prompt +second version`)
		x.turn(3, "third version", "c.txt", "third line\n", "Done.")
		for _, k := range c.keys {
			x.keys(k)
		}
		x.shows(c.shows...)
		x.keys(c.leave...)
		x.shows(`2 .*prompt +third version`, `4 .*prompt +second version`)
		x.keys("q")
		x.shows(`(?m)^\$ *$`)
	}
}

// The operations name what they were about, and a restore to before a revert names it among what it undoes.
func TestTmuxNamesReverts(t *testing.T) {
	x := newTmux(t, "140", "30")
	x.write("a.txt", "zero\n")
	x.run("init")
	x.turn(1, "first version", "b.txt", "first line\n", "Done.")
	x.turn(2, "second file", "c.txt", "second line\n", "Done.")
	x.keys("rewind", "Enter")
	x.shows(`@ .*now`, `second file`)
	x.keys("/", "second file", "Enter", "j", "v")
	x.shows(`y/n revert`)
	x.keys("y")
	x.shows(`Reverted: `)
	x.keys("o")
	x.shows(`revert +of \d+ "second file"`)
	x.keys("q")
	x.keys("/", "first version", "Enter", "c")
	x.shows(`undoes: the revert of \d+ "second file"`)
	x.keys("n", "u")
	x.shows(`Undo the revert`)
	x.keys("y")
	x.shows(`Undone: `)
	x.keys("o")
	x.shows(`undo +of the revert of \d+ "second file"`)
	x.keys("q", "c")
	x.shows(`Restore to`, `y/n restore`)
	if strings.Contains(x.screen(), "the revert") {
		t.Errorf("a revert that was taken back is undone again:\n%s", x.screen())
	}
	x.keys("n", "Escape", "q")
	x.shows(`(?m)^\$ *$`)
}
