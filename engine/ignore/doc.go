// Package ignore decides which paths a checkpoint holds: gitignore rules as
// git applies them, rewind's own rule files, and the configured patterns.
//
//  1. Compile turns a Config, all that lies outside the tree, into Rules.
//  2. Rules.Root gives the Scope of the project root and Scope.Child that of a
//     directory in it: on the way down they read the rule files in the tree.
//  3. Scope.Decide says what becomes of an entry, and by which rule.
//  4. Rules.Encode keeps the rules with a checkpoint; Decode brings them back,
//     and the rule files in that checkpoint's own tree complete them.
//
// What decides, strongest first:
//
//   - a .git (in any letter case) and the store: never
//   - forceInclude, and everything below a directory that it names
//   - what git tracks: always
//   - .agent, .claude, .factory and .pi in the root: never
//   - config "ignore"; .rewindignore, then .gitignore, of the entry's
//     directory, of the one above it, and so on; the outer files
//   - names that are never source, unless a rule written for rewind brings
//     them back
//
// Within one list the last match wins. Nothing below an ignored directory is
// brought back by "!": only git's index and forceInclude reach there, and the
// scan then walks what Descend names. A forceInclude pattern without a
// directory in front (".env") reaches into ignored directories, but not
// into those that are never source: "node_modules/x/.env" does.
//
// A rule file that is itself left out is captured and marked as precious, since without it
// nothing else in a checkpoint could be decided about again: see kept_rulefiles.go.
package ignore
