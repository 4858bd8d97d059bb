package port

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Bounds of what an archive of the older program may hold: it is untrusted.
var (
	MaxArchiveEntries = 2_000_000
	MaxArchiveBytes   = int64(64 << 30) // unpacked
	maxArchiveDepth   = 512             // directories: a path of PATH_MAX bytes has fewer in practice
)

// olderSource has the older program's checkpoints, a directory each, the oldest first.
func olderSource(dir string) (from importSource, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return from, err
	}
	for _, d := range list {
		if !d.IsDir() {
			continue
		}
		it, err := olderItem(filepath.Join(dir, d.Name()), d.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist): // no checkpoint
		case err != nil:
			from.skipped = append(from.skipped, ImportSkip{d.Name(), problem.Text(err)})
		default:
			from.items = append(from.items, it)
		}
	}
	slices.SortStableFunc(from.items, func(a, b importItem) int { return a.record.Time.Compare(b.record.Time) })
	return from, nil
}

// olderItem reads what one is, and not its archive.
func olderItem(dir, name string) (it importItem, err error) {
	archive := filepath.Join(dir, "snapshot.tar.gz")
	info, err := os.Lstat(archive)
	if err != nil {
		return it, err
	}
	if !info.Mode().IsRegular() {
		return it, errors.New("its archive is no regular file")
	}
	data, err := vfs.ReadSmall(filepath.Join(dir, "metadata.json"), 1<<20, vfs.NoFollow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return it, err
	}
	var meta struct {
		Name, Timestamp, Description string
		SessionID                    *string `json:"sessionId"`
		HasTranscript                bool
		Transcript                   json.RawMessage
	}
	if err == nil {
		if err := json.Unmarshal(data, &meta); err != nil {
			return it, errors.New("its metadata.json is not valid JSON")
		}
	}
	at, ok := olderTime(meta.Timestamp, name)
	if !ok {
		at = info.ModTime()
	}
	if at, err = importTime(at); err != nil {
		return it, err
	}
	it = importItem{name: name, names: []string{name}, build: func(im *importing) (oid.ID, error) {
		f, _, err := vfs.OpenRegular(archive, 0)
		if err != nil {
			return oid.ID{}, skipf("%v", err)
		}
		defer f.Close()
		return im.archive(f)
	}}
	r := &it.record
	r.ID, r.Time, r.Description = importID("older:"+name+":"+oid.Sum(data).String()), at, strings.ToValidUTF8(meta.Description, "\uFFFD")
	if meta.SessionID != nil {
		r.Session = *meta.SessionID
	}
	var copied olderTranscript
	if json.Unmarshal(meta.Transcript, &copied) != nil {
		copied = olderTranscript{}
	}
	r.Agent = copied.Agent
	it.conversation = olderCopy(dir, meta.HasTranscript, r.Session, copied)
	return it, nil
}

// olderTime reads a time as Python's isoformat writes it, without a zone, or the name that is one: the
// clock of this machine.
func olderTime(stamp, name string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999", time.RFC3339Nano} {
		if t, err := time.ParseInLocation(layout, stamp, time.Local); err == nil {
			return t, true
		}
	}
	digits := strings.ReplaceAll(name, "_", "")
	if len(digits) >= 14 {
		if t, err := time.ParseInLocation("20060102150405", digits[:14], time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// tarNode is a name in an archive; one with kids is a directory.
type tarNode struct {
	e    manifest.Entry // of Kind 0: a directory that no entry tells of
	kids map[string]*tarNode
}

func newTarDir() *tarNode { return &tarNode{kids: map[string]*tarNode{}} }

// archive makes a tree of an untrusted tar.gz. Only names and bytes are believed; what
// leads out, or through a link, voids it.
func (im *importing) archive(f io.Reader) (oid.ID, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return oid.ID{}, skipf("its archive is damaged: %v", err)
	}
	top := newTarDir()
	t := tar.NewReader(z)
	left := MaxArchiveBytes
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return oid.ID{}, skipf("its archive is damaged: %v", err)
		}
		if err := im.ctx.Err(); err != nil {
			return oid.ID{}, err
		}
		if n >= MaxArchiveEntries {
			return oid.ID{}, skipf("its archive has more than %d entries", MaxArchiveEntries)
		}
		if left -= h.Size; h.Size < 0 || left < 0 {
			return oid.ID{}, skipf("its archive has more than %d bytes", MaxArchiveBytes)
		}
		if err := im.tarEntry(top, t, h); err != nil {
			return oid.ID{}, err
		}
	}
	e, err := im.tarDir(top, "")
	return e.ID, err
}

// tarEntry puts an entry of an archive into the tree.
func (im *importing) tarEntry(top *tarNode, t *tar.Reader, h *tar.Header) error {
	names, err := im.tarNames(h)
	if err != nil || names == nil {
		return err
	}
	at := top
	for _, name := range names[:len(names)-1] {
		kid := at.kids[name]
		if kid == nil {
			kid = newTarDir()
			at.kids[name] = kid
		}
		if kid.kids == nil {
			return skipf("its archive has %q below what is no directory", clipText(h.Name))
		}
		at = kid
	}
	name := names[len(names)-1]
	old := at.kids[name]
	if h.Typeflag == tar.TypeDir {
		if old == nil {
			old = newTarDir()
			at.kids[name] = old
		}
		if old.kids == nil {
			return skipf("its archive has %q as a directory and as something else", clipText(h.Name))
		}
		old.e = manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: uint32(h.Mode) & 0o777}
		return nil
	}
	e, err := im.tarFile(top, t, h, name)
	if err != nil || e.Kind == 0 {
		return err
	}
	if old != nil && old.kids != nil {
		return skipf("its archive has %q as a directory and as something else", clipText(h.Name))
	}
	at.kids[name] = &tarNode{e: e}
	return nil
}

