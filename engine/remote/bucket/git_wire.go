package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/gitprogram"
)

// errMoved: a ref is not where it was expected to be.
var errMoved = errors.New("somebody else has pushed meanwhile")

// update is one change of a ref of the host.
type update struct {
	ref   string
	from  string // what it is expected to be; "": not there
	to    string // "": it is deleted
	force bool   // whatever it is
}

// push changes a ref of the host. The error is errMoved where it is not what was expected.
func (g *gitPlace) push(ctx context.Context, repo string, u update) error {
	args := []string{"push", "--porcelain", "--progress", "--no-verify", "--recurse-submodules=no", "--no-follow-tags"}
	if u.force {
		args = append(args, "--force")
	} else {
		args = append(args, "--force-with-lease="+u.ref+":"+u.from)
	}
	out, err := g.run(ctx, repo, 0, append(args, "--", g.url, u.to+":"+u.ref)...)
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}
	if g.otherFormat(failed) {
		return errMoved // what was made is made anew, as the host wants it
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "!\t") {
			continue
		}
		_, reason, _ := strings.Cut(clean(line, 500), " [")
		for _, moved := range []string{"stale info", "fetch first", "non-fast-forward", "failed to update ref", "cannot lock ref", "failed to lock", "already exists", "incorrect old value", "reference conflict"} {
			if strings.Contains(reason, moved) {
				return errMoved
			}
		}
		if u.to == "" && strings.Contains(reason, "does not exist") {
			return nil
		}
		return &DeniedError{g.host(), "Allow your user to push refs below refs/rewind/ there, or use another place.", fmt.Errorf("the push of %s: [%s %s", u.ref, reason, strings.Join(failed.lines(), " "))}
	}
	if u.to == "" && strings.Contains(failed.complaints, "remote ref does not exist") {
		return nil
	}
	return g.verdict(err)
}

