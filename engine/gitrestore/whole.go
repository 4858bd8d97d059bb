package gitrestore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

const heldNowhere = "Its object is held nowhere."

// emptyBlob are the ids of a file without content, which an index names for git add --intent-to-add, whether it is there or not.
var emptyBlob = map[string]bool{
	"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391": true, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813": true,
}

// planWhole gives a line for each part of a git directory for which no object is held, and refuses where that is all. Each file that is held is read
// once, and git walks the history once. checked is false where there is no git program to ask.
func (p *Plan) planWhole(ctx context.Context, s side, stash []logEntry) (lines []Line, checked bool, err error) {
	lost, err := p.findDamaged(ctx)
	if errors.As(err, new(*gitprogram.MissingError)) {
		return []Line{{What: Objects, Change: Unable, Note: "A pack is damaged, and there is no git program that could take its whole objects out"}}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	named, err := p.namedIDs(ctx, s, stash)
	var kinds map[string]string
	if err == nil {
		lines, err = p.ofDamaged(ctx, lost)
	}
	if err == nil {
		kinds, err = p.kinds(ctx, true, sorted(named))
	}
	switch {
	case errors.As(err, new(*gitprogram.MissingError)):
		return lines, false, nil
	case errors.As(err, new(*gitprogram.FailedError)):
		return append(lines, Line{What: Objects, Change: Unable, Note: "Git cannot read what is held: git fsck says what is missing."}), true, nil
	case err != nil:
		return nil, false, err
	}
	p.absent = map[string]bool{}
	for id := range named {
		p.absent[id] = kinds[id] == ""
	}
	if err := p.olderIDs(ctx); err != nil {
		return nil, false, err
	}
	returns, first := 0, ""
	part := func(l Line) {
		if !p.absent[l.To] {
			returns++
			return
		}
		first = l.To
		l.Change, l.Note = Unable, heldNowhere
		lines = append(lines, l)
	}
	for _, name := range sorted(s.refs) {
		if id := s.refs[name].ID; id != "" && name != stashRef {
			part(Line{What: Ref, Name: name, To: id})
		}
	}
	if s.head.ID != "" {
		part(Line{What: Head, Name: "HEAD", To: s.head.ID})
	}
	for _, e := range stash {
		part(Line{What: Stash, Name: p.logged(ctx, e).message(), To: e.id})
	}
	if returns == 0 && first != "" {
		p.refuse("None of the objects that its references need is held, such as %s. %s", first, p.source.Why)
		return nil, true, nil
	}
	logs := 0
	for _, file := range logFiles(p.source.Dir) {
		list, err := readLog(file)
		if err != nil {
			return nil, false, err
		}
		for _, e := range list {
			if p.absent[e.id] && !strings.HasSuffix(file, filepath.FromSlash("/logs/"+stashRef)) {
				logs++
			}
		}
	}
	if logs > 0 {
		lines = append(lines, Line{What: Reflog, Change: Unable, Count: logs, Note: "Their objects are held nowhere."})
	}
	lacking, err := p.walk(ctx, kinds, named)
	return append(lines, lacking...), true, err
}

// namedIDs are the ids that references, HEADs, reflogs, the stash and indexes name; those of an index each with its name there, as ":a.txt".
func (p *Plan) namedIDs(ctx context.Context, s side, stash []logEntry) (map[string]string, error) {
	named := map[string]string{}
	for _, ref := range s.refs {
		named[ref.ID] = ""
	}
	for _, head := range headsIn(p.source.Dir) {
		named[head.ID] = ""
	}
	for _, e := range stash {
		named[e.id] = ""
	}
	for _, file := range logFiles(p.source.Dir) {
		list, err := readLog(file)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			named[e.id] = ""
		}
	}
	for _, file := range p.source.Indexes {
		list, err := p.lsFiles(ctx, file)
		if err != nil && !errors.As(err, new(*gitprogram.FailedError)) { // a damaged index returns as it was
			return nil, err
		}
		for _, e := range list {
			if e.mode != gitlink && !emptyBlob[e.id] {
				named[e.id] = ":" + e.path
			}
		}
	}
	for id := range named {
		if isZero(id) || emptyTree[id] {
			delete(named, id)
		}
	}
	return named, nil
}

// olderIDs finds which ids that lines of reflogs lead from are held nowhere.
func (p *Plan) olderIDs(ctx context.Context) error {
	older := map[string]bool{}
	for _, file := range logFiles(p.source.Dir) {
		list, err := readLog(file)
		if err != nil {
			return err
		}
		for _, e := range list {
			if _, known := p.absent[e.old]; !known && !isZero(e.old) {
				older[e.old] = true
			}
		}
	}
	kinds, err := p.kinds(ctx, true, sorted(older))
	for id := range older {
		p.absent[id] = kinds[id] == ""
	}
	return err
}

