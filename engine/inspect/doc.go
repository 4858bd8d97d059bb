// Package inspect answers questions about checkpoints and the working tree: list, show, diff, compare, history, blame, the
// entries of a tree, and status. It changes nothing in the project and nothing in the store.
//
// Resolve turns what a person types into a checkpoint.
package inspect
