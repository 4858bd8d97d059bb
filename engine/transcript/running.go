package transcript

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Running is a sign that an agent works on a session.
type Running struct {
	PID int    // 0 if unknown
	How string // what was seen
}

// RunningCheck looks for a live agent behind a session. It is best effort: a
// client keeps no lock on its transcript, so no answer proves that it is not
// in use.
type RunningCheck struct {
	Agent   Agent
	Session string
	File    string // transcript
	Dir     string // working directory of the session, "" if unknown
	Home    Home
	Now     time.Time
	Proc    string // the process file system, "" is /proc
	Ours    bool   // File is as this program wrote it: when that was says nothing of an agent
}

// recent is how new a transcript's last change is that speaks for a live agent.
const recent = 10 * time.Second

// Run checks, in this order:
//
//  1. the list of open sessions that some agents keep, if that process is alive;
//  2. other processes that have the transcript open for writing, whatever they are:
//     what they write after it was replaced would be in no file;
//  3. processes that carry the session's id in their command line and are the
//     agent (a resumed session);
//  4. processes with the session's id in the agent's variable and a live agent
//     above them (its shells and hooks);
//  5. not sure: an agent's process in the session's directory that is older
//     than the transcript's last change;
//  6. not sure: a transcript that changed in the last 10 seconds, unless it is as this program wrote it.
//
// 2 to 5 need /proc and see what this user may see. nil: nothing was found.
func (c *RunningCheck) Run() *Running {
	f, _ := c.Agent.format()
	all := listProcesses(cmp.Or(c.Proc, "/proc"))
	if f.live != nil {
		if r := f.live(c, all); r != nil {
			return r
		}
	}
	info, err := os.Stat(c.File)
	changed := time.Time{}
	if err == nil {
		changed = info.ModTime()
		if p := writer(all, c.File, info); p != nil {
			return &Running{p.pid, "process " + strconv.Itoa(p.pid) + " has the transcript open for writing"}
		}
	}
	var maybe *Running
	for _, p := range all {
		if p.pid == os.Getpid() {
			continue
		}
		agent := c.isAgent(p)
		if agent && slices.Contains(p.args, c.Session) {
			return &Running{p.pid, "process " + strconv.Itoa(p.pid) + " was started with this session"}
		}
		if f.variable != "" && p.env(f.variable) == c.Session {
			if above := c.agentAbove(all, p); above != 0 {
				return &Running{above, fmt.Sprintf("process %d works for this session", p.pid)}
			}
		}
		if agent && maybe == nil && c.Dir != "" && p.dir() == c.Dir && !namesOther(p.args, c.Session) && p.start().Before(changed) {
			maybe = &Running{p.pid, "process " + strconv.Itoa(p.pid) + " runs in the session's directory"}
		}
	}
	if maybe == nil && !c.Ours && !changed.IsZero() && c.Now.Sub(changed) < recent && changed.Sub(c.Now) < recent {
		maybe = &Running{0, "the transcript changed a moment ago"}
	}
	return maybe
}

// isAgent reports whether the process is the client, natively or as a script of
// an interpreter.
func (c *RunningCheck) isAgent(p *process) bool {
	f, _ := c.Agent.format()
	for i, arg := range p.args {
		if i > 1 {
			break
		}
		base := filepath.Base(arg)
		if base == string(c.Agent) || f.program != "" && strings.Contains(arg, f.program) {
			return true
		}
	}
	return false
}

func (c *RunningCheck) agentAbove(all map[int]*process, p *process) int {
	for range 64 {
		if c.isAgent(p) && p.pid != os.Getpid() {
			return p.pid
		}
		up := all[p.parent()]
		if up == nil || up == p {
			return 0
		}
		p = up
	}
	return 0
}

// namesOther reports a command line that names another session.
func namesOther(args []string, session string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return IsUUID(a) && a != session })
}
