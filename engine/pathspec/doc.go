// Package pathspec is the paths that a person names: each literally where it is there, in the
// working tree or in a tree that the command is about, else as a glob.
package pathspec
