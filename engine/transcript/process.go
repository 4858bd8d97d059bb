package transcript

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// process is one entry of /proc. All but its arguments is read when asked for.
type process struct {
	pid  int
	args []string
	root string // the process file system
}

// listProcesses reads the command lines of all processes that can be seen;
// none where there is no /proc.
func listProcesses(root string) map[int]*process {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	all := map[int]*process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid <= 0 {
			continue
		}
		p := &process{pid: pid, root: root}
		b, err := p.read("cmdline")
		if err != nil {
			continue // gone
		}
		for arg := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
			p.args = append(p.args, string(arg))
		}
		all[pid] = p
	}
	return all
}

func (p *process) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(p.root, strconv.Itoa(p.pid), name))
}

// env is a variable of the environment that the process was started with.
func (p *process) env(name string) string {
	b, err := p.read("environ")
	if err != nil {
		return "" // another user's
	}
	for kv := range bytes.SplitSeq(b, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(name+"=")); ok {
			return string(v)
		}
	}
	return ""
}

func (p *process) dir() string {
	dir, err := os.Readlink(filepath.Join(p.root, strconv.Itoa(p.pid), "cwd"))
	if err != nil {
		return ""
	}
	return dir
}

// writer is another process that has a file open for writing, nil where none is seen.
func writer(all map[int]*process, file string, info fs.FileInfo) *process {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	for _, p := range all {
		if p.pid != os.Getpid() && p.writes(file, info) {
			return p
		}
	}
	return nil
}

// writes reports whether the process has a file open for writing. Only what has its path, or its name in what may be
// another view of the file system, is looked at: a file of a system that hangs is not waited for.
func (p *process) writes(file string, info fs.FileInfo) bool {
	fds := filepath.Join(p.root, strconv.Itoa(p.pid), "fd")
	entries, err := os.ReadDir(fds)
	if err != nil {
		return false // gone, or another user's
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(fds, e.Name()))
		if err != nil || filepath.Base(to) != filepath.Base(file) {
			continue
		}
		open, err := os.Stat(filepath.Join(fds, e.Name()))
		if err != nil || !os.SameFile(open, info) {
			continue
		}
		b, err := p.read(filepath.Join("fdinfo", e.Name()))
		if err != nil {
			continue
		}
		_, b, _ = bytes.Cut(b, []byte("flags:"))
		b, _, _ = bytes.Cut(b, []byte("\n"))
		flags, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 8, 64)
		if err == nil && flags&3 != 0 { // of these two bits 0 is for reading only
			return true
		}
	}
	return false
}

// stat returns the fields of /proc/<pid>/stat from the state on, which is the
// third: the name before it can hold anything.
func (p *process) stat() []string {
	b, err := p.read("stat")
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return nil
	}
	return strings.Fields(string(b[i+1:]))
}

func (p *process) parent() int {
	f := p.stat()
	if len(f) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(f[1])
	return ppid
}

// ticks is the start of the process as the kernel counts it since boot.
func (p *process) ticks() string {
	f := p.stat()
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// start is when the process was started, to the second: the time of the boot,
// and the ticks since then, of which Linux counts 100 in a second. The far past
// if unknown, so that it counts as older than any file.
func (p *process) start() time.Time {
	b, err := os.ReadFile(filepath.Join(p.root, "stat"))
	if err != nil {
		return time.Time{}
	}
	_, b, _ = bytes.Cut(b, []byte("\nbtime "))
	b, _, _ = bytes.Cut(b, []byte("\n"))
	boot, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return time.Time{}
	}
	ticks, err := strconv.ParseInt(p.ticks(), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(boot+ticks/100, 0)
}

// maxAbove bounds the way up from a process.
const maxAbove = 64

// AgentAbove names the nearest process above pid that is the agent, by its number and its start:
// no other process has both. "" if there is none, or no /proc, and for an agent whose shells have
// the session in a variable.
func AgentAbove(a Agent, pid int) string {
	if f, ok := a.format(); !ok || f.told {
		return ""
	}
	return agentAbove("/proc", a, pid)
}

func agentAbove(root string, a Agent, pid int) string {
	check := RunningCheck{Agent: a}
	for range maxAbove {
		p := &process{pid: pid, root: root}
		line, err := p.read("cmdline")
		if err != nil || pid <= 1 {
			return ""
		}
		for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
			if p.args = append(p.args, string(arg)); len(p.args) == 2 {
				break
			}
		}
		if check.isAgent(p) {
			return strconv.Itoa(pid) + "-" + p.ticks()
		}
		pid = p.parent()
	}
	return ""
}
