// Package remote has the commands for a place outside the machine: remote, push and clone.
package remote
