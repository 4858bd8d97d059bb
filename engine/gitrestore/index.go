package gitrestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// staged is one entry of an index.
type staged struct {
	mode, id, stage, path string
	flags                 string // git ls-files -v: whether it is assumed to be unchanged, or left out of the work tree
}

// lsFiles lists an index, "" for the repository's own. An index that is not there has no entries.
func (p *Plan) lsFiles(ctx context.Context, file string) (list []staged, err error) {
	r := p.repository(true)
	r.Index = file
	if file == "" {
		file = filepath.Join(p.target.GitDir, "index")
	}
	return listIndex(ctx, r, file)
}

// listIndex lists the index that a repository has in a file.
func listIndex(ctx context.Context, r gitprogram.Repository, file string) (list []staged, err error) {
	if _, err := os.Lstat(file); err != nil {
		return nil, nil
	}
	out, err := r.Output(ctx, nil, "ls-files", "-s", "-v", "-z")
	if err != nil {
		return nil, err
	}
	for text := range strings.SplitSeq(string(out), "\x00") {
		head, path, ok := strings.Cut(text, "\t")
		if w := strings.Fields(head); ok && len(w) == 4 {
			list = append(list, staged{mode: w[1], id: w[2], stage: w[3], path: path, flags: w[0]})
		}
	}
	return list, nil
}

// indexPlan is an index that is put in the place of the present one.
type indexPlan struct {
	file string // "" for none
	was  []staged
}

// planIndex plans to move the index to what it was.
func (p *planner) planIndex() error {
	file := p.source.Indexes[p.target.worktree()]
	then, err := p.lsFiles(p.ctx, file)
	if err != nil {
		return err
	}
	if file == "" {
		then = nil
	}
	now, err := p.lsFiles(p.ctx, "")
	if err != nil {
		return err
	}
	if slices.Equal(then, now) {
		return nil
	}
	for _, e := range then {
		if e.mode != gitlink {
			p.staged[e.id] = ":" + e.path
		}
	}
	p.index = &indexPlan{file, now}
	p.line(Line{What: Index, Change: Moves, Name: "index", Count: len(then)})
	return nil
}

const gitlink = "160000" // the mode of a submodule, whose commit is not here

// applyIndex replaces the index under its lock.
func (p *Plan) applyIndex(ctx context.Context, w *work) error {
	if p.index == nil {
		return nil
	}
	place := filepath.Join(p.target.GitDir, "index")
	l, err := w.lock(place)
	if err != nil {
		return err
	}
	now, err := p.lsFiles(ctx, "")
	if err == nil && !slices.Equal(now, p.index.was) {
		err = errors.New("the index has changed since the plan was made")
	}
	var data []byte
	if err == nil && p.index.file != "" {
		if err = p.addSharedIndexes(); err == nil {
			data, err = vfs.ReadRegular(p.index.file, 0)
		}
	}
	if err == nil {
		err = p.stepped("index is locked")
	}
	switch {
	case err != nil:
		return errors.Join(err, l.free())
	case p.index.file == "":
		return errors.Join(os.Remove(place), l.free())
	}
	return l.put(data)
}

