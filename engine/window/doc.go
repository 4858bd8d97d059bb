// Package window keeps what hook events say of when an agent's work began and ended, from the hook until the next
// checkpoint takes it along.
//
// In: a manifest.Window for each event (Append). Out: what no checkpoint has taken yet (Pending), and for a commit what
// it takes (Take). The lines lie in tmp/windows of the store, without an fsync: a power cut may take them, and what is
// read is checked line by line. Append waits for no one, however many hooks run at once; Take is for
// whoever holds the append lock.
//
// It never judges who wrote what, and never fails a hook or a save.
package window
