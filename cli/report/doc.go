// Package report says what a restore or a revert does: the plan that a person confirms, what was done, whose work goes
// with it, and how to take it back; as text and as JSON. restore_words.go is the table of the words of each command that restores something.
// It has the JSON of the status and of the operation log too, which the page shows as the commands print them.
package report
