// Package timeline shows what happened to a project, for people: the rows that rewind
// list, the picker and a page in a browser show.
//
// In come the checkpoints and the operations of the log, and, where somebody looked, the
// tree as it is now. Out go rows, newest first: what each is, its text, which
// two states of the tree lie around it, and whether it has any news. How a row is printed
// is not decided here; texts are as the agents gave them, escapes included.
//
// What a row's changes are: a prompt's are those of its turn, a tool call's what came
// until the next state; a checkpoint that a person took has what came since the state before it. They
// are counted only when somebody asks.
package timeline
