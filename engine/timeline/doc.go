// Package timeline shows what happened to a project, for people: the rows that rewind
// list, the picker and a page in a browser show.
//
// Its input is the checkpoints and the operations of the log, and the present tree if it was
// looked at. Its output is rows, newest first: what each is, its text, which
// two states of the tree lie around it, and whether it has any news. How a row is printed
// is not decided here; texts are those of the agents, escapes included.
//
// What a row's changes are: a prompt's are those of its turn, a tool call's what came
// until the next state; a checkpoint that a person took has what came since the state before it. They
// are counted on demand.
package timeline
