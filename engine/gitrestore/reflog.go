package gitrestore

import (
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// savedLog is a reflog of the saved state, and its lines that the present one lacks.
type savedLog struct {
	name    string // of the reference, or of a HEAD
	all     []logEntry
	lacking map[logEntry]bool
}

// logPlan is a reflog that returns: lines come before those of the present one that are not among them.
type logPlan struct {
	name  string
	lines []logEntry
	saved string // the file that has these lines and nothing else, "" for none
}

// isSaved reports whether the saved file has the lines and nothing else.
func (l *logPlan) isSaved() bool {
	info, err := os.Lstat(l.saved)
	return err == nil && info.Mode().IsRegular() && info.Size() == int64(len(logText(l.lines)))
}

// plainDirs are directories, by path, in which a file from elsewhere is as if it had been made there: in others, a new one gets the group
// of the directory. Of one that is not there, the directory above it decides.
type plainDirs map[string]bool

func (d plainDirs) is(dir string) bool {
	plain, known := d[dir]
	if !known {
		above, err := os.Stat(dir)
		if vfs.IsMissing(err) && filepath.Dir(dir) != dir {
			plain = d.is(filepath.Dir(dir))
		} else {
			plain = err == nil && above.Mode()&os.ModeSetgid == 0
		}
		d[dir] = plain
	}
	return plain
}

// compareLogs gives the reflogs that lack something now. That of the stash is no history: planStash looks at it.
func (p *planner) compareLogs() (list []savedLog, err error) {
	names, err := logNames(p.saved.repo)
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, p.otherHeads()...) {
		if name == stashRef || name == "HEAD" && p.worktree {
			continue
		}
		was, err := readLog(logFile(p.saved.repo, name))
		if err != nil {
			return nil, err
		}
		is, err := readLog(logFile(p.now.repo, name))
		if err != nil {
			return nil, err
		}
		l := savedLog{name: name, all: was, lacking: map[logEntry]bool{}}
		for _, e := range was {
			l.lacking[e] = true
		}
		if !p.bare(name) {
			for _, e := range is {
				delete(l.lacking, e)
			}
		}
		if len(l.lacking) > 0 {
			list = append(list, l)
		}
	}
	return list, nil
}

// planKeptLogs says, of an operation that did nothing else, which lines of reflogs it brought back: they stay when it is taken back.
func (p *planner) planKeptLogs() error {
	if p.Mode != Back || len(p.Lines) > 0 {
		return nil
	}
	names, err := logNames(p.now.repo)
	if err != nil {
		return err
	}
	count, in := 0, ""
	var logs int
	for _, name := range append(names, p.otherHeads()...) {
		if name == stashRef {
			continue
		}
		was, err := readLog(logFile(p.saved.repo, name))
		if err != nil {
			return err
		}
		is, err := readLog(logFile(p.now.repo, name))
		if err != nil {
			return err
		}
		if _, more := union(is, was); more > 0 {
			logs, count, in = logs+1, count+more, name
		}
	}
	if logs > 1 {
		in = ""
	}
	if count > 0 {
		p.line(Line{What: Reflog, Change: Stays, Name: in, Count: count, Note: "Reflogs keep what they have."})
	}
	return nil
}

// bare reports whether the saved state has a reflog alone, and its reference now would go with its reflog.
func (p *planner) bare(name string) bool {
	_, was := p.saved.refs[name]
	_, is := p.now.refs[name]
	return p.Mode != Missing && !isHead(name) && !was && is
}

// otherHeads are the HEADs of the other worktrees that are there then and now.
func (p *planner) otherHeads() (list []string) {
	if p.target.linked() {
		list = append(list, mainWorktree+"HEAD")
	}
	worktrees, _ := os.ReadDir(filepath.Join(p.source.Dir, "worktrees")) // most have none
	for _, w := range worktrees {
		name := "worktrees/" + w.Name() + "/HEAD"
		if _, err := os.Lstat(refFile(p.now.repo, name)); err == nil && w.Name() != p.target.worktree() && filepath.Dir(refFile(p.now.repo, name)) != p.target.GitDir {
			list = append(list, name)
		}
	}
	return list
}

// conflict is a reference that is kept beside another one, as git makes none, so that one's lock or reflog has no place; "" for none.
func (p *planner) conflict(name string) string {
	for dir := range dirsOf(name) {
		if _, ok := p.names.refs[dir]; ok {
			return dir
		}
	}
	if p.names.dirs[name] > 0 {
		return name + "/"
	}
	return ""
}

// planLogs decides which reflogs return: those of references that there are afterwards, and of HEADs. Lines whose objects are held nowhere
// stay away, since git takes such a log for damaged.
func (p *planner) planLogs(list []savedLog, kinds map[string]string) error {
	count, name := 0, ""
	for _, l := range list {
		to := l.name
		if as := p.renamed[to]; as != "" {
			if _, there := p.now.refs[to]; !there {
				to = as
				is, err := readLog(logFile(p.now.repo, to))
				if err != nil {
					return err
				}
				for _, e := range is {
					delete(l.lacking, e)
				}
			}
		}
		_, there := p.names.refs[to]
		_, was := p.saved.refs[l.name]
		alone := !was && p.Mode != Missing && p.names.obstacle(to) == "" // then, too, it had no reference
		if !there && !alone && !isHead(to) || there && p.bare(to) {
			continue
		}
		if stop := p.conflict(to); stop != "" {
			p.line(Line{What: Reflog, Change: Unable, Name: to, Count: len(l.lacking), Note: "Its name cannot be used beside " + stop + "."})
			continue
		}
		held := func(id string) bool { return isZero(id) || kinds[id] != "" }
		plan := logPlan{name: to, saved: logFile(p.saved.repo, l.name)}
		n := 0
		for _, e := range l.all {
			if l.lacking[e] {
				if !held(e.old) || !held(e.id) {
					continue
				}
				n++
				for _, id := range []string{e.old, e.id} {
					if !isZero(id) {
						p.inLogs = append(p.inLogs, id)
					}
				}
			}
			plan.lines = append(plan.lines, e)
		}
		if n > 0 {
			p.logs = append(p.logs, plan)
			count, name = count+n, to
		}
	}
	if len(p.logs) > 1 {
		name = ""
	}
	if count > 0 {
		p.line(Line{What: Reflog, Change: Returns, Name: name, Count: count})
	}
	return nil
}
