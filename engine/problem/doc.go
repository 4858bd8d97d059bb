// Package problem is what a save, a restore or a checkpoint's coverage says of a path that is not
// as one would expect: path, code, reason.
//
//  1. A scan, a plan, a conversation make a Problem; control flow switches on its Code, and people
//     read its Reason.
//  2. Encode and Decode put a list of them into a coverage object; the codes' words are its format.
//  3. UnreadOf finds the paths that a tree lacks although they existed.
//  4. Text and InWords say in words what the errors of Go and its libraries say in theirs.
//
// It imports no other package of the engine, and never reads a store or a tree itself.
package problem
