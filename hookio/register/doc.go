// Package register puts hooks into agents' settings files and takes them out again, byte by byte:
// comments, order and numbers stay. It finds what is wrong with them (Inspect), and writes a plugin.
//
// JSON with comments is edited as text; Updater replaces a file whole, or not at all.
package register
