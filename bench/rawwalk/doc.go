// Command rawwalk looks at every name below a directory and does nothing else:
// the least that a program must do which wants to know whether a tree has
// changed. It lists each directory (getdents64) and stats each name (fstatat)
// from -workers threads, and exits with 0. -count prints how many names it saw.
package main
