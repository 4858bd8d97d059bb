// Package cas is the content-addressed store: objects in, objects out.
//
// An object is a run of bytes addressed by its BLAKE3-256 hash (ID). Objects
// lie in packs: append-only files of checksummed records. The same packs
// carry the log: commit records with a store-wide sequence number and an
// opaque payload. Packs alone are the truth; indexes can always be rebuilt.
// The package knows no file tree and no meaning of a payload. Package pack
// reads and writes the bytes, as docs/FORMAT.md describes them.
//
// A save runs like this:
//
//  1. Use takes the shared users lock, which keeps gc from unlinking packs.
//  2. NewBatch; one Writer per goroutine; Put hashes nothing, it trusts the ID
//     that Sum gave, drops what is known, compresses blocks of small objects
//     together, and stages them in memory, or, past 8 MiB, in packs of the
//     batch's own, flushed every 64 MiB. No lock is held.
//  3. Append takes the append lock and recovers the tail of the log.
//  4. Appender.Commit appends the staged records and the commit record, then
//     does one fsync.
//  5. Appender.Close, and the release function of Use.
//
// A look-up asks the indexes, which are mapped at the first one, and what a
// walk over the end of the newest log pack found behind its index. Commit
// records carry a hash of all bytes since the commit before and their own size
// at their end, so that the end of the log is found and checked with one read.
//
// Reading verifies every hash. What does not match is a *DamagedError, never
// bytes; before Get says so it checks the indexes, walks the packs and tries
// every copy.
//
// Space is given back by PlanRepack and RepackPlan.Apply, which reports its
// steps. Verify names damage, Repair saves what is good, RestoreFromMirror brings
// a lost store back from its mirror.
//
// A Store is safe for concurrent use by goroutines, and any number of
// processes may hold the same directory open.
package cas
