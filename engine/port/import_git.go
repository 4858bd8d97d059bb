package port

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PiRef is where pi's older extension keeps its snapshots in a project's git repository: a chain of
// commits without files, each with one of them as a parent.
const PiRef = "refs/pi-rewind/store"

// gitSource has the commits of a repository. A directory is converted once, whatever number of commits has it.
func gitSource(ctx context.Context, p *project.Project, o ImportOptions) (from importSource, err error) {
	revs := o.Revs
	if o.Pi {
		revs = []string{PiRef}
	} else if len(revs) == 0 {
		revs = []string{"--all"}
	}
	list, err := gitprogram.Commits(ctx, o.Git, revs...)
	if err != nil {
		return from, err
	}
	tags, err := gitprogram.Tags(ctx, o.Git)
	if err != nil {
		return from, err
	}
	r, err := gitprogram.Open(ctx, o.Git)
	if err != nil {
		return from, err
	}
	g := &gitImport{r: r, trees: map[string]manifest.Entry{}, files: map[string]manifest.Entry{}}
	from.end = r.Close
	for _, c := range list {
		if o.Pi {
			if tree, err := r.Tree(c.Tree); err == nil && len(tree) == 0 {
				continue // a link of the chain
			}
		}
		text := []rune(strings.ToValidUTF8(c.Message, "\uFFFD"))
		it := importItem{name: c.ID, names: tags[c.ID], build: func(im *importing) (oid.ID, error) {
			if _, err := importTime(c.Time); err != nil {
				return oid.ID{}, err
			}
			e, err := g.dir(im, c.Tree, "", 0)
			return e.ID, err
		}}
		it.record = manifest.Checkpoint{ID: importID("git:" + c.ID), Time: c.Time, Description: string(text[:min(len(text), maxImportedText)]), GitHead: c.ID}
		if o.Pi {
			it.record.Agent = string(transcript.Pi)
		}
		from.items = append(from.items, it)
	}
	if o.Pi {
		from.bind = func(there map[manifest.CheckpointID]bool) []manifest.Binding { return piBindings(p, there) }
	}
	return from, nil
}

// maxImportedText bounds a description, in characters.
const maxImportedText = 4000

// gitImport converts git's objects, each once.
type gitImport struct {
	r     *gitprogram.Reader
	trees map[string]manifest.Entry
	files map[string]manifest.Entry
}

func (g *gitImport) dir(im *importing, id, name string, depth int) (manifest.Entry, error) {
	if e, ok := g.trees[id]; ok {
		e.Name = name
		return e, nil
	}
	if depth > manifest.MaxDepth {
		return manifest.Entry{}, skipf("its tree is deeper than %d directories", manifest.MaxDepth)
	}
	if err := im.ctx.Err(); err != nil {
		return manifest.Entry{}, err
	}
	list, err := g.r.Tree(id)
	if err != nil {
		return manifest.Entry{}, gitSkip(err)
	}
	var entries []manifest.Entry
	for _, t := range list {
		if t.Mode == "160000" || !im.takes(t.Name) {
			if t.Mode == "160000" {
				im.done.LeftOut++ // a submodule: its files are in another repository
			}
			continue
		}
		var e manifest.Entry
		if t.Mode == "40000" {
			e, err = g.dir(im, t.ID, t.Name, depth+1)
		} else {
			e, err = g.file(im, t)
		}
		if err != nil {
			return manifest.Entry{}, err
		}
		if e.Kind != 0 {
			entries = append(entries, e)
		}
	}
	e, err := im.dir(name, 0o755, entries)
	if err == nil {
		g.trees[id] = e
	}
	return e, err
}

