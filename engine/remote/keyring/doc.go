// Package keyring has the keys of a remote: what its objects are encrypted for, and who can read them.
//
// A remote has one age identity at first, and another one after each rotation; a later one opens the earlier ones. What is
// sealed is encrypted for the newest.
package keyring
