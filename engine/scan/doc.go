// Package scan finds what changed in a working tree, at about the cost of one
// stat call per file.
//
//  1. LoadCache reads the stat cache: what the last scan saw, and the tree that
//     it led to. One read, one table, no allocation per file.
//  2. Run first verifies: workers take runs of directories straight from the
//     stat cache's table and compare every fingerprint with the tree. Nothing is
//     listed, nothing is read.
//  3. What differs is walked: directories whose names may have changed are
//     listed and decided anew, files whose fingerprint differs are read and
//     given to the Sink. A first scan is this step alone, with an empty stat cache.
//  4. Manifests of changed directories are built bottom up; all others keep
//     the id that the manifest above has.
//  5. Result.Publish writes the stat cache that follows, once the commit that it
//     relies on is durable: nothing, an appended delta, or a new file.
//
// docs/RACY.md says when a file counts as unchanged, docs/FORMAT.md how the
// stat cache is laid out.
//
// It has its own way to a tree, and not that of rootfs: a look there costs checks of names, copies and
// an open of each directory on the way, which a restore needs and 15,000 looks at names that the kernel
// just gave, or that the stat cache holds, do not. What both systems' ways share is one loop (verify.go).
package scan
