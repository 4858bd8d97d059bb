// Package lives is for tests: it plays lives of sessions, subagents, a person at an editor,
// formatters and servers in the background through the real hooks, and judges who changed what,
// and what a revert takes back.
//
//  1. script_test.go draws a life from a seed: events on a simulated clock, with ids so that a
//     failing life can be cut down.
//  2. play_test.go plays it on real files: hooks as calls of the program (in this process, or the
//     built one), writes between them. A pause is only as long as the rules have a clock for.
//  3. truth_test.go knows whose each line is: every line that is written is there once in a life.
//  4. judge_attribution_test.go asks who changed what, and counts: exact, flagged, wrong.
//  5. judge_revert_test.go takes a session, a turn or a call back, and looks at every line.
//  6. git_test.go plays lives of git repositories, with git as the judge of what comes back.
//
// docs/CERTAINTY.md has the error rates that the long run prints.
package lives
