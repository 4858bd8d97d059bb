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
// Memory: 12 bytes for each changed path of each checkpoint, some 50 for each distinct content, and the lines
// that match in the files that are being worked on, at most maxHits of each content and 64 MiB of what is kept for paths
// that have the same content. A line over maxLine bytes is searched in pieces.
//
// It never writes, prints or exits. What is damaged is passed over and told of at the end.
package search
