// Package reach says which objects a record of the log needs: its trees, conversations and lists, with all that
// these refer to. gc keeps what living records reach, a push sends what the remote has not. It changes nothing.
package reach
