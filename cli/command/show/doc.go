// Package show has the commands that answer a question and change nothing: list, show, diff, history, blame, grep,
// sessions, and the older names of their parts.
package show
