package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// answerTime is how long one who asks waits: then it looks at everything.
	answerTime = 50 * time.Millisecond
	// reportTime is how long a look may take whose report still counts.
	reportTime = time.Minute
	maxMessage = 4 << 20 // bytes
)

// local are the file systems of which inotify reports every change that is made by this kernel's programs, and which no
// other machine changes. An overlay is not among them: what changes in its lower layer causes no event.
var local = map[uint32]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	0x2fc12fc1: true, // ZFS
	0xca451a4e: true, // bcachefs
}

// address is where one is asked who watches a root: a name that only this kernel and this network namespace know, so that
// nothing stays behind after a kill, and a copy of a project has another. "": the file system is not one to be trusted.
func address(root string) string {
	var st unix.Statfs_t
	info, err := os.Stat(root)
	if err != nil || unix.Statfs(root, &st) != nil || !local[uint32(st.Type)] {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("@rewind-watch-1-%d-%x-%x", os.Geteuid(), stat.Dev, stat.Ino)
}

// peer is the process at the other end; ok is false where it is not one of this account.
func peer(conn net.Conn) (pid int, ok bool) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	_ = raw.Control(func(fd uintptr) {
		who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if ok = err == nil && int(who.Uid) == os.Geteuid(); ok {
			pid = int(who.Pid)
		}
	})
	return pid, ok && pid != 0
}

// Asked is an answer, and the way of the report on the look that follows it. A nil one is that nobody answered.
type Asked struct {
	Answer
	conn net.Conn
}

// Ask asks the process of this account that watches a root. It is nil where there is none, or none that answers soon.
func Ask(root string, q Question) *Asked {
	name := address(root)
	if name == "" {
		return nil
	}
	conn, err := net.DialTimeout("unix", name, answerTime)
	if err != nil {
		return nil
	}
	a := &Asked{conn: conn}
	if _, ok := peer(conn); !ok || conn.SetDeadline(time.Now().Add(answerTime)) != nil ||
		json.NewEncoder(conn).Encode(q) != nil || json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(&a.Answer) != nil {
		a.Close()
		return nil
	}
	return a
}

// Report ends what Ask began. If it does not arrive, the next one who asks looks at more.
func (a *Asked) Report(r Report) {
	if a == nil || a.conn == nil {
		return
	}
	if a.conn.SetDeadline(time.Now().Add(answerTime)) == nil {
		_ = json.NewEncoder(a.conn).Encode(r)
	}
	a.Close()
}

// Close ends it without a report.
func (a *Asked) Close() {
	if a != nil && a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

// Server answers questions about a tree that is watched.
type Server struct {
	listener net.Listener
	// whole is asked before a report on a look at everything counts: which directories its stat cache has. nil: it is not known.
	whole func(cache string) map[string]bool
	mu    sync.Mutex
	tree  Tree
}

// Serve answers for a root, once there is a tree. It is nil where no answer can be relied on, or another process answers.
func Serve(root string, whole func(cache string) map[string]bool) *Server {
	name := address(root)
	if name == "" {
		return nil
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil
	}
	s := &Server{listener: l, whole: whole}
	go s.accept()
	return s
}

// Answer has the questions answered by a tree from now on; by none: nil.
func (s *Server) Answer(t Tree) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.tree = t
	s.mu.Unlock()
}

// Close ends it.
func (s *Server) Close() {
	if s != nil {
		s.listener.Close()
	}
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		go s.serve(conn)
	}
}

// serve answers one question and takes the report that belongs to it.
func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	pid, ok := peer(conn)
	if !ok || conn.SetDeadline(time.Now().Add(reportTime)) != nil {
		return
	}
	in := json.NewDecoder(io.LimitReader(conn, maxMessage))
	var q Question
	if in.Decode(&q) != nil {
		return
	}
	s.mu.Lock()
	tree := s.tree
	s.mu.Unlock()
	if tree == nil {
		return
	}
	q.own = pid == os.Getpid()
	a := tree.Ask(q)
	var r Report
	if json.NewEncoder(conn).Encode(a) != nil || in.Decode(&r) != nil {
		return
	}
	if r.Whole {
		if dirs := s.whole(r.Cache); dirs == nil || !tree.Watches(dirs) {
			return
		}
	}
	tree.Seen(&a, r)
}
