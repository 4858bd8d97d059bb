// Package remote keeps what a store holds in a place outside the machine: a bucket, or a directory.
//
//  1. Add makes a remote, or joins one that is there (add.go); each store that pushes is a writer of it.
//  2. Push sends what the log has got since the last push: the commits with the objects that they need, as one sealed object,
//     a segment, after larger objects in packs (push.go).
//  3. Clone makes a store of what a remote has (clone.go, receive.go).
//  4. Share puts one checkpoint beside all that, for somebody who does not have the remote's key (share.go).
//  5. Merge makes one object of many small ones (merge.go, merged.go); GC removes what nothing needs, Check asks whether all is there (gc.go,
//     check.go), both by a survey of all that is there (survey.go).
//
// Each object is written once, under a name that says its length and hash, so that nothing depends on locks, on
// conditional writes or on an order of the listing. Everything is encrypted with age; names and sizes are not. What comes from a
// remote is untrusted: names, lengths, hashes, the chain of segments and every object are checked.
package remote
