// Package pack reads and writes the bytes of packs and of their indexes: the formats that docs/FORMAT.md describes, each in
// one place. It knows no store: which packs there are, who locks them, and what is done about damage is in package cas, its
// only user.
//
// A pack is a Header and records. A record is a Block of objects, whole ones or deltas, compressed together, or a Commit, which
// carries a hash of the bytes before it. An Index says where the objects, blocks and commits of a pack lie; a Tail says it of what
// no index covers yet. A Walker reads records in their order, and finds the next good one behind damage.
//
// Readers take any bytes: nothing is allocated because of a size that was not checked against the bytes that are there, and what is
// wrong is a MalformedError. The encoding is canonical: readers accept only what a writer would make. Nothing here opens a file
// but OpenIndex, which maps one, and nothing writes to one.
package pack
