// Package app is what every command runs on: a Call, its Output, the exit codes, and the text of errors.
//
// A command gets a *Call and returns an error. Output writes the answer to stdout and all else to stderr; it knows
// whether a person reads it, in which width, and whether the answer is shown inside an agent. An error of a command that
// needs an exit code or a hint of its own has a method Explain; those of the engine are explained in errors_engine.go, and a full disk
// in errors_disk.go.
//
// Names, prompts and paths are untrusted: everything that is printed for a person goes through Escape.
package app