// otherFormat notes that the host's repository names objects by the other hash; false where that is not what failed.
func (g *gitPlace) otherFormat(failed *gitError) bool {
	if !strings.Contains(failed.complaints, "hash algorithm") && !strings.Contains(failed.complaints, "mismatched algorithms") && !strings.Contains(failed.complaints, "object format") {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sha256, g.flipped = !g.sha256, g.flipped+1
	g.tips, g.seen = map[string]tip{}, nil
	return g.flipped < 2
}

// unref deletes a ref of the host.
func (g *gitPlace) unref(ctx context.Context, ref string) error {
	repo, err := g.repository()
	if err != nil {
		return err
	}
	defer os.RemoveAll(repo)
	return g.push(ctx, repo, update{ref: ref, force: true})
}

// fetched is what came of the host: a repository, which is removed by Close.
type fetched struct {
	*gitprogram.Reader
	repo string
	refs map[string]string // the ids of the refs, by what their names have after what was asked for
}

func (f *fetched) Close() {
	if f.Reader != nil {
		f.Reader.Close()
	}
	os.RemoveAll(f.repo)
}

// fetch gets refs of the host: all that begin with from, with all that they reach; or, to its newest commit, the one that is from. The repository may
// grow by so many bytes; then the error is errTooMuch.
func (g *gitPlace) fetch(ctx context.Context, from string, newest bool, grow int64) (f *fetched, err error) {
	f = &fetched{refs: map[string]string{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.repo, err = g.repository(); err != nil {
		return f, err
	}
	const to = "refs/fetched/x"
	args := []string{"fetch", "--progress", "--no-tags", "--recurse-submodules=no"}
	if newest {
		args = append(args, "--depth=1", "--", g.url, "+"+from+":"+to)
	} else {
		args = append(args, "--", g.url, "+"+from+"*:"+to+"*")
	}
	_, err = g.run(ctx, f.repo, grow, args...)
	var failed *gitError
	switch {
	case !errors.As(err, &failed):
	case g.otherFormat(failed):
		os.RemoveAll(f.repo)
		return g.fetch(ctx, from, newest, grow)
	case newest && strings.Contains(failed.complaints, "couldn't find remote ref"):
		return f, nil
	}
	if err != nil {
		return f, g.verdict(err)
	}
	out, err := g.run(ctx, f.repo, 0, "for-each-ref", "--format=%(objectname) %(refname)", "refs/fetched/")
	if err != nil {
		return f, g.verdict(err)
	}
	for line := range strings.Lines(string(out)) {
		if id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			f.refs[strings.TrimPrefix(name, to)] = id
		}
	}
	if len(f.refs) == 0 {
		return f, nil
	}
	cmd, err := g.command(ctx, f.repo, "cat-file", "--batch")
	if err == nil {
		f.Reader, err = gitprogram.Read(ctx, cmd)
	}
	return f, err
}

// fetchTip is the newest commit of a chain.
func (g *gitPlace) fetchTip(ctx context.Context, ref string) (at tip, err error) {
	f, err := g.fetch(ctx, ref, true, maxSmall+slack)
	if err != nil {
		return at, err
	}
	defer f.Close()
	if at.id = f.refs[""]; at.id == "" {
		return at, nil
	}
	var tree string
	if at.text, tree, _, _, err = f.commit(at.id); err != nil {
		return at, err
	}
	list, err := f.Tree(tree)
	if err == nil && len(list) == 1 {
		at.has = treeEntry{list[0].Mode, list[0].Name, list[0].ID}
	}
	return at, err
}

// fetchChains are the objects of a directory, and of those below it, by their names, and how many were there and are gone.
func (g *gitPlace) fetchChains(ctx context.Context, dir string, below bool) (all map[string]entry, gone int, err error) {
	start := g.chainOf(dir)
	if below {
		start = strings.TrimSuffix(start, chainName)
	}
	f, err := g.fetch(ctx, start, false, maxChains)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	all = map[string]entry{}
	room := maxChains
	for ref, newest := range f.refs {
		name, ok := strings.CutSuffix(start+ref, "/"+chainName)
		of, ours := strings.CutPrefix(name+"/", g.prefix+chainsBelow)
		if of = strings.ReplaceAll(of, "=", "."); !ok || !ours || of != "" && CheckName(of+"x") != nil {
			continue
		}
		if err := f.chain(newest, of, all, &room); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", start+ref, err)
		}
	}
	maps.DeleteFunc(all, func(_ string, e entry) bool {
		if e.gone {
			gone++
		}
		return e.gone
	})
	return all, gone, ctx.Err()
}

// chain reads the objects of a chain, the newest first: where a name comes twice, the newest counts.
func (f *fetched) chain(id, dir string, all map[string]entry, room *int64) error {
	for n := 0; id != ""; n++ {
		if n == maxChain {
			return errTooMuch
		}
		_, tree, parent, at, err := f.commit(id)
		if err != nil {
			return err
		}
		list, err := f.Tree(tree)
		if err != nil {
			return err
		}
		id = parent
		if len(list) != 1 { // it is none of ours
			continue
		}
		base, size, marked := strings.Cut(list[0].Name, goneMark)
		e := entry{time: at, id: list[0].ID, order: -n, large: list[0].Mode == modeMark, gone: list[0].Mode == modeFile && marked && size == ""}
		if _, known := all[dir+base]; known || list[0].Mode != modeFile && !e.large {
			continue
		}
		switch {
		case e.large:
			if e.size, err = strconv.ParseInt(size, 10, 64); err != nil || e.size < 0 {
				continue
			}
		case !e.gone && !marked:
			if e.small, err = f.read(e.id, "blob", maxSmall); err != nil {
				return err
			}
			e.size = int64(len(e.small))
		case !e.gone:
			continue
		}
		if *room -= int64(len(e.small)) + int64(len(base)) + 200; *room < 0 {
			return errTooMuch
		}
		all[dir+base] = e
	}
	return nil
}

// commit reads a commit as we write them.
func (f *fetched) commit(id string) (text []byte, tree, parent string, at time.Time, err error) {
	text, err = f.read(id, "commit", 64<<10)
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !ok:
			return text, tree, parent, at, err
		case key == "tree":
			tree = value
		case key == "parent" && parent == "":
			parent = value
		case key == "committer":
			if words := strings.Fields(value); len(words) > 1 {
				seconds, _ := strconv.ParseInt(words[len(words)-2], 10, 64)
				at = time.Unix(seconds, 0)
			}
		}
	}
	return text, tree, parent, at, err
}

// read reads a whole object of at most limit bytes.
func (f *fetched) read(id, kind string, limit int64) ([]byte, error) {
	content, size, err := f.Object(id, kind)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, errTooMuch
	}
	body := make([]byte, size)
	_, err = io.ReadFull(content, body)
	return body, err
}

// fetchLarge gets an object that has a ref of its own.
func (g *gitPlace) fetchLarge(ctx context.Context, name string, e entry) (body []byte, err error) {
	f, err := g.fetch(ctx, g.largeRef(name), true, e.size+e.size/64+slack)
	if err == nil {
		defer f.Close()
		if f.refs[""] == "" {
			return nil, fs.ErrNotExist
		}
		var tree string
		if _, tree, _, _, err = f.commit(f.refs[""]); err != nil {
			return nil, err
		}
		list, err := f.Tree(tree)
		if err != nil {
			return nil, err
		}
		if len(list) != 1 || list[0].Name != aloneName || list[0].Mode != modeFile {
			return nil, fmt.Errorf("%s is none of ours", g.largeRef(name))
		}
		if body, err = f.read(list[0].ID, "blob", e.size); err == nil {
			return body, nil
		}
	}
	if errors.Is(err, errTooMuch) {
		err = &TooLargeError{name, e.size}
	}
	return nil, err
}
