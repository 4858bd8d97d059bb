// Package gitprogram talks to the git program through its plumbing: repositories that are written by
// fast-import and read by cat-file, and a person's own, whose references are changed. It knows nothing of checkpoints.
//
// What it runs sees the person's git settings, and none of the variables by which a git that called us
// says which repository it is at work on. No hook, filter or pager is run: nothing is checked out.
package gitprogram
