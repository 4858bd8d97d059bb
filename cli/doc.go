// Package cli is the rewind command: arguments in, answers and exit codes out.
//
// A call goes like this:
//
//  1. Main (main.go) reads the flags that every command has, finds the command
//     in the table (commands.go) and lets it define its own flags. Nothing else
//     of the table is built, so that a call costs one command's set-up.
//  2. All arguments are checked before anything is opened: wrong ones are a
//     *usageError and exit 2.
//  3. The command runs on a call, which holds its arguments, the environment
//     and the output (output.go). The answer goes to stdout, all else to stderr.
//     With --json the answer is one document, made from the types in views.go.
//  4. Errors are returned, never printed where they happen. explain (errors.go)
//     turns each into message, hint and exit code, in one place.
//
// Names, prompts and paths are untrusted: everything that is printed for a
// person goes through escape (escape.go).
package cli
