// Package shell reads a command line as a shell would, without running it: which programs it calls
// with which words, what they would write, remove or overwrite (Walk, Destructive).
//
// What it cannot know (a substitution, an unknown variable) it says is unknown. Its work is bounded
// whatever the line.
package shell
