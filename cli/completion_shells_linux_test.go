package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// In each shell, as a person types it: the path of a file that is gone is completed
// from the checkpoint, a directory first, with a name that has to be quoted, and one
// with a colon, which bash takes for the end of a word.
func TestCompletionInShells(t *testing.T) {
	for _, s := range []struct {
		shell string
		args  []string
		setup string
		dir   string // what the screen shows when the directory is complete
	}{
		{"bash", []string{"--norc", "--noprofile", "-i"}, "PS1='ready> '; source <(rewind completion bash)", `gone\ dir/`},
		{"zsh", []string{"-f", "-i"}, "PS1='ready> '; autoload -Uz compinit; compinit -u -D; source <(rewind completion zsh)", `gone\ dir/`},
		{"fish", []string{"--no-config", "-i"}, "function fish_prompt; echo 'ready> '; end; rewind completion fish | source", `gone\ dir/`},
	} {
		t.Run(s.shell, func(t *testing.T) {
			shell, err := exec.LookPath(s.shell)
			if err != nil {
				t.Skipf("NOT TESTED HERE: there is no %s", s.shell)
			}
			x := newTerminal(t)
			x.resize(200, 24)
			dir := filepath.Join(x.dir, "gone dir")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"one file.txt", "two:file.txt"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte("this was in "+f+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			x.mustRun("init")
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			x.startProgram(shell, s.args...)
			x.send(s.setup + "\n")
			x.expect("ready> ")
			x.send("echo start''ed\n") // the prompt may have come from the line that sets it
			x.expect("started")
			for _, f := range []struct{ letter, name string }{{"o", "one file.txt"}, {"t", "two:file.txt"}} {
				x.take()
				x.send("rewind cat last gon\t")
				x.expect(s.dir)
				x.send(f.letter + "\t\n")
				x.expect("this was in " + f.name)
			}
			x.take()
			x.send("rewind show last:gon\t")
			x.expect(s.dir)
			x.send("tw\t\n")
			x.expect("this was in two:file.txt")
			x.take()
			x.send("rewind history gon\t") // of all checkpoints
			x.expect(s.dir)
			x.send("o\t\n")
			x.expect("created +1")
			x.take()
			x.send("rewind restore last -- gon\t")
			x.expect(s.dir)
			x.send("tw\t\n")
			x.expect("1 created")
			if x.read("gone dir/two:file.txt") == "" || x.read("gone dir/one file.txt") != "" {
				t.Error("restored something else than was completed")
			}
			x.send("exit\n")
		})
	}
}
