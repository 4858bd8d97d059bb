// Package linediff says which lines differ between two texts. It is the one place that decides it:
// what a diff shows, what a restore of chosen hunks takes back, and what is put together of three
// texts are the same changes.
//
//  1. Lines cuts a text into lines, each with its line feed; nothing is lost, so that the lines
//     joined are the text.
//  2. Diff names the lines (numbers, the same for the same line), leaves out what is common at both
//     ends, and pins the rest at lines that occur once in both.
//  3. What lies between two pins goes to znkr.io/diff; long stretches to its fast mode.
//  4. Changes that could as well stand a few lines higher or lower are moved to where people cut.
//  5. Hunks puts changes that are near each other together, with the lines around them; Words marks
//     what differs within two lines.
//
// In: lines. Out: positions of lines. It imports nothing of ours, and keeps no state. The choice among
// several right answers may change with a version: nothing derived from it belongs into a store.
package linediff
