// Package rows is the text of a row of the timeline, and the JSON of what rows consist of: checkpoints, changes and
// those who made them. list, show, the picker, the page and exports print the same words.
package rows
