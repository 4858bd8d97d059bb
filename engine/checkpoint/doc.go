// Package checkpoint takes checkpoints.
//
//  1. CaptureTree scans the working tree against the stat cache into a transaction.
//  2. What tools were about to change meanwhile is put in its place (Preimage).
//  3. Take captures the conversation with it, makes the record, relates it to the checkpoint
//     before under the append lock, commits, and publishes the stat cache.
//
// It knows no hook and no restore: both ask for a checkpoint here.
package checkpoint
