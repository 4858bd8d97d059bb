// Package save takes checkpoints for a person: Save, Init (the store and its first checkpoint) and Watch (a checkpoint
// whenever the tree has come to rest).
package save
