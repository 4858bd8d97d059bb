// Package project is an opened project: its root, its store, and what every room above stands on.
//
//  1. Open finds the root (discover.go), decides by the identity of the directory whose store it
//     is (identity.go, ownership.go), refuses links (links.go), brings a lost store back from
//     its mirror (rebuild.go), and opens packs and settings. It opens neither Badger nor an index.
//  2. Init, adopt and trust make a store or take one over; Stores and the removals tell of all
//     stores of the account and take them away.
//  3. Query asks the database, with the log's tail; Log is the log; Use keeps gc from unlinking.
//
// What goes out: paths, locks, the clock of the file system, the environment, typed errors. It
// never looks at the working tree, and knows neither checkpoints being made nor agents.
package project
