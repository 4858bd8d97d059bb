// Package manifest is what a store says about trees and time: directory
// manifests, checkpoints, names, pins, operations, sessions, and the Badger
// database that answers questions about them.
//
//  1. Dir is one directory's entries; its canonical bytes are an object whose
//     hash is its ID. Trees share every directory that is the same.
//  2. Record is one entry of the log. The log is the truth; it is read through
//     Source, and Badger is folded from it.
//  3. Fold reads the log from where the current generation ends and writes a
//     new, immutable generation directory; a pointer file chooses it.
//  4. Open opens the current generation read-only and adds the log's unfolded
//     tail in memory. Queries go to the DB that it returns.
//
// The package imports nothing of the project: objects and the log come in
// through Source.
package manifest
