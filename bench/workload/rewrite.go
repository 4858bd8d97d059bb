package workload

import (
	"os"
	"path/filepath"
)

// File is one file of a tree.
type File struct {
	Path string // relative to the root, with /
	Size int    // bytes
}

// Rewrite gives n files of a made tree other content, by version, spread over
// the whole tree, and says which they are. Version 0 is what Make wrote.
func Rewrite(root string, seed uint64, s Shape, n int, version uint64) ([]File, error) {
	var files []File
	for k := range min(n, s.Files) {
		i := k * s.Files / min(n, s.Files)
		r := derive(seed, uint64(i))
		size := s.size(r)
		content := r.next()
		if version > 0 {
			content ^= version * 0x9e3779b97f4a7c15
		}
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(s.Path(i))), Content(content, size), 0o644); err != nil {
			return nil, err
		}
		files = append(files, File{s.Path(i), size})
	}
	return files, nil
}

// Noise writes files of random bytes, 8 MiB each, of n bytes together.
func Noise(root string, seed uint64, n int64) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	const size = 8 << 20
	buf := make([]byte, size)
	for i := uint64(0); n > 0; i++ {
		r := derive(seed, 0x9015e, i)
		for at := 0; at < size; at += 8 {
			v := r.next()
			for k := range 8 {
				buf[at+k] = byte(v >> (8 * k))
			}
		}
		if err := os.WriteFile(filepath.Join(root, "noise"+string(appendHex(nil, i))+".bin"), buf[:min(n, size)], 0o644); err != nil {
			return err
		}
		n -= size
	}
	return nil
}
