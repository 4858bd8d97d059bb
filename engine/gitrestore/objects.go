package gitrestore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// link is a file with one object or a pack, and its name below the repository's directory of objects.
type link struct{ from, name string }

// packSuffixes are the files of a pack, in the order in which they come: git sees a pack when its index is there.
var packSuffixes = []string{".pack", ".promisor", ".idx"}

// emptyTree are the trees without an entry, which git has at hand, and which git fsck misses where they are no objects.
var emptyTree = map[string]bool{
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904": true, "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321": true,
}

// planObjects finds what the repository lacks of all that the plan names, and names what is held nowhere. again says that references
// and lines of reflogs cannot return for that: they are in p.absent now.
func (p *planner) planObjects() (again bool, err error) {
	if len(p.wanted)+len(p.inLogs)+len(p.staged) == 0 {
		return false, nil
	}
	links, missing, err := p.lackingFor(slices.Concat(p.wanted, p.inLogs))
	if err != nil {
		return false, err
	}
	p.links = links
	if len(missing) == 0 || p.partial {
		return false, nil
	}
	if again, err = p.leaveOut(missing); err != nil || again {
		return again, err
	}
	return false, p.linesOfMissing(missing, p.savedRepository())
}

// lackingFor finds what the repository lacks of all that tips reach and that the saved index names, and what of it is held nowhere.
func (p *planner) lackingFor(tips []string) (links []link, missing []string, err error) {
	elsewhere, _ := p.heads()
	needed, err := p.reached(p.ctx, tips, p.have(elsewhere), true)
	if errors.As(err, new(*gitprogram.FailedError)) { // a commit is held nowhere, and what is beyond it is not known
		return p.allHeld()
	}
	if err != nil {
		return nil, nil, err
	}
	for id := range p.staged {
		needed[id] = true
	}
	here, err := p.kinds(p.ctx, false, sorted(needed))
	if err != nil {
		return nil, nil, err
	}
	lacking := slices.DeleteFunc(sorted(needed), func(id string) bool { return here[id] != "" && !emptyTree[id] })
	links, missing, err = p.findWhole(lacking)
	return links, slices.DeleteFunc(missing, func(id string) bool { return emptyTree[id] }), err
}

// allHeld is all that is held and that the repository lacks, and what the saved state needs beside that.
func (p *planner) allHeld() (links []link, missing []string, err error) {
	for _, dir := range p.source.Objects {
		held, err := everyObject(dir)
		if err != nil {
			return nil, nil, err
		}
		links = append(links, held...)
	}
	if !p.source.Unchecked {
		if _, err := p.setAside(p.ctx, links); err != nil {
			return nil, nil, err
		}
		whole, err := everyObject(p.salvaged())
		if err != nil {
			return nil, nil, err
		}
		links = append(links, whole...)
	}
	named, err := missingIn(p.ctx, p.savedRepository())
	if err != nil {
		return nil, nil, err
	}
	here := filepath.Join(p.target.CommonDir, "objects")
	links = slices.DeleteFunc(links, func(l link) bool {
		_, err := os.Lstat(filepath.Join(here, l.name))
		return err == nil || p.damaged[l.from]
	})
	return links, sorted(named), nil
}

// leaveOut adds to p.absent what is missing itself, and what lines of reflogs alone name where the commits that they lead to are not whole:
// git's gc would fail for as long as such a line is there. It reports whether something has been added.
func (p *planner) leaveOut(missing []string) (added bool, err error) {
	var out []string
	for _, id := range missing {
		if slices.Contains(p.wanted, id) || slices.Contains(p.inLogs, id) {
			out = append(out, id)
		}
	}
	if len(p.inLogs) > 0 {
		_, without, err := p.lackingFor(p.wanted)
		if err != nil {
			return false, err
		}
		if len(without) < len(missing) {
			elsewhere, _ := p.heads()
			reached, err := p.reached(p.ctx, p.inLogs, append(p.have(elsewhere), p.wanted...), false)
			if err != nil {
				return false, err
			}
			out = append(out, sorted(reached)...)
		}
	}
	if p.absent == nil {
		p.absent = map[string]bool{}
	}
	for _, id := range out {
		added = added || !p.absent[id] && (slices.Contains(p.wanted, id) || slices.Contains(p.inLogs, id))
		p.absent[id] = true
	}
	return added, nil
}

// findWhole is find without what is damaged.
func (p *planner) findWhole(ids []string) (links []link, missing []string, err error) {
	dirs := append(slices.Clone(p.source.Objects), p.salvaged())
	for known := -1; err == nil && known < len(p.damaged); {
		known = len(p.damaged)
		if links, missing = find(dirs, ids, p.damaged); p.source.Unchecked {
			break
		}
		_, err = p.setAside(p.ctx, links)
	}
	return links, missing, err
}