// maxNamed is how many objects that are held nowhere are named.
const maxNamed = 20

// walk gives lines about the objects that what returns reaches, or an index names, and that are held nowhere: git's name for each, as
// "refs/heads/main~2:a.txt".
func (p *Plan) walk(ctx context.Context, kinds, named map[string]string) (lines []Line, err error) {
	complete := true
	for id, name := range named {
		complete = complete && (name == "" || !p.absent[id])
	}
	out, err := p.git(ctx, true, []byte(strings.Join(sorted(kinds), "\n")+"\n"), "rev-list", "--stdin", "--objects", "--quiet", "--missing=print")
	for line := range strings.Lines(string(out)) {
		id, missing := strings.CutPrefix(strings.TrimSpace(line), "?")
		complete = complete && (!missing || emptyTree[id])
	}
	switch {
	case err == nil && complete:
		return nil, nil
	case err != nil && !errors.As(err, new(*gitprogram.FailedError)): // else a commit is missing
		return nil, err
	}
	lost, err := namesIn(ctx, p.savedRepository())
	if err != nil {
		return nil, err
	}
	for id, name := range named { // git 2.55 looks into the repository's own index, and not into the one that it is given
		if _, known := lost[id]; name != "" && p.absent[id] && !known {
			lost[id] = name
		}
	}
	if lines = linesOf(lost); len(lines) == 0 {
		lines = []Line{{What: Objects, Change: Unable, Note: "Some that the history needs are held nowhere: git fsck says which."}}
	}
	return lines, nil
}

// logFiles are all reflogs of a git directory, and of the worktrees linked to it.
func logFiles(dir string) (files []string) {
	roots, _ := filepath.Glob(filepath.Join(globQuote(dir), "worktrees", "*", "logs")) // most have none
	for _, root := range append(roots, filepath.Join(dir, "logs")) {
		_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, file)
			}
			return nil
		})
	}
	return files
}

// headsIn are the HEADs of a git directory and of the worktrees linked to it, by their git directories.
func headsIn(dir string) map[string]gitrepo.Ref {
	heads := map[string]gitrepo.Ref{}
	linked, _ := filepath.Glob(filepath.Join(globQuote(dir), "worktrees", "*")) // most have none
	for _, gitDir := range append(linked, dir) {
		if head, err := gitrepo.Open(gitDir, dir).HeadRef(); err == nil {
			heads[gitDir] = head
		}
	}
	return heads
}

// dropAbsent takes out of a git directory that is being built what names an object that is held nowhere.
func (p *Plan) dropAbsent(dir string) error {
	if !slices.Contains(slices.Collect(maps.Values(p.absent)), true) {
		return nil
	}
	repo := gitrepo.Open(dir, dir)
	refs, err := repo.Refs()
	if err != nil {
		return err
	}
	var stash []logEntry
	for _, file := range logFiles(dir) {
		list, err := readLog(file)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(list), func(e logEntry) bool { return p.absent[e.id] })
		for i, e := range left { // to git fsck, a line that leads from nowhere is damaged
			switch {
			case !p.absent[e.old]:
			case i == 0:
				left[i].old = zero(e.old)
			default:
				left[i].old = left[i-1].id
			}
		}
		ofStash := file == logFile(repo, stashRef)
		if ofStash {
			left = chained(left)
			stash = left
		}
		if !slices.Equal(left, list) {
			if err := os.WriteFile(file, logText(left), 0o644); err != nil {
				return err
			}
		}
	}
	drop := map[string]bool{}
	for name, ref := range refs {
		drop[name] = p.absent[ref.ID]
	}
	packed, err := vfs.ReadRegular(filepath.Join(dir, "packed-refs"), 0)
	if err != nil && !vfs.IsMissing(err) {
		return err
	}
	var kept []byte
	dropped := false
	for line := range bytes.Lines(packed) {
		_, name, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if line[0] != '^' { // the line after a tag, about what it points at
			dropped = drop[string(name)]
		}
		if !dropped {
			kept = append(kept, line...)
		}
	}
	if len(kept) < len(packed) {
		if err := os.WriteFile(filepath.Join(dir, "packed-refs"), kept, 0o644); err != nil {
			return err
		}
	}
	for _, name := range sorted(drop) {
		text := ""
		if name == stashRef && len(stash) > 0 {
			text = stash[len(stash)-1].id + "\n"
		}
		if file := refFile(repo, name); drop[name] && text == "" {
			err = os.Remove(file)
		} else if drop[name] {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil && !vfs.IsMissing(err) {
			return err
		}
	}
	for gitDir, head := range headsIn(dir) {
		if p.absent[head.ID] { // a branch without a commit
			if err := os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: "+beside(p.label, "refs/heads/HEAD")+"\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
