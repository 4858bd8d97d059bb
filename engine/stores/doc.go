// Package stores makes, lists and removes the stores of an account.
//
//  1. Init makes one for a directory, takes over that of another (adopt.go), or believes one that
//     this account did not make; what it gives is an opened project.
//  2. List looks at all of them from outside, and opens those that are alive.
//  3. PlanRemoval and PlanDeinit say what would go and what speaks against it; Apply removes it, and
//     FinishRemovals continues where that was killed.
//
// It never changes a file of a project outside of its store, and never removes through a link.
package stores