// tarNames are the names that the path of an entry consists of; nil for one that is left out.
func (im *importing) tarNames(h *tar.Header) ([]string, error) {
	path := strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), "/")
	if path == "" || path == "." {
		return nil, nil
	}
	names := strings.Split(path, "/")
	outside := func(name string) bool { return name == "" || name == "." || name == ".." }
	if strings.HasPrefix(path, "/") || len(path) > 4096 || len(names) > maxArchiveDepth || strings.IndexByte(path, 0) >= 0 || slices.ContainsFunc(names, outside) {
		return nil, skipf("its archive has the path %q", clipText(h.Name))
	}
	if path == account.StoreName || strings.HasPrefix(path, account.StoreName+"/") {
		return nil, nil
	}
	for _, name := range names {
		if !im.takes(name) {
			return nil, nil
		}
	}
	return names, nil
}

// tarFile stores what is no directory; the zero Entry for what is left out.
func (im *importing) tarFile(top *tarNode, t *tar.Reader, h *tar.Header, name string) (e manifest.Entry, err error) {
	mode := uint32(h.Mode) & 0o777
	switch h.Typeflag {
	case tar.TypeReg:
		if h.Size > im.p.Settings().MaxFileSize {
			im.done.LeftOut++
			return e, nil
		}
		from := &archiveReader{r: t}
		kind, id, n, err := im.tx.Content(0, from, h.Size, oid.ID{})
		switch {
		case from.err != nil:
			return e, skipf("its archive is damaged: %v", from.err)
		case err != nil:
			return e, err
		case n != h.Size:
			return e, skipf("its archive is damaged: %q has %d bytes instead of %d", clipText(h.Name), n, h.Size)
		}
		return manifest.Entry{Name: name, Mode: mode, Kind: kind, ID: id, Size: uint64(n)}, nil
	case tar.TypeSymlink:
		if h.Linkname == "" || len(h.Linkname) > 4095 || strings.IndexByte(h.Linkname, 0) >= 0 {
			return e, skipf("its archive has a link without a target: %q", clipText(h.Name))
		}
		return manifest.Entry{Name: name, Kind: manifest.Symlink, Target: h.Linkname}, nil
	case tar.TypeLink: // tar writes the second name of a file so
		of := top.find(h.Linkname)
		if of == nil || of.kids != nil {
			return e, skipf("its archive has a hard link to %q, which is no file of it", clipText(h.Linkname))
		}
		e = of.e
		if e.Name = name; e.Kind != manifest.Symlink {
			e.Mode = mode
		}
		return e, nil
	}
	im.done.LeftOut++ // a device, a FIFO: no checkpoint holds one
	return e, nil
}

// archiveReader tells errors of the archive from those of the store.
type archiveReader struct {
	r   io.Reader
	err error
}

func (a *archiveReader) Read(b []byte) (int, error) {
	n, err := a.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}

func (n *tarNode) find(path string) *tarNode {
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "./"), "/") {
		if n = n.kids[name]; n == nil {
			return nil
		}
	}
	return n
}

func (im *importing) tarDir(n *tarNode, name string) (manifest.Entry, error) {
	var entries []manifest.Entry
	for kid, node := range n.kids {
		e := node.e
		if node.kids != nil {
			var err error
			if e, err = im.tarDir(node, kid); err != nil {
				return e, err
			}
		}
		entries = append(entries, e)
	}
	mode := uint32(0o755)
	if n.e.Kind != 0 {
		mode = n.e.Mode
	}
	return im.dir(name, mode, entries)
}

// clipText keeps a hostile text short.
func clipText(s string) string { return s[:min(len(s), 200)] }

// ImportSources are what a directory has to take over.
type ImportSources struct {
	Older string // with the older program's checkpoints, "" where there are none
	Count int    // of them
	Pi    string // the git repository with PiRef, "" where there is none
}

// FindImports looks into a directory: a project, or one with the older program's checkpoints.
func FindImports(dir string) (s ImportSources) {
	for _, sub := range []string{filepath.Join(dir, filepath.FromSlash(account.StoreName), project.OlderCheckpoints), filepath.Join(dir, project.OlderCheckpoints), dir} {
		list, _ := filepath.Glob(filepath.Join(pathspec.EscapeGlob(sub), "*", "snapshot.tar.gz"))
		if len(list) > 0 {
			s.Older, s.Count = sub, len(list)
			break
		}
	}
	if hasRef(dir, PiRef) {
		s.Pi = dir
	}
	return s
}

// hasRef reports whether the git repository that dir is the top of has a ref, as a file or packed.
func hasRef(dir, ref string) bool {
	git := filepath.Join(dir, ".git")
	if account.Exists(filepath.Join(git, filepath.FromSlash(ref))) {
		return true
	}
	data, err := vfs.ReadSmall(filepath.Join(git, "packed-refs"), 64<<20, vfs.NoFollow)
	return err == nil && strings.Contains(string(data), " "+ref+"\n")
}
