// Package work says which work of an agent is meant: a call, a turn, several turns or a session, and what earlier reverts
// took back of it.
//
// TurnsOf lists the turns of a session. Choose finds the work that a person named. Reverts are the records of earlier
// reverts, read from the operation log: whose work each took back, and what the person chose at its conflicts. A Link is one
// version of a path on the way to what is there now; Settle takes earlier reverts into account.
//
// Packages revert (takes work back) and inspect (blame) use it, so that both give the same answer.
package work
