// Package picker answers what the picker on the screen asks. Package screen draws; Source knows the rows of a project and
// what each changed, for the page too, and works with the project one question at a time. Plans come from package plan.
package picker
