package session

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// Here is where a transcript is on this account, given the path that the log has: that path, or, where it is one of another machine or account, the place
// that the transcript would have among this account's files. What another account's agent keeps of its work in another
// directory can be reached sometimes, as where a project is cloned on one machine: it is never read or written in the place of this account's.
func Here(p *project.Project, agent transcript.Agent, file string) string {
	if file == "" {
		return file
	}
	here := transcript.Here(agent, AgentHome(p), file)
	if here == file {
		return file
	}
	d, err := transcript.Describe(agent, file)
	if err != nil {
		return here
	}
	dir := d.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if dir == "" || (transcript.Session{Dir: dir}).In(p.Root()) {
		return file // its client may be set to keep it there
	}
	return here
}
