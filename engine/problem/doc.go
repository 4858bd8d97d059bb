// Package problem is what a save, a restore or a checkpoint's coverage says of a path that is not
// as one would expect: path, code, reason.
//
//  1. A scan, a plan, a conversation make a Problem; control flow switches on its Code, and people
//     read its Reason.
//  2. Encode and Decode put a list of them into a coverage object; the codes' words are its format.
//  3. UnreadOf tells which paths a tree lacks although they were there.
//
// It imports no other room, and never reads a store or a tree itself.
package problem
