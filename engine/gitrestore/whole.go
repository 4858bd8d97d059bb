package gitrestore

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
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
	damaged, err := p.findDamaged(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, pack := range damaged {
		lines = append(lines, Line{What: Objects, Change: Unable, Name: pack, Note: "The pack is damaged: git fsck says what is missing."})
	}
	named, err := p.namedIDs(ctx, s, stash)
	var kinds map[string]string
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
		part(Line{What: Stash, Name: e.message(), To: e.id})
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
	l, err := p.walk(ctx, kinds, named)
	if l.Change == Unable {
		lines = append(lines, l)
	}
	return lines, true, err
}

// namedIDs are the ids that references, HEADs, reflogs, the stash and indexes name, each with whether an index does.
func (p *Plan) namedIDs(ctx context.Context, s side, stash []logEntry) (map[string]bool, error) {
	named := map[string]bool{}
	for _, ref := range s.refs {
		named[ref.ID] = false
	}
	for _, head := range headsIn(p.source.Dir) {
		named[head.ID] = false
	}
	for _, e := range stash {
		named[e.id] = false
	}
	for _, file := range logFiles(p.source.Dir) {
		list, err := readLog(file)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			named[e.id] = false
		}
	}
	for _, file := range p.source.Indexes {
		list, err := p.lsFiles(ctx, file)
		if err != nil && !errors.As(err, new(*gitprogram.FailedError)) { // a damaged index returns as it was
			return nil, err
		}
		for _, e := range list {
			if e.mode != gitlink && !emptyBlob[e.id] {
				named[e.id] = true
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

// walk is a line about the objects that what returns reaches, or an index names, and that are held nowhere; none where all are held.
func (p *Plan) walk(ctx context.Context, kinds map[string]string, named map[string]bool) (l Line, err error) {
	l = Line{What: Objects, Note: "They are held nowhere."}
	lack := func(id string) { l.Change, l.Count, l.To = Unable, l.Count+1, id }
	for id, staged := range named {
		if staged && p.absent[id] {
			lack(id)
		}
	}
	out, err := p.git(ctx, true, []byte(strings.Join(sorted(kinds), "\n")+"\n"), "rev-list", "--stdin", "--objects", "--quiet", "--missing=print")
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok && !emptyTree[id] {
			lack(id)
		}
	}
	if errors.As(err, new(*gitprogram.FailedError)) { // a commit is missing, or what is held is damaged
		return Line{What: Objects, Change: Unable, Note: "Some that the history needs are held nowhere: git fsck says which."}, nil
	}
	return l, err
}

// findDamaged makes the saved state a repository for git to ask, and reads all that is held: packs are given, and loose objects
// are not used.
func (p *Plan) findDamaged(ctx context.Context) (packs []string, err error) {
	p.damaged = map[string]bool{}
	own := filepath.Join(p.source.Dir, "objects")
	for _, dir := range []string{own, filepath.Join(p.source.Dir, "refs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var whole []link
	for _, dir := range p.sources() {
		list, err := everyObject(dir)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			ok, err := isWhole(ctx, l)
			switch {
			case err != nil:
				return nil, err
			case !ok && filepath.Dir(l.name) != "pack":
				p.damaged[l.from] = true
				continue
			case !ok && !slices.Contains(packs, l.from):
				packs = append(packs, l.from)
			}
			whole = append(whole, l)
		}
	}
	if len(p.damaged) == 0 {
		return packs, nil
	}
	for _, l := range whole { // git gives up at a damaged object
		to := filepath.Join(own, l.name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := os.Symlink(l.from, to); err != nil && !errors.Is(err, fs.ErrExist) {
			if err := linkOrCopy(l.from, to); err != nil {
				return nil, err
			}
		}
	}
	return packs, nil
}

// isWhole reports whether a file has the content that it is named after, or ends with the sum of.
func isWhole(ctx context.Context, l link) (bool, error) {
	dir, name := filepath.Split(l.name)
	id := strings.Trim(dir, string(filepath.Separator)) + name
	if dir == "pack"+string(filepath.Separator) {
		id, _, _ = strings.Cut(strings.TrimPrefix(name, "pack-"), ".")
	}
	if strings.HasSuffix(name, ".promisor") {
		return true, nil
	}
	var sum hash.Hash = sha1.New()
	if len(id) == 2*sha256.Size {
		sum = sha256.New()
	}
	f, info, err := vfs.OpenRegular(l.from, vfs.NoFollow)
	if err != nil {
		return false, err
	}
	defer f.Close() // read only: nothing can be lost
	if dir == "pack"+string(filepath.Separator) {
		end := make([]byte, sum.Size())
		if _, err := io.CopyN(sum, reader{ctx, f}, info.Size()-int64(len(end))); err != nil {
			return false, ctx.Err()
		}
		_, err := io.ReadFull(f, end)
		return err == nil && bytes.Equal(sum.Sum(nil), end), nil
	}
	z, err := zlib.NewReader(reader{ctx, f})
	if err == nil {
		_, err = io.Copy(sum, z)
	}
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == id, ctx.Err()
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
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
		ofStash := file == logFile(repo, stashRef)
		if ofStash {
			left = chained(left)
			stash = left
		}
		if len(left) < len(list) {
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
	if err != nil && !missing(err) {
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
		if err != nil && !missing(err) {
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
