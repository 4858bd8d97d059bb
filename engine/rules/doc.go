// Package rules says which paths of a project are captured: by the rules in force (Gather, Today),
// and by those of a checkpoint with the rule files of its tree (Of).
//
// Settings, git's exclude files, what git tracks and where agents keep their sessions come in; Scopes, which
// answer for one path, go out. Rules that cannot be read leave nothing in scope. It never reads a file that is captured.
package rules
