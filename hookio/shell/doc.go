// Package shell reads a command line as a shell would, without running it: which programs it calls
// with which words, what they would write, remove or overwrite (Walk, Destructive).
//
// It is our own, and no library's: mvdan.cc/sh/v3/syntax, with all its recovery, gives up at "done; rm x",
// "echo ${a; rm x" or an unclosed here-document, and commands come broken and in other shells' words.
// It would also cost each hook 0.1 ms at its start for two regular expressions, and 390 KB.
//
// What it cannot know (a substitution, an unknown variable) it says is unknown. Its work is bounded
// whatever the line.
package shell
