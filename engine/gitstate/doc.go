// Package gitstate captures what a git repository keeps beside its objects, and holds the objects.
//
//  1. Capture turns the files of a git directory into a tree of the store: HEAD, references, reflogs, the stash, the
//     configuration, hooks, what is in progress, the linked worktrees, and each index (without the stat fields, so that
//     a refresh changes nothing). The tree's id goes into the checkpoint. A signature of directories decides with a few
//     stat calls that nothing changed. It does so for the repository around the project, for submodules, and for
//     repositories below the root: the states of these are in the directory "below" of the first one's.
//  2. Hold gives git's objects a second name below the account's directory. An object never changes, so a hard link
//     holds it at no cost, and it outlives "git gc --prune=now" and the removal of the git directory.
//  3. Load reads a captured state, and Write puts its files into a directory, for git to read or as a new git directory.
//
// It never writes below a git directory, and runs no git program. What it reads is untrusted.
package gitstate
