// Package attempts says how often a prompt was tried: which prompts were typed at the same place, after
// a restore, in a fork, or where the client itself went back, and what became of each.
//
// In: the log (checkpoints, operations) and, for branches that only the client knows of, the transcripts.
// Out: a Fork, with an Attempt for each prompt. It changes nothing, and looks at no file of the working tree.
//
//  1. readLog puts checkpoints and operations in order and finds the prompts among them.
//  2. group says which prompts have the same place (place.go):
//     an operation went back to before a prompt, and the next prompt in that conversation, or in a new one,
//     tries it again; or the messages before two prompts are the same.
//  3. follow goes through the log once more and notes at which attempt the tree stood (stand.go): what a
//     restore left behind is an attempt's end.
package attempts
