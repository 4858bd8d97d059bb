// Package search finds when a text appeared in the files of a project's checkpoints, and when it vanished.
//
//  1. The changes of all checkpoints, oldest first, and of the working tree against the newest, are collected:
//     which content each path had from which checkpoint on. A directory that did not change is not looked at.
//  2. The paths are gone through in their order. Each distinct content is read and searched once, by as many
//     goroutines as there are processors, as a stream; the versions of a file follow each other, so that a delta's
//     base is at hand.
//  3. Of each path, the lines that match in one version and not in the one before have appeared, those
//     that match no longer have vanished. Each run of presence is a Span, visited as soon as its path is done.
//
// Memory: 12 bytes for each changed path of each checkpoint, some 50 for each distinct content, and lines that match: at
// most maxHits and hitBytes of each content that is being searched or joined, 64 MiB of what was found and waits
// for its path's turn, and 64 MiB of what is kept for other paths with the same content. Of a file, one chunk and the
// begin of a line are in memory; a line over maxLine bytes is searched in pieces.
//
// What bounds its time: reading the database (some 50 µs for each checkpoint), and for each distinct content its decompression,
// its hash and the search, at hundreds of megabytes a second. A pattern that does not need some text to be there has
// package regexp look at each line, at a tenth of that, but for lines that the version searched before has, too.
//
// It never writes, prints or exits. Damaged content is skipped and reported at the end.
package search
