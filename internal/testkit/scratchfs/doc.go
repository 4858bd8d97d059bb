// Package scratchfs gives tests small file systems of their own: a tmpfs that
// is soon full, an old ext2 that counts whole seconds, an ext4 whose disk can be copied.
// Mounting takes root's powers. Where they are missing the test is skipped, and says so.
package scratchfs
