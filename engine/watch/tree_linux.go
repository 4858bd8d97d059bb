package watch

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	inMask = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
		unix.IN_OPEN | unix.IN_CLOSE_NOWRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK
	// listedAtOnce is how many directories are listed before their events are taken in: each has four, and the queue has an end.
	listedAtOnce   = 256
	limitWatches   = "fs.inotify.max_user_watches"
	limitInstances = "fs.inotify.max_user_instances"
)

// tree is watched by inotify. A goroutine reads the events, and so does whoever asks.
type tree struct {
	o       Options
	file    *os.File
	raw     syscall.RawConn // of file
	fd      int             // of file, for adding watches; File.Fd would make reads block
	changed chan struct{}
	device  uint64
	since   time.Time

	mu      sync.Mutex
	buf     []byte
	dirs    map[int32]string // by watch
	journal *journal
	opened  bool // all that was there is watched
	stale   bool
	err     error
	ended   bool // no more signals
}

// Open watches a tree. Errors: *LimitError; fs.ErrNotExist and its like where the root is not there.
func Open(o Options) (Tree, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if errors.Is(err, unix.EMFILE) {
		return nil, limitReached(limitInstances)
	}
	if err != nil {
		return nil, &os.SyscallError{Syscall: "inotify_init1", Err: err}
	}
	t := &tree{o: o, fd: fd, file: os.NewFile(uintptr(fd), "inotify"), changed: make(chan struct{}, 1), since: time.Now(),
		dirs: map[int32]string{}, journal: newJournal()}
	info, err := os.Stat(o.Root)
	if err == nil {
		t.device = deviceOf(info)
		err = t.add("")
	}
	if err == nil && len(t.dirs) == 0 {
		err = &fs.PathError{Op: "watch", Path: o.Root, Err: fs.ErrNotExist}
	}
	if err == nil {
		t.raw, err = t.file.SyscallConn()
	}
	if err != nil {
		t.file.Close()
		return nil, err
	}
	t.opened = true
	go t.read()
	return t, nil
}

func deviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

func limitReached(setting string) error {
	value, _ := os.ReadFile("/proc/sys/" + strings.ReplaceAll(setting, ".", "/"))
	return &LimitError{Setting: setting, Limit: strings.TrimSpace(string(value))}
}

func (t *tree) Changed() <-chan struct{} { return t.changed }

func (t *tree) Stale() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stale
}

func (t *tree) Directories() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.dirs)
}

func (t *tree) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *tree) Close() {
	t.mu.Lock()
	t.ended, t.stale = true, true
	t.mu.Unlock()
	t.file.Close()
}

// Ask notes all events of the changes that are done by now, and answers. The kernel queues the event of a change before
// the call returns that made it, so that none is missed.
func (t *tree) Ask(q Question) Answer {
	a, ended := t.answer(q)
	if ended {
		t.file.Close() // which waits for the goroutine, and that may wait for mu
	}
	return a
}

func (t *tree) answer(q Question) (a Answer, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.raw.Control(func(fd uintptr) {
		queued, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ) // FIONREAD
		for n := 1; err == nil && queued > 0 && n > 0; queued -= n {
			n, err = t.take(int(fd))
		}
		if err != nil {
			t.fail(err)
		}
	})
	switch {
	case q.Rules == t.o.Hash:
	case q.own:
		t.stale = true // other directories may count
	default:
		q.Cache = "" // another process may have other rules for good, by its environment
	}
	if err == nil && !t.stale {
		a = t.journal.ask(q.Cache)
	}
	a.PID, a.Since, a.Directories, a.fits = os.Getpid(), t.since, len(t.dirs), q.Rules == t.o.Hash
	return a, t.ended
}

// Seen takes the report on the look that followed an answer.
func (t *tree) Seen(a *Answer, r Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stale && a.fits {
		t.journal.seen(a, r)
	}
}

// Watches reports whether all of these directories are watched that are there.
func (t *tree) Watches(dirs map[string]bool) bool {
	missing := maps.Clone(dirs)
	t.mu.Lock()
	for _, dir := range t.dirs {
		delete(missing, dir)
	}
	t.mu.Unlock()
	for dir := range missing {
		if info, err := os.Lstat(filepath.Join(t.o.Root, filepath.FromSlash(dir))); err == nil && info.IsDir() {
			return false
		}
	}
	return true
}

