package scan

import "os"

// dirent is a name in a directory, and its type where listing gives it.
type dirent struct {
	name string
	mode uint32 // of modeType, 0 when unknown
}

// handle is an open directory of the tree. Names are single components.
type handle interface {
	stat() (stat, error)
	// list returns the names in ascending order, without "." and "..".
	list() ([]dirent, error)
	lstat(name string) (stat, error)
	// openFile opens a regular file for reading, without following a link and
	// without waiting; shown is the name that the file's errors carry. What turns out to
	// be something else is closed again: the stat tells, and the file is nil.
	openFile(name, shown string) (*os.File, stat, error)
	fstat(f *os.File) (stat, error)
	readlink(name string) (string, error)
}

// opener opens directories for one worker, and keeps some of them open.
type opener interface {
	// hold opens the directory to work in; the handle stays valid until the next hold.
	hold(n *node) (handle, error)
	// open opens another one for a moment: until the next open or hold.
	open(n *node) (handle, error)
	close()
}
