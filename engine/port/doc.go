// Package port moves states into and out of the store: Import (checkpoints of other programs), Export (an archive),
// ExportGit (commits of a new repository), Checkout (a state in a directory of its own) and OpenStates (one state after the
// other, for bisect).
//
// Archives, repositories and stores of other programs are untrusted: sizes, names and depths are bounded.
package port
