// Package cli is the rewind command: arguments in, answers and exit codes out.
//
// A call goes like this:
//
//  1. Main (main.go) reads the flags that every command has, finds the command in the table (commands.go) and lets it
//     define its own flags. Nothing else of the table is built, so that a call costs one command's set-up.
//  2. All arguments are checked before anything is opened: wrong ones are an app.UsageError and exit 2.
//  3. The command, of one of the packages below command, runs on an app.Call, which holds its arguments, the
//     environment and the output. The answer goes to stdout, all else to stderr. With --json the answer is one
//     document, of one of the command's Answers.
//  4. Errors are returned, never printed where they happen. app.Explain turns each into message, hint and exit code.
//
// The package itself holds the table, help, manual pages and completion.
package cli