// find finds objects in directories laid out as git's: as files of their own, and, where there is none, in packs, the smallest
// pack first, since it may have to be copied. Files of without do not count.
func find(dirs, ids []string, without map[string]bool) (links []link, missing []string) {
	for _, id := range ids {
		name := filepath.Join(id[:2], id[2:])
		at := slices.IndexFunc(dirs, func(dir string) bool {
			file := filepath.Join(dir, name)
			info, err := os.Lstat(file)
			return err == nil && info.Mode().IsRegular() && info.Size() > 0 && !without[file]
		})
		if at >= 0 {
			links = append(links, link{filepath.Join(dirs[at], name), name})
		} else {
			missing = append(missing, id)
		}
	}
	for _, pack := range packsIn(dirs) {
		if len(missing) == 0 {
			break
		}
		if without[pack+".pack"] {
			continue
		}
		has, err := gitrepo.PackIDs(pack+".idx", len(missing[0])/2)
		if err != nil {
			continue // another one may have what is missing
		}
		before := len(missing)
		missing = slices.DeleteFunc(missing, func(id string) bool { return contains(has, id) })
		if len(missing) == before {
			continue
		}
		links = append(links, packLinks(pack)...)
	}
	return links, missing
}

// packLinks are the files of a pack, whose path is given without a suffix.
func packLinks(pack string) (links []link) {
	for _, suffix := range packSuffixes {
		if _, err := os.Lstat(pack + suffix); err == nil {
			links = append(links, link{pack + suffix, filepath.Join("pack", filepath.Base(pack)+suffix)})
		}
	}
	return links
}

// packsIn are the packs with an index, by size.
func packsIn(dirs []string) (packs []string) {
	size := map[string]int64{}
	for _, dir := range dirs {
		files, _ := os.ReadDir(filepath.Join(dir, "pack")) // there may be none
		for _, f := range files {
			base, ok := strings.CutSuffix(f.Name(), ".idx")
			pack := filepath.Join(dir, "pack", base)
			if info, err := os.Lstat(pack + ".pack"); ok && err == nil && info.Mode().IsRegular() {
				packs, size[pack] = append(packs, pack), info.Size()
			}
		}
	}
	slices.SortStableFunc(packs, func(a, b string) int { return int(min(1, max(-1, size[a]-size[b]))) })
	return packs
}

// contains looks an id up in ids of its length, ascending and one after the other.
func contains(ids []byte, id string) bool {
	want, err := hex.DecodeString(id)
	if err != nil {
		return false
	}
	n := len(want)
	at := sort.Search(len(ids)/n, func(i int) bool { return bytes.Compare(ids[i*n:i*n+n], want) >= 0 })
	return at < len(ids)/n && bytes.Equal(ids[at*n:at*n+n], want)
}

// addObjects gives each file its name below a directory of objects, as a second name or as a copy. What is there stays. Then
// it makes them durable.
func addObjects(ctx context.Context, objects string, links []link) (added int, err error) {
	var made []string
	now := time.Now()
	for _, l := range links {
		if err := ctx.Err(); err != nil {
			return added, err
		}
		to := filepath.Join(objects, l.name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		err := linkOrCopy(l.from, to)
		if vfs.IsMissing(err) {
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return added, err
			}
			err = linkOrCopy(l.from, to)
		}
		if err != nil {
			return added, err
		}
		_ = os.Chtimes(to, now, now) // so that no gc takes it for old before a reference names it
		made = append(made, to)
		if !strings.HasSuffix(to, ".idx") && !strings.HasSuffix(to, ".promisor") {
			added++
		}
	}
	return added, syncAll(objects, made)
}

func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return err
	}
	return copyFile(from, to, 0o444)
}

// copyFile copies a regular file to a name; it is not durable before syncAll. The temporary file has a name that git prune
// removes where a crash leaves it.
func copyFile(from, to string, mode fs.FileMode) error {
	f, _, err := vfs.OpenRegular(from, vfs.NoFollow)
	if err != nil {
		return err
	}
	defer f.Close() // read only: nothing can be lost
	temp := filepath.Join(filepath.Dir(to), "tmp_obj_"+strconv.FormatUint(rand.Uint64(), 36))
	return vfs.Replace(vfs.OS, to, vfs.Replacement{Temp: temp, Mode: mode, KeepDir: true, NoSync: true}, func(w vfs.File) error {
		_, err := io.Copy(w, f)
		return err
	})
}
