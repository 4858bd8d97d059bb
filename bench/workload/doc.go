// Package workload makes the trees and the changes that the benchmarks measure
// with. The same seed gives the same bytes on every machine.
//
//  1. Make writes a tree of a Shape: source-like text, directories of one size.
//  2. Edit changes one line of a file, as an agent's edit tool does.
//  3. A Day is 500 turns of an agent over a tree; each Turn is a list of
//     operations that Apply carries out.
//  4. Versions are texts that two hands edit by turns, Rewritten and Repetitive texts that are hard to merge.
//  5. A Transcript is the conversation that grows meanwhile.
package workload
