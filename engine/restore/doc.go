// Package restore has the verbs that bring the project to an earlier state: Restore, Undo, Redo, Back and their kin. Each is
// one Run:
//
//  1. It takes the tree lock, and recovers a restore that crashed.
//  2. It captures the present tree (package checkpoint), and the verb plans the way (package treeio), under the rules of both states
//     (package rules) and what the target is known not to have seen.
//  3. It prepares the conversation's half (package conversation) and saves a safety checkpoint.
//  4. It applies the plan, puts the conversation in place, and records an operation (package oplog), which Undo walks. Both
//     halves move or neither.
//
// Do is that frame. What differs between the verbs is a function that finds the Way: the plan, and what the verb knows of it.
// Package revert has one of its own.
package restore
