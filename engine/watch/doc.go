// Package watch reports that something in a tree has changed, and when it has come to rest.
//
// In goes a directory and which paths of it count; out come signals on a channel, which say that
// there was a change, and not which: whoever saves looks at the whole tree anyway. Linux reports
// by inotify, with a watch for each directory that counts; elsewhere Open says ErrUnsupported, and
// one looks from time to time. A change that the system could not keep for us (an overflow) is a
// signal as well, and the directories are listed again.
//
// It never writes, follows no link, and leaves other mounts alone.
package watch
