package project

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
	return k.DirID.same(now) && !k.olderThan(env, now)
}

// olderThan reports whether the directory was made after the store was. A line
// of a version that did not note the birth could be of a directory whose inode
// has been used again: the store's mirror tells, which is younger than its project.
func (k KnownStore) olderThan(env Env, now DirID) bool {
	if k.Birth != 0 || now.Birth == 0 {
		return false
	}
	mirror, _, err := identity(MirrorDir(env, k.ID))
	return err == nil && mirror.Birth != 0 && mirror.Birth < now.Birth
}

// StoreState says what has become of a registered store.
type StoreState string

const (
	StoreLive        StoreState = "live"        // its directory has it
	StoreLost        StoreState = "lost"        // its directory is there without it: the next command there rebuilds it
	StoreReplaced    StoreState = "replaced"    // another directory is at its path, or another store in its directory
	StoreGone        StoreState = "gone"        // nothing is at its path: it was moved, or removed
	StoreUnfinished  StoreState = "unfinished"  // an init was killed before there was anything in it
	StoreUnreachable StoreState = "unreachable" // its path cannot be looked at
)

// RegisteredStore is a store that was made or trusted on this account.
type RegisteredStore struct {
	ID     string // 32 hexadecimal digits
	Root   string // real path of its directory, as it was last seen
	Mode   Mode
	State  StoreState
	Store  string // directory of the store; "" unless it is live
	Mirror string // its mirror; "" where there is none
}

// RegisteredStores lists the stores of the account, the one that was registered
// last at the end. It changes nothing.
func RegisteredStores(env Env) ([]RegisteredStore, error) {
	known, err := KnownStores(env)
	if err != nil {
		return nil, err
	}
	out := make([]RegisteredStore, len(known))
	for i, k := range known {
		r := RegisteredStore{ID: k.ID.String(), Root: k.Root, Mode: k.Mode, State: k.state(env)}
		if r.State == StoreLive {
			r.Store = k.store(env)
		}
		if mirror := MirrorDir(env, k.ID); Exists(mirror) {
			r.Mirror = mirror
		}
		out[i] = r
	}
	return out, nil
}
