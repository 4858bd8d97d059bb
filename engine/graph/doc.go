// Package graph says where the rows of a timeline stand beside each other: lanes from sessions and
// what they were forked from, arcs from operations.
//
//  1. Rows come in newest first, with the sessions and the operations of the project.
//  2. Of places each row in the lane of its session. A lane goes from the session's newest row to
//     its oldest, and on to the row that it was forked at.
//  3. Each operation that went back becomes an arc, from the first row after it to its target.
//
// What comes out is numbers, not characters: a terminal and a web page draw them as they like.
// It knows only plain values, reads nothing, and keeps nothing.
package graph
