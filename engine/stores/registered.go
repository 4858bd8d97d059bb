package stores

import "github.com/rewind-cli/rewind/engine/account"

// Registered is a store that was made or trusted on this account.
type Registered struct {
	ID     string // 32 hexadecimal digits
	Root   string // real path of its directory, as it was last seen
	Mode   account.Mode
	State  account.State
	Store  string // directory of the store; "" unless it is live
	Mirror string // its mirror; "" where there is none
}
