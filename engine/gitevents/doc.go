// Package gitevents says what git did between two checkpoints: commits, switches of the branch, resets, merges, rebases,
// entries of the stash, references and worktrees that came and went, a git directory that is gone.
//
// Two captured states of a repository (package gitstate) come in, events go out, the oldest first. They are derived each time
// that they are read, and stored nowhere:
//
//  1. The two trees of files are compared. Equal states cost nothing, and of others only the files that differ are read.
//  2. The lines that HEAD's reflog gained say what was done to HEAD. Neighbours of one kind become one event.
//  3. The stash's reflog, references and worktrees are compared by name. What the lines of HEAD explain is left out.
//
// Submodules and repositories below the project are compared likewise, if the state of one differs.
//
// It runs no git program, and looks at no object of git. Names and subjects are git's own, and are not escaped.
package gitevents
