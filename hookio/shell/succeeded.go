package shell

import (
	"slices"
	"strings"
)

// joined is a simple command of a line, and the operator behind it: ; && | or nothing at the end.
type joined struct {
	words []string // of the program and its arguments, wrappers such as env and timeout taken off
	op    string
}

// lenient are programs that say by another code than 0 what they found. Claude Code takes such a code for success where
// one of them is the last program of a line, whichever of its programs gave it.
var lenient = []string{"grep", "egrep", "fgrep", "rg", "find", "diff", "cmp", "test", "["}

// Succeeded gives the commands of a script, each as its words, that ended with 0, if the script itself did: the last one,
// those that && joins with it, and where "set -e" is before it, all. A command whose output goes through a pipe is one only
// behind "set -o pipefail". Where the text leaves a doubt, as with ||, a loop, a subshell or a command in the
// background, there are none.
func Succeeded(script string) [][]string {
	var line []joined
	var last *Invocation
	w := &walker{variables: map[string]string{}}
	w.visit = func(inv *Invocation) {
		if w.outermost() {
			last = inv
		}
	}
	w.joins = func(op string) {
		if !w.outermost() {
			return
		}
		c := joined{[]string{""}, op} // an assignment
		if last != nil {
			c.words[0] = last.Name
			for _, a := range last.Args {
				c.words = append(c.words, a.Text)
			}
		}
		line, last = append(line, c), nil
	}
	w.run(script)
	if w.doubtful || w.overflow() || len(line) == 0 || slices.Contains(lenient, line[len(line)-1].words[0]) {
		return nil
	}
	var sure [][]string
	start, and := 0, false       // of the present statement: its place in sure; it has an &&
	every, pipes := false, false // set -e, set -o pipefail
	for i, c := range line {
		switch c.words[0] {
		case "exit", "return", "trap":
			return nil
		case "set":
			every, pipes = sets(c.words[1:], every, pipes)
		}
		if c.op != "|" || pipes {
			sure = append(sure, c.words)
		}
		and = and || c.op == "&&"
		if c.op == ";" && i < len(line)-1 {
			if !every {
				sure = nil
			} else if and { // what fails in front of && ends no script
				sure = sure[:start]
			}
			start, and = len(sure), false
		}
	}
	return sure
}

// sets reads the arguments of set: whether the script ends at the first failure, and a pipe fails with any of its commands.
func sets(args []string, every, pipes bool) (bool, bool) {
	for i, a := range args {
		on := strings.HasPrefix(a, "-")
		switch {
		case a == "errexit" && i > 0:
			every = strings.HasPrefix(args[i-1], "-")
		case a == "pipefail" && i > 0:
			pipes = strings.HasPrefix(args[i-1], "-")
		case (on || strings.HasPrefix(a, "+")) && strings.Contains(a, "e"):
			every = on
		}
	}
	return every, pipes
}
