// Package picker answers what the picker on the screen asks, and what the page asks alike: rows, what a row changed, and
// plans that are shown before they are done. Package screen draws; Source works with the project, one question at a time.
package picker
