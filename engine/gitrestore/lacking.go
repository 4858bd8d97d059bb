package gitrestore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitprogram"
)

// planLacking finds what the repository lacks of the objects that its own references, HEADs, reflogs and indexes reach, and plans to
// bring back what is held of it. Git walks the history once for that: in the mode Missing only where something is held that git does
// not have.
func (p *planner) planLacking() error {
	if p.partial || p.source.Unchecked || p.Mode == Back || p.Mode == Missing && !p.holdsMore() {
		return nil
	}
	named, err := missingIn(p.ctx, p.repository(false))
	if err != nil || len(named) == 0 {
		return err
	}
	needed, err := p.reached(p.ctx, sorted(named), nil, true) // what lies below those git has not looked for
	if errors.As(err, new(*gitprogram.FailedError)) {         // more is held nowhere
		needed, err = map[string]bool{}, nil
	}
	if err != nil {
		return err
	}
	for id := range named {
		needed[id] = true
	}
	here, err := p.kinds(p.ctx, false, sorted(needed))
	if err != nil {
		return err
	}
	lacking := slices.DeleteFunc(sorted(needed), func(id string) bool { return here[id] != "" || emptyTree[id] })
	links, missing, err := p.findWhole(lacking)
	if err != nil {
		return err
	}
	if n := len(lacking) - len(missing); n > 0 {
		p.links = append(p.links, links...)
		p.line(Line{What: Objects, Change: Returns, Count: n, Note: "What git has needs them, and git lacked them."})
	}
	return p.linesOfMissing(missing, p.repository(false))
}

// linesOfMissing name objects that are held nowhere, as the repository does that needs them, unless a line does already.
func (p *planner) linesOfMissing(missing []string, of gitprogram.Repository) error {
	missing = slices.DeleteFunc(missing, func(id string) bool {
		return slices.ContainsFunc(p.Lines, func(l Line) bool { return l.What == Objects && l.To == id })
	})
	if len(missing) == 0 || p.source.Unchecked {
		return nil
	}
	names, err := namesIn(p.ctx, of)
	if err != nil {
		return err
	}
	named := map[string]string{}
	for _, id := range missing {
		named[id] = cmp.Or(names[id], p.staged[id])
	}
	lines := linesOf(named)
	for i, l := range lines {
		if l.To != "" && l.Name == "" && len(p.damaged) > 0 { // git does not miss it
			lines[i].Note = "What is held of it is damaged."
		}
	}
	p.Lines = append(p.Lines, lines...)
	return nil
}

// linesOf are lines about objects that are held nowhere, by ids, with git's names.
func linesOf(named map[string]string) (lines []Line) {
	for id, name := range named {
		lines = append(lines, Line{What: Objects, Change: Unable, Name: name, Count: 1, To: id, Note: "It is held nowhere."})
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.To, b.To)) })
	if more := len(lines) - maxNamed; more > 0 {
		lines = append(lines[:maxNamed], Line{What: Objects, Change: Unable, Count: more, Note: "They are held nowhere, either."})
	}
	return lines
}

// savedRepository is the saved state as a repository that has all objects that there are.
func (p *Plan) savedRepository() gitprogram.Repository {
	r := p.repository(true)
	if !p.build {
		r.GitDir, r.Objects = p.source.Dir, append(p.sources(), filepath.Join(p.target.CommonDir, "objects"))
		for _, dir := range []string{"objects", "refs"} { // without which it is no repository to git
			_ = os.MkdirAll(filepath.Join(r.GitDir, dir), 0o700) // git says so
		}
	}
	r.Index = p.source.Indexes[p.target.worktree()]
	return r
}

// namesIn gives git's names for the objects that a repository misses.
func namesIn(ctx context.Context, r gitprogram.Repository) (map[string]string, error) {
	names := map[string]string{}
	for _, from := range []string{"--reflogs", "--no-reflogs"} { // a name by a reference says more
		found, err := missingIn(ctx, r, "--name-objects", from)
		if err != nil {
			return nil, err
		}
		maps.Copy(names, found)
	}
	return names, nil
}

// missingIn gives the ids of the objects that a repository misses, with git's names for them if the options ask for those. What only a
// missing one names is not among them.
func missingIn(ctx context.Context, r gitprogram.Repository, options ...string) (map[string]string, error) {
	out, err := r.Output(ctx, nil, append([]string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}, options...)...)
	if err != nil && !errors.As(err, new(*gitprogram.FailedError)) { // it fails where objects are missing
		return nil, err
	}
	named := map[string]string{}
	for line := range strings.Lines(string(out)) { // missing blob <id> (refs/heads/main~2:a.txt)
		what, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " (")
		if words := strings.Fields(what); len(words) == 3 && words[0] == "missing" && !emptyTree[words[2]] && !emptyBlob[words[2]] {
			named[words[2]] = strings.TrimSuffix(name, ")")
		}
	}
	return named, nil
}

// holdsMore reports whether an object is held that the repository does not have, or not in a pack of the same name: most often, what
// git has pruned.
func (p *planner) holdsMore() bool {
	here := filepath.Join(p.target.CommonDir, "objects")
	var ids []string
	for _, dir := range p.source.Objects {
		held, _ := everyObject(dir) // what cannot be read cannot return
		for _, l := range held {
			_, err := os.Lstat(filepath.Join(here, l.name))
			switch sub, name := filepath.Split(l.name); {
			case err == nil:
			case filepath.Clean(sub) == "pack":
				return true
			default:
				ids = append(ids, filepath.Clean(sub)+name)
			}
		}
	}
	_, missing := find([]string{here}, ids, nil)
	return len(missing) > 0
}
