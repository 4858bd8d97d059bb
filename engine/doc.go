// Package engine holds no code: each verb of a person is a package below it. Its tests play them together.
//
// Values go down and answers come up. Nothing in engine prints or exits. Errors are typed; package cli/app turns them into
// messages, hints and exit codes. A project.Project is safe for concurrent use by goroutines and beside any number of other
// processes. docs/ARCHITECTURE.md draws the packages, cli/rewind/imports_test.go holds what each may import.
package engine
