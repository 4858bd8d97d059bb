package gitrestore

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// ChangedSince names what of the repository is neither as the plan, which leads back, has it nor as meant has it: somebody has changed
// it since a restore between the two was killed. What is gone is not named, since it returns; a restore also adds references of its own.
func (p *Plan) ChangedSince(ctx context.Context, meant *Plan) (changed []string, err error) {
	if p.build {
		return nil, nil // there is nothing
	}
	was, err := readSide(p.savedRepo())
	if err != nil {
		return nil, err
	}
	then, err := readSide(meant.savedRepo())
	if err != nil {
		return nil, err
	}
	now, err := readSide(p.repo())
	if err != nil {
		return nil, err
	}
	for _, name := range sorted(now.refs) {
		is := now.refs[name]
		own := strings.Contains(name, "/"+meant.label+"/") && (strings.HasPrefix(name, "refs/heads/rewind") || strings.HasPrefix(name, "refs/rewind/"))
		if name != stashRef && validRef(name) && is != (gitrepo.Ref{}) && is != was.refs[name] && is != then.refs[name] && !own {
			changed = append(changed, name)
		}
	}
	if now.head != was.head && now.head != then.head {
		changed = append(changed, "HEAD")
	}
	added, err := p.stashedSince(was, then, now)
	if err != nil {
		return nil, err
	}
	if added {
		changed = append(changed, "the stash")
	}
	for _, name := range inProgress(p.target.GitDir) {
		if !slices.Contains(inProgress(was.repo.GitDir), name) && !slices.Contains(inProgress(then.repo.GitDir), name) {
			changed = append(changed, "a "+name+" in progress")
		}
	}
	staged, err := p.stagedSince(ctx, meant)
	if staged {
		changed = append(changed, "the index")
	}
	return changed, err
}

// stashedSince reports whether the stash has an entry now that neither side has.
func (p *Plan) stashedSince(was, then, now side) (bool, error) {
	known := map[string]bool{}
	for _, s := range []side{was, then} {
		list, err := stashOf(s, true)
		if err != nil {
			return false, err
		}
		for _, e := range list {
			known[e.id] = true
		}
	}
	is, err := stashOf(now, true)
	return slices.ContainsFunc(is, func(e logEntry) bool { return !known[e.id] }), err
}

// stagedSince reports whether the index is that of neither side.
func (p *Plan) stagedSince(ctx context.Context, meant *Plan) (bool, error) {
	now, err := p.lsFiles(ctx, "")
	if err != nil {
		return false, err
	}
	for _, side := range []*Plan{p, meant} {
		file := side.source.Indexes[side.target.worktree()]
		if file == "" && len(now) == 0 {
			return false, nil
		}
		if file == "" {
			continue
		}
		if list, err := side.lsFiles(ctx, file); err != nil || slices.Equal(list, now) {
			return false, err
		}
	}
	return true, nil
}
