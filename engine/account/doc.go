// Package account is what this account knows of its stores before one of them is opened.
//
//  1. Env is what the process brings along: home, working directory, variables, clock.
//  2. KnownStores reads the registry, ~/.rewind/known; Register changes one line of it. State says
//     what has become of a store, by the identity of its directory (DirID).
//  3. ReadFormat reads the format file of a store; FillStore makes a lost store anew of its mirror.
//
// What goes out: lines of the registry, paths, locks, small files written so that a crash leaves the
// old or the new. It never opens packs or a database, and never looks at a working tree.
package account
