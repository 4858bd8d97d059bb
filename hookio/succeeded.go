package hookio

import "github.com/rewind-cli/rewind/hookio/shell"

// Succeeded gives the commands, each as its words, of which an event says that they ended with 0: those of a shell command that
// did, as far as that follows from its text.
func Succeeded(t *Tool) [][]string {
	if !t.Succeeded {
		return nil
	}
	return shell.Succeeded(inShell(t.Command))
}
