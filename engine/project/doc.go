// Package project is an opened project: its root, its store, and the base of every package above.
//
//  1. Open finds the root (discover.go), decides by the identity of the directory whose store it
//     is (ownership.go), refuses links (links.go), brings a lost store back from its mirror
//     (rebuild.go), and opens packs and settings. It opens neither Badger nor an index.
//  2. Query asks the database, with the log's tail; Log is the log; Use keeps gc from unlinking.
//  3. Writing is called before the first write: it makes a copied store one of its own.
//
// What goes out: paths, locks, the clock of the file system, typed errors. It never looks at the
// working tree, makes and removes no store, and knows neither checkpoints being made nor agents.
package project
