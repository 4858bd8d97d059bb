package cas

// limits are the sizes at which a store goes another way. Tests make them small.
type limits struct {
	bulk       int    // bytes that a batch holds in memory before it streams into a pack of its own
	flush      int64  // bytes that a bulk batch writes between two flushes: what a killed one loses
	dataPack   int64  // a data pack is full past this many bytes
	objects    int    // or at this many objects, which bounds the memory for its index; more than a small pack can hold
	logPack    int64  // a log pack is full past this many bytes
	logCommits uint64 // or past this many commits, which keeps a walk over it short
	group      int64  // bytes that a repack copies before old packs go: the space it needs for a time
}

var defaultLimits = limits{
	bulk:       8 << 20,
	flush:      64 << 20,
	dataPack:   128 << 20,
	objects:    1 << 19,
	logPack:    64 << 20,
	logCommits: 4096,
	group:      256 << 20,
}
