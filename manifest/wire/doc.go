// Package wire reads canonical bytes: numbers in their shortest form, lengths that are checked before
// anything is taken. What it accepts, a writer would have written so.
package wire
