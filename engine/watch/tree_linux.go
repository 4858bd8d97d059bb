package watch

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	inMask = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
		unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK
	limitWatches   = "fs.inotify.max_user_watches"
	limitInstances = "fs.inotify.max_user_instances"
)

// tree is watched by inotify. One goroutine reads the events and owns what counts.
type tree struct {
	o       Options
	file    *os.File // owns fd
	fd      int      // File.Fd would make reads block
	changed chan struct{}
	device  uint64

	mu    sync.Mutex
	dirs  map[int32]string // by watch
	at    map[string]int32 // and back
	stale bool
	err   error
	ended bool // by Close
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
	t := &tree{o: o, fd: fd, file: os.NewFile(uintptr(fd), "inotify"), changed: make(chan struct{}, 1), dirs: map[int32]string{}, at: map[string]int32{}}
	info, err := os.Stat(o.Root)
	if err == nil {
		t.device = deviceOf(info)
		err = t.add("")
	}
	if err == nil && len(t.dirs) == 0 {
		err = &fs.PathError{Op: "watch", Path: o.Root, Err: fs.ErrNotExist}
	}
	if err != nil {
		t.file.Close()
		return nil, err
	}
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
	t.ended = true
	t.mu.Unlock()
	t.file.Close()
}

// add watches a directory and all below it that count. What is gone by now, or cannot be looked
// into, is left out: the save says so.
func (t *tree) add(path string) error {
	for todo := []string{path}; len(todo) > 0; {
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
		t.mu.Lock()
		t.dirs[int32(wd)], t.at[path] = path, int32(wd)
		t.mu.Unlock()
		// Listed after the watch was set, so that nothing comes between.
		entries, err := os.ReadDir(full)
		if err != nil {
			continue
		}
		for _, e := range entries {
			below := filepath.Join(path, e.Name())
			if e.IsDir() && t.o.Wanted(below, true) {
				todo = append(todo, below)
			}
		}
	}
	return nil
}

// drop forgets a directory that was moved away, and all below it.
func (t *tree) drop(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for below, wd := range t.at {
		if below == path || strings.HasPrefix(below, path+"/") {
			_, _ = unix.InotifyRmWatch(t.fd, uint32(wd)) // it may be gone
			delete(t.at, below)
			delete(t.dirs, wd)
		}
	}
}

func (t *tree) read() {
	defer close(t.changed)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buf)
		if err == nil {
			err = t.events(buf[:n])
		}
		if err != nil {
			t.mu.Lock()
			if !t.ended {
				t.err = err
			}
			t.mu.Unlock()
			return
		}
	}
}

// events takes in what one read gave.
func (t *tree) events(buf []byte) error {
	signal := false
	for len(buf) >= unix.SizeofInotifyEvent {
		wd, mask := int32(binary.NativeEndian.Uint32(buf)), binary.NativeEndian.Uint32(buf[4:])
		length := int(binary.NativeEndian.Uint32(buf[12:]))
		end := min(unix.SizeofInotifyEvent+length, len(buf))
		name := strings.TrimRight(string(buf[unix.SizeofInotifyEvent:end]), "\x00")
		buf = buf[end:]
		changed, err := t.event(wd, mask, name)
		if err != nil {
			return err
		}
		signal = signal || changed
	}
	if signal {
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// event takes in one event and reports whether something changed that counts.
func (t *tree) event(wd int32, mask uint32, name string) (bool, error) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		return true, t.add("") // directories may have come unseen
	}
	t.mu.Lock()
	dir, known := t.dirs[wd]
	if known && mask&unix.IN_IGNORED != 0 {
		delete(t.dirs, wd)
		if t.at[dir] == wd {
			delete(t.at, dir)
		}
	}
	t.mu.Unlock()
	switch {
	case !known:
		return false, nil
	case dir == "" && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0:
		return false, ErrGone
	case name == "":
		return mask&unix.IN_ATTRIB != 0 && dir != "", nil // the directory above tells the rest
	}
	path, isDir := filepath.Join(dir, name), mask&unix.IN_ISDIR != 0
	if !isDir && t.o.Rules != nil && t.o.Rules(name) {
		t.mu.Lock()
		t.stale = true
		t.mu.Unlock()
		return true, nil
	}
	if !t.o.Wanted(path, isDir) {
		return false, nil
	}
	var err error
	switch {
	case isDir && mask&unix.IN_MOVED_FROM != 0:
		t.drop(path)
	case isDir && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		err = t.add(path)
	}
	return true, err
}
