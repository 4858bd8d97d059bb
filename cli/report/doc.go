// Package report says what a restore or a revert does: the plan that a person confirms, what was done, whose work goes
// with it, and how to take it back; as text and as JSON. verbs.go is the table of the verbs that restore something, with their words.
// It has the JSON of the status and of the operation log too, which the page shows as the commands print them.
package report
