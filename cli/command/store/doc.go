// Package store has the commands that add to a store or take from it: save, pin, export, import, gc, forget, verify and
// stores.
package store
