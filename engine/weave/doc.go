// Package weave takes chosen steps out of a file's history and keeps the others.
//
//  1. A Weave holds all versions of a text as one sequence of lines, each with the steps that made
//     it and took it away. New begins it, Add puts the next version in; which lines are the same in two
//     versions is decided by linediff.
//  2. Without asks for the text as if some steps, the own ones, had not been: the lines that others made and
//     that live, or that an own step took away.
//  3. Where others built on an own step, that is a conflict: a block that stays unchanged unless its
//     choice differs. Blocks lie between lines that no one touched since the first own step there.
//  4. What has no lines (a binary file, a link, a mode, whether there is a file at all) is a register,
//     which has the last value that others set.
//
// In: lines, entries, the numbers of steps. Out: lines, entries, and what was done to them. It reads
// nothing, writes nothing, and imports linediff and manifest alone. Nothing derived from it belongs into a
// store: the choice among several right answers may change with a version.
package weave
