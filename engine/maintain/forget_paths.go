package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// forgetter takes paths out of trees, each place of a directory once.
type forgetter struct {
	*conversations
	seen     contentMark
	chosen   pathspec.Selection
	patterns []string
	done     map[forgetKey]*forgotten
	paths    map[string]bool
	names    map[string]bool // the last parts of paths, once asked for
	content  map[oid.ID]bool // ids of what was forgotten
	files    []manifest.Entry
	bytes    map[oid.ID]bool // those of them that are of files' bytes
	keys     map[string]bool // of the paths that were held, and of those that were only named
	coverage map[oid.ID]covered
	affected int // checkpoints that held or named something of it

	inCommits  []string // ids of git's objects that commits have at the chosen paths
	committed  []string // which of the paths these are
	unsearched string   // see Forgotten
	sought     gitstate.Sought
}

// look finds what checkpoints and operations hold of the chosen paths, before anything is
// rewritten: what no one holds is not forgotten, and what one holds all others say nothing of.
func (f *forgetter) look(ctx context.Context, log *LogState) error {
	var roots []oid.ID
	for _, c := range log.Checkpoints {
		roots = append(roots, c.Root)
	}
	newest, older := log.undoable(nil)
	for _, o := range newest {
		roots = append(roots, o.Before, o.After)
	}
	n := len(roots)
	for _, o := range older {
		roots = append(roots, o.Before, o.After)
	}
	for i, root := range roots {
		if root == (oid.ID{}) {
			continue
		}
		if _, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: root}); err != nil && (i < n || !project.IsDamage(err)) {
			return err
		}
	}
	for _, c := range log.Checkpoints {
		f.named(&c)
	}
	for _, t := range log.Touches {
		if !f.touch(&t) {
			continue
		}
		if !f.held(t.Path) {
			f.paths[t.Path] = true
		}
		if t.Entry != nil {
			if err := f.take(ctx, *t.Entry); err != nil && !project.IsDamage(err) {
				return err
			}
		}
	}
	if err := f.lookInCommits(ctx, log); err != nil {
		return err
	}
	if err := f.known(ctx, log, roots); err != nil {
		return err
	}
	before, err := f.forgottenBefore(log)
	if err != nil {
		return err
	}
	for _, pattern := range f.patterns { // of what was forgotten before, only the name is known
		for _, path := range pathspec.Leading(pattern) {
			if before[rules.ForgottenKey(f.p, path)] {
				f.seen.name(path)
			}
		}
	}
	f.keys = map[string]bool{}
	for path := range f.paths {
		f.keys[rules.ForgottenKey(f.p, path)] = true
		f.seen.name(path)
	}
	if len(f.paths) > 0 {
		for _, pattern := range f.patterns {
			f.keys[f.typedKey(pattern)] = true
		}
	}
	quiet := f.seen
	f.outside = &quiet
	return nil
}

