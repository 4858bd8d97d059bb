package stores

import "rewind/engine/account"

// Registered is a store that was made or trusted on this account.
type Registered struct {
	ID     string // 32 hexadecimal digits
	Root   string // real path of its directory, as it was last seen
	Mode   account.Mode
	State  account.State
	Store  string // directory of the store; "" unless it is live
	Mirror string // its mirror; "" where there is none
}

// ListRegistered lists the stores of the account, the one that was registered
// last at the end. It changes nothing.
func ListRegistered(env account.Env) ([]Registered, error) {
	known, err := account.KnownStores(env)
	if err != nil {
		return nil, err
	}
	out := make([]Registered, len(known))
	for i, k := range known {
		r := Registered{ID: k.ID.String(), Root: k.Root, Mode: k.Mode, State: k.State(env)}
		if r.State == account.Live {
			r.Store = k.Store(env)
		}
		if mirror := account.MirrorDir(env, k.ID); account.Exists(mirror) {
			r.Mirror = mirror
		}
		out[i] = r
	}
	return out, nil
}
