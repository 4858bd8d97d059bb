// Package commit is the one way to write to a store: a transaction.
//
// Objects are put into a Tx without a lock and can be read back at once. Commit takes the append
// lock, lets its caller make the records from what the log says then, and makes all durable
// with one fsync. Transact is that for records without objects: marks, deletions, sessions.
//
// It never decides what is written.
package commit
