// Package manifest is what a store says about trees and time: directory
// manifests, checkpoints, names, pins, operations, sessions, and the Badger
// database that answers questions about them.
//
//  1. Dir is one directory's entries; its canonical bytes are an object whose
//     hash is its ID. Trees share every directory that is the same.
//  2. Record is one entry of the log. The log is the truth; it is read through
//     Source, and Badger is folded from it.
//  3. state applies records in order to what a generation holds, in memory: it
//     says what the log means, folded or not.
//  4. Fold writes what a state holds in memory as a run of tables (package table) into a
//     new generation directory, links the older tables over, and switches the pointer file to it.
//  5. Open opens the current generation and applies the log's tail to a state.
//     Queries go to the DB that it returns; damage of the generation is answered from the log.
//
// It knows no store: objects and the log come in through Source.
package manifest
