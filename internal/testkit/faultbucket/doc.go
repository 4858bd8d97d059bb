// Package faultbucket is a bucket in memory, for tests, that fails as servers, lines and other people do.
//
// What comes in: the calls of bucket.Bucket, and a function that says which of them fail and how. What goes out: what a server
// would answer, and for the test itself what the server holds, how many requests it had, and a copy of it all.
//
// What never happens: nothing is read or written outside the memory of the process, and no time passes, but for a fault that hangs
// until its context ends.
package faultbucket
