// Package patch writes what differs in git's format, so that git apply, patch -p1 and whatever reads
// git's diffs can read ours.
//
//  1. The caller has pairs: a path's file before and after, one of them nil where there is none.
//  2. Detect finds which of the files that came are one that went, or one that is still there: by
//     content first, then by how much of it is the same.
//  3. Write puts one pair down: the names, modes, renames; then the lines of linediff, or the whole
//     content of what is binary.
//
// In: paths, modes, contents. Out: text and counts. What git has no form for (directories, permission
// bits other than the owner's x) is the caller's to tell.
package patch
