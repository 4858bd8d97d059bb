package gitrestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// Apply carries the plan out. After an error or a crash, what is done stays; a new plan has the rest, and Apply clears up also where it
// has no lines. Errors: *RefusedError, *LockedError,
// *gitprogram.FailedError where another git changed what the plan was made for, of the file system.
func (p *Plan) Apply(ctx context.Context) (r Result, err error) {
	if len(p.Refusals) > 0 {
		return r, &RefusedError{p.Refusals}
	}
	if len(p.Lines) == 0 {
		return r, clearWork(p.target.CommonDir)
	}
	if p.build {
		return p.applyBuild(ctx)
	}
	w, err := startWork(p.target.CommonDir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	steps := []struct {
		name string
		do   func() error
	}{
		{"objects", func() error {
			r.Objects, err = addObjects(ctx, filepath.Join(p.target.CommonDir, "objects"), p.links)
			return err
		}},
		{"reflogs in the way", func() error { return p.applyMoved(w) }},
		{"damaged references", func() error { return p.applyMended(w) }},
		{"reflogs of new references", func() error { return p.applyNewLogs(ctx, w, &r) }},
		{"references", func() error { return p.applyRefs(ctx, w, p.first, &r) }},
		{"HEAD", func() error { return p.applyHead(ctx, w) }},
		{"other references", func() error { return p.applyRefs(ctx, w, p.rest, &r) }},
		{"symbolic references", func() error { return p.applySymbolic(ctx, w) }},
		{"stash", func() error { return p.applyStash(w) }},
		{"worktree", func() error { return p.applyWorktree(ctx, w) }},
		{"files .git of worktrees", p.writeGitFiles},
		{"index", func() error { return p.applyIndex(ctx, w) }},
		{"kept index", func() error { return p.applyKept(ctx, w, &r) }},
		{"progress", func() error { return p.applyProgress(ctx, w) }},
		{"reflogs", func() error { return p.applyLogs(ctx, w, &r) }},
	}
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if err := s.do(); err != nil {
			return r, err
		}
		if err := p.stepped(s.name); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (p *Plan) stepped(name string) error {
	if p.step == nil {
		return nil
	}
	return p.step(name)
}

func (p *Plan) repo() gitrepo.Repo { return gitrepo.Open(p.target.GitDir, p.target.CommonDir) }

// message is what git's reflogs say of a change.
func (p *Plan) message() string { return "rewind: restore to " + p.label }

// applyRefs changes references: the deletions in one transaction, then all else in another, since git refuses a name in the
// same one that deletes what stands in its way. Git makes references durable only where core.fsync says so.
func (p *Plan) applyRefs(ctx context.Context, w *work, list []refChange, r *Result) error {
	var input strings.Builder
	var names []string
	for _, deletions := range []bool{true, false} {
		begun := false
		for _, c := range list {
			if (c.new == "") != deletions {
				continue
			}
			names = append(names, c.name)
			if !begun {
				input.WriteString("start\x00")
				begun = true
			}
			if c.self {
				input.WriteString("option no-deref\x00")
			}
			switch {
			case c.new == "":
				fmt.Fprintf(&input, "delete %s\x00%s\x00", c.name, c.old)
			case c.old == "":
				fmt.Fprintf(&input, "create %s\x00%s\x00", c.name, c.new)
			default:
				fmt.Fprintf(&input, "update %s\x00%s\x00%s\x00", c.name, c.new, c.old)
			}
		}
		if begun {
			input.WriteString("prepare\x00commit\x00")
		}
	}
	if input.Len() == 0 {
		return nil
	}
	if err := p.change(ctx, w, names, []byte(input.String()), "update-ref", "-m", p.message(), "-z", "--stdin"); err != nil {
		return err
	}
	r.Refs += len(list)
	w.written = append(w.written, filepath.Join(p.target.CommonDir, "packed-refs"))
	repo := p.repo()
	for _, c := range list {
		w.written = append(w.written, refFile(repo, c.name), logFile(repo, c.name))
	}
	return nil
}

// applyMended writes references whose files are empty, which git refuses to change.
func (p *Plan) applyMended(w *work) error {
	for _, c := range p.mended {
		file := refFile(p.repo(), c.name)
		l, err := w.lock(file)
		if err != nil {
			return err
		}
		if !blank(file) {
			return errors.Join(errors.New(c.name+" has changed since the plan was made"), l.free())
		}
		if err := l.put([]byte(c.new + "\n")); err != nil {
			return err
		}
	}
	return nil
}

// blank reports whether a power cut left a file without content.
func blank(file string) bool {
	data, err := vfs.ReadRegular(file, 0)
	return err == nil && len(bytes.Trim(data, "\x00\n")) == 0
}

// applyHead puts HEAD on a branch or on a commit.
func (p *Plan) applyHead(ctx context.Context, w *work) error {
	if p.head == nil {
		return nil
	}
	args := []string{"symbolic-ref", "-m", p.message(), "HEAD", p.head.Target}
	if p.head.ID != "" {
		args = []string{"update-ref", "--no-deref", "-m", p.message(), "HEAD", p.head.ID}
	}
	err := p.change(ctx, w, nil, nil, args...)
	w.written = append(w.written, refFile(p.repo(), "HEAD"), logFile(p.repo(), "HEAD"))
	return err
}

func (p *Plan) applySymbolic(ctx context.Context, w *work) error {
	for _, name := range sorted(p.symbolic) {
		if err := p.change(ctx, w, []string{name}, nil, "symbolic-ref", "-m", p.message(), name, p.symbolic[name]); err != nil {
			return err
		}
		w.written = append(w.written, refFile(p.repo(), name), logFile(p.repo(), name))
	}
	return nil
}

// applyStash writes the stash's reflog, then its newest entry, under the lock of the reference.
func (p *Plan) applyStash(w *work) error {
	if p.stash == nil {
		return nil
	}
	l, err := w.lock(filepath.Join(p.target.CommonDir, filepath.FromSlash(stashRef)))
	if err != nil {
		return err
	}
	now, err := readSide(p.repo())
	if err == nil {
		var is []logEntry
		if is, err = stashOf(now, false); err == nil && !slices.Equal(is, p.stashWas) {
			err = errors.New("the stash has changed since the plan was made")
		}
	}
	if err == nil {
		listed := slices.DeleteFunc(slices.Clone(p.stash), func(e logEntry) bool { return e.rest == "" })
		err = w.replace(logFile(p.repo(), stashRef), logText(listed))
	}
	if err == nil {
		err = p.stepped("reflog of the stash")
	}
	if err != nil {
		return errors.Join(err, l.free())
	}
	return l.put([]byte(p.stash[len(p.stash)-1].id + "\n"))
}

// applyNewLogs moves the saved reflogs of references that come back to where git adds its line to them: so each takes one new file, and
// not three, which is most of the time where a file system makes files slowly. No lock is needed, since what is there is not replaced. What
// cannot be moved is left to applyLogs.
func (p *Plan) applyNewLogs(ctx context.Context, w *work, r *Result) error {
	come := map[string]bool{}
	for _, c := range p.first {
		come[c.name] = c.old == ""
	}
	repo, plain := p.repo(), plainDirs{}
	left := make([]logPlan, 0, len(p.logs))
	for _, l := range p.logs {
		if err := ctx.Err(); err != nil {
			return err
		}
		file := logFile(repo, l.name)
		if !come[l.name] || !l.isSaved() || !plain.is(filepath.Dir(file)) || move(l.saved, file) != nil {
			left = append(left, l)
			continue
		}
		r.Logs++
		w.written = append(w.written, file)
		if err := p.stepped("reflog of a new reference"); err != nil {
			return err
		}
	}
	p.logs = left
	return nil
}

// applyLogs brings reflogs back, each under the lock of its reference.
func (p *Plan) applyLogs(ctx context.Context, w *work, r *Result) error {
	if len(p.logs) == 0 {
		return nil
	}
	repo := p.repo()
	var files []string
	for _, l := range p.logs {
		files = append(files, refFile(repo, l.name))
	}
	locks, err := w.locks(files)
	if err != nil {
		return err
	}
	for i, l := range p.logs {
		if err := ctx.Err(); err != nil {
			return err
		}
		lock := locks[i]
		if err := lock.take(); err != nil {
			return err
		}
		file := logFile(repo, l.name)
		now, err := readLog(file)
		if err == nil {
			if list, more := union(l.lines, now); more > 0 {
				err = w.replace(file, logText(list))
				r.Logs++
				if err == nil {
					err = p.stepped("reflog")
				}
			}
		}
		if err = errors.Join(err, lock.free()); err != nil {
			return err
		}
	}
	return nil
}
