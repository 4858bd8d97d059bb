package account

// DirID is what a directory keeps when it is moved, and no other directory has:
// inode numbers are used again at once after a removal, and device numbers
// change between boots and containers, so that neither alone is an identity.
type DirID struct {
	Device, Inode uint64
	Birth         int64 // nanoseconds since 1970; 0: the file system knows none
}

// certain reports whether the file system gives directories an identity that
// lasts.
func (d DirID) certain() bool { return d.Inode != 0 && d.Birth != 0 }

// same reports whether two looks saw one directory. Where one of them knows no
// time of birth, the device must be the same.
func (d DirID) same(now DirID) bool {
	switch {
	case d.Inode != now.Inode:
		return false
	case d.certain() && now.certain():
		return d.Birth == now.Birth
	}
	return d.Device == now.Device
}

// IsOf reports whether k was registered for the directory that is at root now.
func (k KnownStore) IsOf(env Env, root string, now DirID) bool {
	if now.Inode == 0 { // a system that has no inode numbers: the path is all there is
		return k.Root == root
	}
	if k.Root == root && k.Birth != 0 && k.Birth == now.Birth {
		return true // an overlay over several file systems numbers its directories anew with each mount
	}
	return k.DirID.same(now) && !k.olderThan(env, now)
}

// olderThan reports whether the directory was made after the store was. A line
// of a version that did not note the birth could be of a directory whose inode
// has been used again: the store's mirror tells, which is younger than its project.
func (k KnownStore) olderThan(env Env, now DirID) bool {
	if k.Birth != 0 || now.Birth == 0 {
		return false
	}
	mirror, _, err := Identity(MirrorDir(env, k.ID))
	return err == nil && mirror.Birth != 0 && mirror.Birth < now.Birth
}

// OfDirectory reports whether k is of the directory that is at root now.
func (k KnownStore) OfDirectory(env Env, root string, now DirID) bool {
	return k.IsOf(env, root, now) && (k.Root == root || !k.LivesApart(now)) || k.StaysAt(env, root, now)
}

// LivesApart reports whether the directory that k was registered for is still at its path,
// on another device than the one of this identity: a snapshot of a file system has both.
func (k KnownStore) LivesApart(now DirID) bool {
	there, _, err := Identity(k.Root)
	return err == nil && there.same(now) && there.Device != now.Device
}

// Refined is the identity as it is to be written down: what is certain does not change
// with the device numbers of a boot or a container, and a birth once known is kept.
func (d DirID) Refined(now DirID) DirID {
	if d.certain() && d.Inode == now.Inode && (!now.certain() || d.Birth == now.Birth) {
		if !now.certain() {
			d.Device = now.Device
		}
		return d
	}
	return now
}

// StaysAt reports whether a store that is there, at its own path, is k's although the
// device number has changed: where the file system knows no birth, that is what a boot does.
func (k KnownStore) StaysAt(env Env, root string, now DirID) bool {
	return k.Root == root && k.Inode == now.Inode && !(k.certain() && now.certain()) && !k.olderThan(env, now)
}

// IsAnothers reports whether a global store is registered for another directory than that at root.
func IsAnothers(env Env, known []KnownStore, store, root string, now DirID) bool {
	for _, k := range known {
		if k.Mode == GlobalMode && k.Store(env) == store {
			return !k.IsOf(env, root, now) && !k.StaysAt(env, root, now)
		}
	}
	return false
}
