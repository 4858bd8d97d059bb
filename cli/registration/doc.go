// Package registration is the settings files in which the agents of this account find our hooks: which there are, what
// of ours is in them, what is missing, and what an older registration is completed by.
//
// Only complete.go writes to them by itself, once after an update of rewind, with a backup; see hookio/register for the
// form of each agent's file.
package registration