// typedKey is the key by which a coverage knows that a pattern was forgotten. It has no escapes: once nothing is there, a
// name with brackets is taken for a glob.
func (f *forgetter) typedKey(pattern string) string {
	return rules.ForgottenKey(f.p, "typed\x00"+strings.TrimPrefix(strings.ReplaceAll(pattern, `\`, ""), "**/"))
}

// known refuses (*NotHeldError) patterns for which nothing was found, before anything is removed: of a mistyped path the
// content would stay. What an earlier forget took out is none; nor is what was typed for it: that one may not be finished. Nor,
// beside others, is what only pulled logs have: they are dropped.
func (f *forgetter) known(ctx context.Context, log *LogState, roots []oid.ID) error {
	paths := append(slices.Collect(maps.Keys(f.paths)), f.committed...)
	for _, n := range checkpoint.EveryPreimage(f.p, time.Time{}) {
		paths = append(paths, n.Path)
	}
	none, err := pathspec.Unmatched(f.patterns, paths)
	if err != nil || len(none) == 0 {
		return err
	}
	keys, err := f.forgottenBefore(log)
	if err != nil {
		return err
	}
	roots = slices.DeleteFunc(roots, func(id oid.ID) bool {
		d := f.done[forgetKey{"", id}]
		return id == (oid.ID{}) || d != nil && d.torn
	})
	var unknown []string
	for _, pattern := range none {
		if elsewhere, err := f.mayBeElsewhere(pattern); err != nil {
			return err
		} else if elsewhere || keys[f.typedKey(pattern)] || slices.ContainsFunc(pathspec.Leading(pattern), func(path string) bool { return f.paths[path] || keys[rules.ForgottenKey(f.p, path)] }) {
			continue
		}
		err := pathspec.MatchSome(f.p.LoadDir, []string{pattern}, roots...) // it may be below what another one takes
		switch _, no := errors.AsType[*project.NoPathError](err); {
		case no && len(none) < len(f.patterns):
			if there, err := pulledHave(ctx, f.p, pattern); err != nil {
				return err
			} else if there {
				continue
			}
			unknown = append(unknown, pattern)
		case no:
			unknown = append(unknown, pattern)
		case err != nil && !project.IsDamage(err):
			return err
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	path, _ := pathspec.PlainPath(unknown[0])
	return &NotHeldError{path, unknown}
}

// NotHeldError: no checkpoint has anything of a path that is to be forgotten.
type NotHeldError struct {
	Path     string   // the first one
	Patterns []string // all of them, as they were given
}

func (e *NotHeldError) Error() string { return fmt.Sprintf("no path %q in any checkpoint", e.Path) }

// forgottenBefore is what was forgotten before, as hashes.
func (f *forgetter) forgottenBefore(log *LogState) (map[string]bool, error) {
	keys, read := map[string]bool{}, map[oid.ID]bool{}
	for _, c := range log.Checkpoints {
		if read[c.Coverage] {
			continue
		}
		read[c.Coverage] = true
		data, err := f.p.ReadObject(c.Coverage)
		if err != nil && !project.IsLost(err) {
			return nil, err
		}
		maps.Copy(keys, rules.ForgottenIn(data))
	}
	newest, older := log.undoable(nil)
	for _, o := range slices.Concat(newest, older) {
		for _, key := range strings.Fields(o.Forgotten) {
			keys[key] = true
		}
	}
	return keys, nil
}

// held reports whether a path, or a directory above it, is one that was forgotten.
func (f *forgetter) held(path string) bool {
	for at := path; at != ""; at, _ = rootfs.Split(at) {
		if f.paths[at] {
			return true
		}
	}
	return false
}

// touch: one of a chosen path, or of what is below it, goes.
func (f *forgetter) touch(t *manifest.Touch) bool {
	for at := t.Path; at != ""; at, _ = rootfs.Split(at) {
		if f.chosen.Match(at) {
			return true
		}
	}
	return false
}

// wanted is the content of files: directories, and what is empty, are alike everywhere. What was forgotten before is known by its
// path alone.
func (f *forgetter) wanted(context.Context) (ids []oid.ID, says func(*cas.Store, manifest.Record) bool) {
	if len(f.paths) > 0 {
		return slices.Collect(maps.Keys(f.bytes)), nil
	}
	var in *cas.Store
	var last oid.ID
	return nil, func(s *cas.Store, r manifest.Record) bool {
		if r.Checkpoint == nil {
			return false
		}
		if s != in {
			in, last = s, oid.ID{}
		}
		load := func(id oid.ID) (manifest.Dir, error) {
			data, err := s.Get(nil, id)
			if err != nil {
				return manifest.Dir{}, err
			}
			return manifest.ParseDir(data)
		}
		err := manifest.Diff(load, last, r.Checkpoint.Root, func(c manifest.Change) error {
			if c.New != nil && f.chosen.Match(c.Path) {
				return fs.ErrExist
			}
			return nil
		})
		last = r.Checkpoint.Root
		return err != nil
	}
}

// marks: it takes no names away.
func (f *forgetter) marks() []manifest.Record { return nil }

// finish finds where forgotten content lives on.
func (f *forgetter) finish(ctx context.Context, log *LogState, result *Forgotten) error {
	tree, err := rootfs.Open(f.p.Root())
	if err != nil {
		return err
	}
	defer tree.Close()
	today := rules.Today(f.p, nil, tree) // no checkpoint has the directories of agents' sessions, which the rules leave out too
	for path := range f.paths {
		result.Paths = append(result.Paths, path)
		if f.comesAgain(path, today) {
			result.Present = append(result.Present, path)
		}
	}
	result.Checkpoints = f.affected // the others only say from now on that they know nothing of it
	slices.Sort(result.Paths)
	slices.Sort(result.Present)
	result.Mentions, result.Missed = f.seen.mentions, f.seen.missed
	if err := f.conversations.finish(result); err != nil {
		return err
	}
	if err := f.letGo(ctx, result); err != nil || len(f.content) == 0 {
		return err
	}
	count := map[string]int{}
	clean := map[oid.ID]bool{}
	for _, c := range log.Checkpoints {
		d := f.done[forgetKey{"", c.Root}]
		if err := f.find(ctx, "", d.entry.ID, clean, func(path string) { count[path]++ }); err != nil {
			return err
		}
	}
	for path, n := range count {
		result.LivesOn = append(result.LivesOn, LivesOn{path, n})
	}
	slices.SortFunc(result.LivesOn, func(a, b LivesOn) int { return slices.Compare([]byte(a.Path), []byte(b.Path)) })
	return nil
}

// comesAgain reports whether the next save captures a path: the working tree has it, and the rules of today do not leave it
// out. Where the file or the rules cannot be read, it may.
func (f *forgetter) comesAgain(path string, today *rules.Scopes) bool {
	info, err := os.Lstat(filepath.Join(f.p.Root(), filepath.FromSlash(path)))
	if err != nil {
		return !vfs.IsMissing(err)
	}
	if most := f.p.Settings().MaxFileSize; most > 0 && info.Mode().IsRegular() && info.Size() > most {
		return false
	}
	return today.Captures(path, info.IsDir()) || today.Failed != nil
}

// find calls found for what in a tree holds forgotten content. It notes directories without any in clean.
func (f *forgetter) find(ctx context.Context, path string, id oid.ID, clean map[oid.ID]bool, found func(string)) error {
	if clean[id] {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := f.tx.Load(id)
	if err != nil && !project.IsLost(err) {
		return err
	}
	any := false
	for _, e := range dir.Entries {
		below := rootfs.Join(path, e.Name)
		hit := e.Kind != manifest.Symlink && e.Kind != manifest.Subdir && e.Size > 0 && f.content[e.ID]
		switch {
		case e.Kind == manifest.Subdir:
			if err := f.find(ctx, below, e.ID, clean, found); err != nil {
				return err
			}
			any = any || !clean[e.ID]
		case e.Kind == manifest.Chunked && !hit && !clean[e.ID]:
			chunks, err := chunksOf(f.p, e.ID)
			if err != nil && !project.IsLost(err) {
				return err
			}
			hit = slices.ContainsFunc(chunks, func(id oid.ID) bool { return f.content[id] })
			clean[e.ID] = !hit
		}
		if hit {
			any = true
			found(below)
		}
	}
	clean[id] = !any
	return nil
}

// leftovers removes what hooks kept of the chosen paths, and what waiting notices say of them.
func (f *forgetter) leftovers(ctx context.Context, _ *Forgotten) error {
	if _, err := removeLeftovers(ctx, f.p, func(l Leftover) bool { return f.content[l.ID] }); err != nil {
		return err
	}
	errs := []error{rewritePending(ctx, f.p, f.window), notice.Forget(ctx, f.p, 0, func(_ uint64, path string) bool { return f.chosen.Match(path) }), f.conversations.leftovers(ctx)}
	for _, n := range checkpoint.EveryPreimage(f.p, time.Time{}) {
		if !f.chosen.Match(n.Path) {
			continue
		}
		if n.File != "" {
			errs = append(errs, account.RemoveIfThere(n.File))
		}
		errs = append(errs, account.RemoveIfThere(n.Note))
	}
	return errors.Join(errs...)
}
