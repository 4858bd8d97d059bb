package gitrestore

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" // git's own names
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// damagedPack is a pack of which a new one has the objects that are whole.
type damagedPack struct {
	name    string
	lost    []string // ids of the others
	unknown bool     // which these are: nothing of it can be used
}

// salvaged is a directory, laid out as git's objects, for what is whole in damaged packs.
func (p *Plan) salvaged() string { return filepath.Join(p.source.Dir, "objects", "salvaged") }

// findDamaged makes the saved state a repository for git to ask, and reads all that is held; see setAside.
func (p *Plan) findDamaged(ctx context.Context) (packs []damagedPack, err error) {
	own := filepath.Join(p.source.Dir, "objects")
	for _, dir := range []string{own, filepath.Join(p.source.Dir, "refs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	list := func() (all []link, err error) {
		for _, dir := range p.sources() {
			links, err := everyObject(dir)
			if err != nil {
				return nil, err
			}
			all = append(all, links...)
		}
		return all, nil
	}
	all, err := list()
	if err != nil {
		return nil, err
	}
	if packs, err = p.setAside(ctx, all); err != nil || len(p.damaged) == 0 {
		return packs, err
	}
	if all, err = list(); err != nil {
		return nil, err
	}
	for _, l := range all { // git gives up at a damaged object
		if p.damaged[l.from] {
			continue
		}
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

// setAside reads files that are held. Those that are damaged are not used from now on; what is whole in a damaged pack is put into a new
// one. Errors: of the file system, *gitprogram.MissingError.
func (p *Plan) setAside(ctx context.Context, files []link) (packs []damagedPack, err error) {
	if p.damaged == nil {
		p.damaged = map[string]bool{}
	}
	badIndex := map[string]bool{} // of each damaged pack, by its path without a suffix
	for _, l := range files {
		ok, err := isWhole(ctx, l)
		switch {
		case err != nil:
			return nil, err
		case ok:
		case filepath.Dir(l.name) == "pack":
			suffix := filepath.Ext(l.from)
			base := strings.TrimSuffix(l.from, suffix)
			badIndex[base] = badIndex[base] || suffix == ".idx"
		default:
			p.damaged[l.from] = true
		}
	}
	for _, base := range sorted(badIndex) {
		for _, suffix := range packSuffixes {
			p.damaged[base+suffix] = true
		}
		pack, err := p.salvage(ctx, base, badIndex[base])
		if err != nil {
			return nil, err
		}
		packs = append(packs, pack)
	}
	return packs, nil
}

// salvage puts what is whole in a damaged pack into a new one.
func (p *Plan) salvage(ctx context.Context, base string, badIndex bool) (pack damagedPack, err error) {
	pack.name = filepath.Base(base)
	dir := filepath.Join(p.salvaged(), "pack")
	for _, d := range []string{dir, filepath.Join(p.source.Dir, "refs")} { // without which it is no repository to git
		if err := os.MkdirAll(d, 0o700); err != nil {
			return pack, err
		}
	}
	temp := filepath.Join(dir, "new.pack")
	kept := 1
	if badIndex { // the pack may be whole
		err = copyFile(base+".pack", temp, 0o600)
	} else {
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|vfs.NoWait, 0o600)
		if err != nil {
			return pack, err
		}
		pack.lost, kept, err = gitrepo.SalvagePack(base, (len(pack.name)-len("pack-"))/2, f)
		if err = errors.Join(err, f.Close()); errors.As(err, new(*gitrepo.FormatError)) {
			kept, pack.unknown, err = 0, true, nil
		}
		if err != nil {
			return pack, err
		}
	}
	if err != nil || kept == 0 {
		return pack, errors.Join(err, os.Remove(temp))
	}
	git := gitprogram.Repository{GitDir: p.source.Dir}
	sum, err := git.Output(ctx, nil, "index-pack", temp) // which reads all of it
	if errors.As(err, new(*gitprogram.FailedError)) {
		pack.unknown = true
		return pack, os.Remove(temp)
	}
	for _, suffix := range []string{".pack", ".idx"} {
		if err == nil {
			err = os.Rename(filepath.Join(dir, "new"+suffix), filepath.Join(dir, "pack-"+strings.TrimSpace(string(sum))+suffix))
		}
	}
	return pack, err
}

// ofDamaged gives a line for each damaged pack with objects that are held nowhere else.
func (p *Plan) ofDamaged(ctx context.Context, packs []damagedPack) (lines []Line, err error) {
	for _, pack := range packs {
		l := Line{What: Objects, Change: Unable, Name: pack.name, Note: "The pack is damaged, and so is its index."}
		held, err := p.kinds(ctx, true, pack.lost)
		if err != nil {
			return nil, err
		}
		for _, id := range pack.lost {
			if held[id] == "" {
				l.Count++
				l.To, l.Note = id, "The pack is damaged; its other objects return."
			}
		}
		if l.Count > 0 || pack.unknown {
			lines = append(lines, l)
		}
	}
	return lines, nil
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
