// Package gitrepo reads a git repository's files directly: which paths git
// tracks, where its exclude files are, and what HEAD is. It never writes, and
// runs no git program.
//
//  1. Find walks up from a directory to the repository that contains it,
//     through the ".git" files of linked worktrees and submodules.
//  2. Repo.Tracked reads the index into a compact sorted set; Tracked.Sub
//     makes it relative to a project root below the work tree's top.
//  3. Repo.Excludes follows git's configuration, includes too, to the exclude
//     files.
//  4. Repo.Head follows HEAD through loose and packed references.
//
// A repository can be hostile: only regular files of bounded size are read,
// a FIFO in the place of one is not waited for, every length is checked, and
// no decoder panics.
package gitrepo
