// Package page is rewind ui: the answers to the questions of the web page, one file a question, and the export of a
// session as a page without its secrets. Package web serves; rows come from package picker, and plans from package plan.
package page
