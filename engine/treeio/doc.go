// Package treeio brings a working tree to the state of another tree, and
// never destroys bytes that are in no checkpoint.
//
//  1. NewPlan walks the current tree (a scan just made) and the target side by
//     side, looks at each differing path on disk, and says what it would
//     create, replace, delete and chmod, and what it leaves alone and why.
//  2. Plan.Read reads again whatever would be overwritten or deleted, gives it
//     to a Sink, and corrects the current tree by what it finds: ignored files
//     in the way become part of it. What cannot be read is left alone.
//     Plan.Before is then the tree for the safety checkpoint, Plan.After what
//     the tree will be.
//  3. Plan.Apply writes a journal, then new content into temporary files beside
//     their destinations, makes them durable with one syncfs, and puts each in
//     place by an exchange of names. Deletions, by a rename to a reserved name,
//     come last. Each displaced file is compared with what the plan saw; if it
//     differs it is captured, or put back. Nothing displaced is removed before
//     ApplyOptions.Record has made the operation durable, so that up to there any
//     failure puts every path back as it was, inode and all.
//  4. Then displaced files are removed, emptied directories too, modes of
//     directories are set, and the journal goes.
//  5. After a crash, Open finds the journal, and Journal.Recover goes forward or
//     back, path by path, where the path still holds what the journal says.
//
// The package knows no store: contents come through Source and go through Sink.
package treeio
