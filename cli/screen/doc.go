// Package screen is what a command shows a person: colours, tables, and the picker. Keys go in,
// lines come out. Of the engine it knows only the graph, as numbers.
//
//  1. A Picker is the state of the timeline: key changes it, take takes an answer in, view draws it.
//     It is a function of the state alone, so that tests need no terminal.
//  2. What it needs to know it asks for (Ask), and continues without it until the Answer comes.
//  3. Show ties it to a terminal in raw mode: reads keys, draws, has a Source answer beside the
//     drawing, follows resizes, leaves and comes back.
//
// Rows, plans, diffs and messages come in as values, escaped. It knows no checkpoint, calls no
// verb, and never changes a file.
package screen