// addSharedIndexes adds the files of which a split index is one half. Their names say what they contain.
func (p *Plan) addSharedIndexes() error {
	from := p.savedRepo().GitDir
	files, err := filepath.Glob(filepath.Join(globQuote(from), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		to := filepath.Join(p.target.GitDir, filepath.Base(file))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			if err := copyFile(file, to, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func globQuote(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// keptIndex is an index of which content is lost that was staged and never committed. It becomes a commit on top of the HEAD
// of then.
type keptIndex struct {
	entries []staged
	parent  string // "" for none
	as      string
}

// keptSuffix ends the name of the branch that keeps the index of another worktree.
const keptSuffix = "-index"

// keepIndexes plans to keep what was staged and is nowhere now: of the other worktrees, and of the target where its index does not return.
func (p *planner) keepIndexes() error {
	for _, name := range sorted(p.source.Indexes) {
		saved, what := p.source.Dir, "index"
		if name != "" {
			saved = filepath.Join(p.source.Dir, "worktrees", name)
		}
		if name != p.target.worktree() {
			what = refComponent(cmp.Or(name, "main-worktree")) + keptSuffix
		} else if p.worktree || p.Mode != Missing {
			continue // it returns as it was
		}
		then, err := p.lsFiles(p.ctx, p.source.Indexes[name])
		if err != nil {
			return err
		}
		then = onePerPath(then)
		as := "refs/heads/rewind/" + p.label + "/" + what
		lost, parent, err := p.lostOf(then, gitrepo.Open(saved, p.source.Dir), as)
		if err != nil {
			return err
		}
		if len(lost) == 0 {
			continue
		}
		as, _ = p.names.free(as, "")
		p.names.add(as, gitrepo.Ref{})
		p.kept = append(p.kept, keptIndex{then, parent, as})
		if parent != "" {
			p.wanted = append(p.wanted, parent)
		}
		p.line(Line{What: Index, Change: ReturnsAs, Name: what, As: as, Count: len(lost), Note: "What was staged and not committed is a commit there."})
	}
	return nil
}

// stagedNow are the ids that the indexes of all worktrees name now.
func (p *planner) stagedNow() (map[string]bool, error) {
	if p.inIndexes != nil {
		return p.inIndexes, nil
	}
	all, err := p.lsFiles(p.ctx, "")
	if err != nil {
		return nil, err
	}
	for _, w := range p.others() {
		list, err := p.lsFilesOf(w)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	p.inIndexes = map[string]bool{}
	for _, e := range all {
		p.inIndexes[e.id] = true
	}
	return p.inIndexes, nil
}

// lostOf gives the entries of an index whose content neither a present index nor a commit has, as far as that is known without
// a walk through all history. The repository is the saved one; as is the name under which an earlier restore has kept the index.
func (p *planner) lostOf(then []staged, saved gitrepo.Repo, as string) (lost []staged, parent string, err error) {
	now, err := p.stagedNow()
	if err != nil {
		return nil, "", err
	}
	known := maps.Clone(now)
	choose := func() {
		lost = nil
		for _, e := range then {
			if e.mode != gitlink && !known[e.id] {
				lost = append(lost, e)
			}
		}
	}
	if choose(); len(lost) == 0 {
		return nil, "", nil
	}
	head, err := saved.HeadRef()
	if err != nil {
		return nil, "", nil // a worktree without a HEAD
	}
	parent = head.ID
	if head.Target != "" {
		shared := p.saved.refs[head.Target]
		parent = shared.ID
	}
	tips := slices.Concat(p.reachable, p.wanted, p.stashIDs())
	var not []string
	if parent != "" {
		kinds, err := p.kinds(p.ctx, true, []string{parent})
		if err != nil {
			return nil, "", err
		}
		if kinds[parent] == "" {
			parent = ""
		}
	}
	if parent != "" {
		not = []string{parent}
	}
	trees := slices.Clone(not)
	for _, name := range sorted(p.now.refs) { // what an earlier restore has kept
		if strings.HasPrefix(name, as) && p.now.refs[name].ID != "" {
			trees = append(trees, p.now.refs[name].ID)
		}
	}
	for _, tree := range trees {
		out, err := p.git(p.ctx, true, nil, "ls-tree", "-r", "-z", "--full-tree", tree)
		if err != nil && !errors.As(err, new(*gitprogram.FailedError)) { // of a tree that is held nowhere, nothing is known
			return nil, "", err
		}
		for text := range strings.SplitSeq(string(out), "\x00") {
			if w := strings.Fields(text); len(w) > 3 {
				known[w[2]] = true
			}
		}
	}
	if choose(); len(lost) == 0 {
		return nil, "", nil
	}
	since, err := p.reached(p.ctx, tips, not, true)
	if err != nil && !errors.As(err, new(*gitprogram.FailedError)) {
		return nil, "", err
	}
	for id := range since {
		known[id] = true
	}
	choose()
	var ids []string
	for _, e := range lost {
		ids = append(ids, e.id)
	}
	kinds, err := p.kinds(p.ctx, true, ids)
	if err != nil {
		return nil, "", err
	}
	for i, e := range lost {
		if kinds[e.id] == "" { // "git add -N" stages a file without content
			known[e.id] = true
		} else {
			p.staged[e.id] = ":" + lost[i].path
		}
	}
	choose()
	return lost, parent, nil
}

// onePerPath picks, of a conflict, what was ours: a tree has one entry of a name. The others are of commits.
func onePerPath(list []staged) (one []staged) {
	taken := map[string]bool{}
	for _, stage := range []string{"0", "2", "3", "1"} {
		for _, e := range list {
			if e.stage == stage && !taken[e.path] {
				taken[e.path] = true
				one = append(one, e)
			}
		}
	}
	return one
}

// applyKept makes the commits of indexes, and gives them their names.
func (p *Plan) applyKept(ctx context.Context, w *work, r *Result) error {
	for _, k := range p.kept {
		var input strings.Builder
		for _, e := range k.entries {
			fmt.Fprintf(&input, "%s %s 0\t%s\x00", e.mode, e.id, e.path)
		}
		g := p.repository(false)
		g.Index = w.temp()
		if _, err := g.Output(ctx, []byte(input.String()), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
		tree, err := g.Output(ctx, nil, "write-tree", "--missing-ok")
		if err != nil {
			return err
		}
		args := []string{"-c", "user.name=rewind", "-c", "user.email=rewind@localhost", "commit-tree", "-m", "What was staged at checkpoint " + p.label}
		if k.parent != "" {
			args = append(args, "-p", k.parent)
		}
		commit, err := g.Output(ctx, nil, append(args, strings.TrimSpace(string(tree)))...)
		if err != nil {
			return err
		}
		if err := p.applyRefs(ctx, w, []refChange{{name: k.as, new: strings.TrimSpace(string(commit))}}, r); err != nil {
			return err
		}
	}
	return nil
}

// repository is the target for git; with held, the objects of the saved state are there too.
func (p *Plan) repository(held bool) gitprogram.Repository {
	r := gitprogram.Repository{GitDir: p.target.GitDir}
	if p.worktree {
		r.GitDir = p.target.CommonDir // its own directory is made later
	}
	if held {
		r.Objects = p.source.Objects
	}
	if p.build { // the target is not there: the saved state can be asked
		r.GitDir, r.Objects = p.source.Dir, p.sources()
		if len(p.damaged) > 0 {
			r.Objects = nil // what is not damaged is in its own directory
		}
	}
	return r
}