// add watches a directory and all below it that count. What is gone by now, or cannot be looked
// into, is left out: the save says so.
func (t *tree) add(path string) error {
	for n, todo := 1, []string{path}; len(todo) > 0; n++ {
		if n%listedAtOnce == 0 {
			if _, err := t.take(t.fd); err != nil {
				return err
			}
		}
		path, todo = todo[len(todo)-1], todo[:len(todo)-1]
		full := filepath.Join(t.o.Root, filepath.FromSlash(path))
		if info, err := os.Lstat(full); err != nil || !info.IsDir() || deviceOf(info) != t.device {
			continue
		}
		wd, err := unix.InotifyAddWatch(t.fd, full, inMask)
		if errors.Is(err, unix.ENOSPC) {
			return limitReached(limitWatches)
		}
		if err != nil {
			continue
		}
		t.dirs[int32(wd)] = path
		// Listed after the watch was set, so that nothing comes between.
		entries, err := os.ReadDir(full)
		if err != nil {
			continue
		}
		for _, e := range entries {
			below := filepath.Join(path, e.Name())
			switch {
			case !e.IsDir():
				t.stale = t.stale || t.opened && t.o.Rules != nil && t.o.Rules(e.Name()) // it came with its directory
			case t.o.Wanted(below, true):
				todo = append(todo, below)
			}
		}
	}
	return nil
}

// fail ends the signals; the first error counts. The caller holds mu.
func (t *tree) fail(err error) {
	if !t.ended {
		t.err = err
	}
	t.ended, t.stale = true, true
}

// signal says that there was a change. The caller holds mu.
func (t *tree) signal() {
	if t.ended {
		return
	}
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *tree) read() {
	ended := false
	for !ended {
		err := t.raw.Read(func(fd uintptr) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			n, err := t.take(int(fd))
			if err != nil {
				t.fail(err)
			}
			ended = t.ended
			return n > 0 || ended
		})
		ended = ended || err != nil
		if err != nil {
			t.mu.Lock()
			t.fail(err)
			t.mu.Unlock()
		}
	}
	t.file.Close()
	close(t.changed) // t.ended is set: nobody sends
}

// take reads events once, and takes them in. n is 0 where there are none. The caller holds mu.
func (t *tree) take(fd int) (n int, err error) {
	buf := t.buf
	if t.buf = nil; buf == nil { // it is in use: a directory that came is being added
		buf = make([]byte, 64<<10)
	}
	defer func() { t.buf = buf }()
	for n, err = unix.Read(fd, buf); errors.Is(err, unix.EINTR); n, err = unix.Read(fd, buf) {
	}
	if errors.Is(err, unix.EAGAIN) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return n, t.events(buf[:n])
}

// events takes in what one read gave.
func (t *tree) events(buf []byte) error {
	signal := false
	for len(buf) >= unix.SizeofInotifyEvent {
		wd, mask := int32(binary.NativeEndian.Uint32(buf)), binary.NativeEndian.Uint32(buf[4:])
		cookie, length := binary.NativeEndian.Uint32(buf[8:]), int(binary.NativeEndian.Uint32(buf[12:]))
		end := min(unix.SizeofInotifyEvent+length, len(buf))
		name := strings.TrimRight(string(buf[unix.SizeofInotifyEvent:end]), "\x00")
		buf = buf[end:]
		changed, err := t.event(wd, mask, cookie, name)
		if err != nil {
			return err
		}
		signal = signal || changed
	}
	if signal {
		t.signal()
	}
	return nil
}

// event takes in one event and reports whether something changed that counts.
func (t *tree) event(wd int32, mask, cookie uint32, name string) (bool, error) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		t.stale = true // directories may have come unseen
		return true, nil
	}
	dir, known := t.dirs[wd]
	if known && mask&unix.IN_IGNORED != 0 {
		delete(t.dirs, wd)
	}
	path, isDir := filepath.Join(dir, name), mask&unix.IN_ISDIR != 0
	switch {
	case !known:
		return false, nil
	case dir == "" && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0:
		return false, ErrGone
	case mask&(unix.IN_OPEN|unix.IN_CLOSE_NOWRITE) != 0:
		if !isDir && name != "" {
			t.journal.opened(path, map[bool]int{true: 1, false: -1}[mask&unix.IN_OPEN != 0])
		}
		return false, nil
	case name == "":
		if mask&unix.IN_ATTRIB != 0 {
			t.journal.touch(dir, false)
		}
		return mask&unix.IN_ATTRIB != 0 && dir != "", nil // the directory above tells the rest
	}
	came := isDir && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0
	t.journal.touch(path, came)
	switch {
	case mask&unix.IN_CLOSE_WRITE != 0:
		t.journal.opened(path, -1)
	case mask&unix.IN_MOVED_FROM != 0:
		t.journal.movedFrom(path, cookie)
		t.stale = t.stale || isDir && t.o.Wanted(path, true) // what is below it has other paths, and maybe other rules
	case mask&unix.IN_MOVED_TO != 0:
		t.journal.movedTo(path, cookie)
	case mask&unix.IN_DELETE != 0:
		delete(t.journal.open, path)
	}
	if !isDir && t.o.Rules != nil && t.o.Rules(name) {
		t.stale = true
		return true, nil
	}
	if !t.o.Wanted(path, isDir) {
		return false, nil
	}
	if came {
		return true, t.add(path)
	}
	return true, nil
}
