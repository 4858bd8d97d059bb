// Package pathspec resolves paths that a person types. One that exists in the working tree, or in a tree that the command
// is about, is literal; anything else is a glob.
package pathspec
