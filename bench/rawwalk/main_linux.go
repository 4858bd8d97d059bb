package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	workers := flag.Int("workers", 2, "threads")
	count := flag.Bool("count", false, "print how many names were seen")
	flag.Parse()
	debug.SetGCPercent(-1)
	n := walk(flag.Arg(0), *workers)
	if n == 0 {
		fmt.Fprintln(os.Stderr, "rawwalk: nothing there")
		os.Exit(1)
	}
	if *count {
		fmt.Println(n)
	}
}

// queue holds the directories that are found and not yet listed.
type queue struct {
	mu    sync.Mutex
	ready *sync.Cond
	paths [][]byte // each ends with a 0
	open  int      // queued or being listed
}

// next takes a directory; nil when all are done.
func (q *queue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.paths) == 0 && q.open > 0 {
		q.ready.Wait()
	}
	if q.open == 0 {
		return nil
	}
	p := q.paths[len(q.paths)-1]
	q.paths = q.paths[:len(q.paths)-1]
	return p
}

// done reports a directory as listed, and what was in it.
func (q *queue) done(found [][]byte) {
	q.mu.Lock()
	q.paths = append(q.paths, found...)
	q.open += len(found) - 1
	if q.open == 0 || len(found) > 1 {
		q.ready.Broadcast()
	}
	q.mu.Unlock()
}

// walk gives the number of names below root.
func walk(root string, workers int) int64 {
	q := &queue{paths: [][]byte{append([]byte(root), 0)}, open: 1}
	q.ready = sync.NewCond(&q.mu)
	var seen atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			l := lister{buf: make([]byte, 64<<10)}
			for dir := q.next(); dir != nil; dir = q.next() {
				q.done(l.list(dir))
			}
			seen.Add(l.count)
		})
	}
	wg.Wait()
	return seen.Load()
}

type lister struct {
	buf   []byte
	stat  unix.Stat_t
	count int64
}

// list looks at every name in dir and gives the directories among them. The
// system calls are raw: the scheduler need not know of calls this short.
func (l *lister) list(dir []byte) (found [][]byte) {
	const cwd = -100 // AT_FDCWD
	dirfd := cwd
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(&dir[0])),
		unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return nil
	}
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_GETDENTS64, fd, uintptr(unsafe.Pointer(&l.buf[0])), uintptr(len(l.buf)))
		if errno != 0 || int(n) <= 0 {
			break
		}
		for rest := l.buf[:n]; len(rest) > 0; {
			e := (*unix.Dirent)(unsafe.Pointer(&rest[0]))
			name := rest[unsafe.Offsetof(e.Name):e.Reclen]
			rest = rest[e.Reclen:]
			if name[0] == '.' && (name[1] == 0 || name[1] == '.' && name[2] == 0) {
				continue
			}
			unix.RawSyscall6(statAt, fd, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&l.stat)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
			l.count++
			if e.Type == unix.DT_DIR {
				found = append(found, join(dir, name))
			}
		}
	}
	unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	return found
}

func join(dir, name []byte) []byte {
	end := 0
	for name[end] != 0 {
		end++
	}
	p := make([]byte, 0, len(dir)+end+1)
	return append(append(append(p, dir[:len(dir)-1]...), '/'), name[:end+1]...)
}
