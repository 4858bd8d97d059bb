// Package gitrestore brings a saved state of a git repository back into the repository.
//
// A saved state is the files of the common git directory, each worktree's index, and directories with git's objects. MakePlan compares
// it with what is there and changes nothing; Plan.Apply carries the plan out:
//
//  1. A git directory that is gone is built anew beside its place and renamed into it, which needs no git program.
//  2. In a repository, objects come first: each that it lacks gets a second name in it, or is copied. References follow in
//     transactions of git update-ref that assert what they change, then the stash, HEAD, the index, reflogs, and what was in
//     progress. Those that are files are written as git writes them: beside the file under its lock, and renamed.
//
// With the mode Missing, what is lost returns and what exists is not moved; with Exact, references, HEAD and index are moved to what they
// were. Apply can end anywhere, by a power cut too: planning and applying again finishes it.
//
// Saved state and repository are untrusted: git is run by gitprogram.Repository, which runs no program that they name.
package gitrestore