func (g *gitImport) file(im *importing, t gitprogram.TreeEntry) (e manifest.Entry, err error) {
	key := t.ID
	if t.Mode == "120000" {
		key = "link " + t.ID
	}
	e, ok := g.files[key]
	if !ok {
		content, size, err := g.r.Object(t.ID, "blob")
		switch {
		case err != nil:
			return e, gitSkip(err)
		case t.Mode == "120000":
			target, err := io.ReadAll(io.LimitReader(content, 4096))
			if err != nil {
				return e, err
			}
			if len(target) == 0 || size > 4095 || strings.IndexByte(string(target), 0) >= 0 {
				im.done.LeftOut++
				return manifest.Entry{}, nil
			}
			e = manifest.Entry{Kind: manifest.Symlink, Target: string(target)}
		case size > im.p.Settings().MaxFileSize:
			im.done.LeftOut++
			return manifest.Entry{}, nil
		default:
			kind, id, n, err := im.tx.Content(0, content, size, oid.ID{})
			if err != nil {
				return e, err
			}
			e = manifest.Entry{Kind: kind, ID: id, Size: uint64(n)}
		}
		g.files[key] = e
	}
	e.Name = t.Name
	if e.Kind != manifest.Symlink {
		e.Mode = 0o644
		if t.Mode == "100755" {
			e.Mode = 0o755
		}
	}
	return e, nil
}

// gitSkip: what is wrong with an object is its commit's own matter, what is wrong with git is not.
func gitSkip(err error) error {
	if failed := (*gitprogram.FailedError)(nil); errors.As(err, &failed) || errors.Is(err, context.Canceled) {
		return err
	}
	return skipf("%v", err)
}

// piBindings reads pi's sessions of the project: which entries its extension bound to which snapshots.
func piBindings(p *project.Project, there map[manifest.CheckpointID]bool) (all []manifest.Binding) {
	found, err := transcript.Find(transcript.Pi, transcript.Home{Dir: p.Env.Home, Getenv: p.Env.Variable}, p.Root())
	if err != nil {
		return nil
	}
	for _, f := range found {
		file, _, err := vfs.OpenRegular(f.File, 0)
		if err != nil {
			continue
		}
		all = append(all, piBindingsIn(file, there)...)
		file.Close()
	}
	for i := range all {
		all[i].Time = p.Env.Time().UTC()
	}
	return all
}

// maxPiLine bounds a line of a session: longer ones are none of the extension's.
const maxPiLine = 16 << 20

func piBindingsIn(r io.Reader, there map[manifest.CheckpointID]bool) (all []manifest.Binding) {
	session := ""
	at := map[manifest.CheckpointID]int{}
	for text := range shortLines(r) {
		var line struct {
			Type, ID, CustomType string
			Data                 struct {
				Snapshots []string
				Bindings  [][2]any
			}
		}
		if session != "" && !bytes.Contains(text, []byte(`"rewind-`)) || json.Unmarshal(text, &line) != nil {
			continue
		}
		if line.Type == "session" {
			session = line.ID
		}
		if session == "" || line.Type != "custom" || !strings.HasPrefix(line.CustomType, "rewind-") {
			continue
		}
		for _, b := range line.Data.Bindings {
			entry, ok := b[0].(string)
			n, ok2 := b[1].(float64)
			if !ok || !ok2 || entry == "" || n < 0 || int(n) >= len(line.Data.Snapshots) {
				continue
			}
			id := importID("git:" + line.Data.Snapshots[int(n)])
			if !there[id] {
				continue // its retention has dropped it
			}
			i, ok := at[id]
			if !ok {
				i = len(all)
				at[id] = i
				all = append(all, manifest.Binding{Agent: string(transcript.Pi), Session: session, Checkpoint: id})
			}
			all[i].Entries = append(all[i].Entries, entry)
		}
	}
	return all
}

// shortLines yields the lines of a session that are not too long. A line is valid until the next one.
func shortLines(r io.Reader) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		lines := bufio.NewReaderSize(r, maxPiLine)
		for long := false; ; {
			text, err := lines.ReadSlice('\n')
			rest := long
			long = errors.Is(err, bufio.ErrBufferFull)
			if !long && (!rest && !yield(text) || err != nil) {
				return
			}
		}
	}
}
