package gitrestore

import (
	"errors"
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
	named, err := p.fsck(false)
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
	return p.linesOfMissing(missing)
}

// linesOfMissing name objects that the repository lacks and that are held nowhere.
func (p *planner) linesOfMissing(missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	named, err := p.fsck(true)
	if err != nil {
		return err
	}
	for i, id := range missing {
		if i == maxNamed {
			p.line(Line{What: Objects, Change: Unable, Count: len(missing) - i, Note: "They are held nowhere, either."})
			break
		}
		p.line(Line{What: Objects, Change: Unable, Name: named[id], Count: 1, To: id, Note: "It is held nowhere."})
	}
	return nil
}

// fsck gives the ids of the objects that git misses, with its names for them if those are asked for. What only a missing one names is
// not among them.
func (p *planner) fsck(names bool) (map[string]string, error) {
	args := []string{"fsck", "--connectivity-only", "--no-dangling", "--no-progress"}
	if names {
		args = append(args, "--name-objects")
	}
	out, err := p.git(p.ctx, false, nil, args...)
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
