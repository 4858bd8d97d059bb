package account

// State says what has become of a registered store.
type State string

const (
	Live        State = "live"        // its directory has it
	Lost        State = "lost"        // its directory is there without it: the next command there rebuilds it
	Replaced    State = "replaced"    // another directory is at its path, or another store in its directory
	Gone        State = "gone"        // nothing is at its path: it was moved, or removed
	Unfinished  State = "unfinished"  // an init was killed before there was anything in it
	Unreachable State = "unreachable" // its path cannot be looked at, or what is around it is not what was there
)

// States of a store, beside those that the registry alone tells.
const (
	Moved        State = "moved"        // nothing, or another directory, is at its path, and its packs are in use elsewhere, or its directory was found
	Foreign      State = "foreign"      // it belongs to another user, or cannot be read
	Unregistered State = "unregistered" // a mirror without a line in the registry
	Going        State = "going"        // its removal did not finish
)

// Dead reports whether no directory has the store, nor gets it back by itself: what is
// left of it is its mirror.
func (s State) Dead() bool {
	switch s {
	case Gone, Replaced, Unfinished, Unregistered, Going:
		return true
	}
	return false
}
