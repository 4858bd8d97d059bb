// Package screen is what a command shows a person: colours, tables, and the picker. Keys go in,
// lines come out.
//
//  1. A Picker is the state of a list that a row is chosen from: key changes it, view draws it.
//     It is a function of the state alone, so that tests need no terminal.
//  2. Show ties it to a terminal in raw mode: reads keys, draws, asks for previews, follows resizes.
//
// Rows, cells and previews come in as values, escaped. It knows no checkpoint, calls no verb, and
// never changes a file.
package screen
