// Package remains finds what a reader of the disk would find of a text, for tests of forget: in the bytes of
// files, and, of packs, in what a block decompresses to. It reads no index and no record, so that what is
// beyond the last commit, or belongs to nothing, is found too. It never writes.
package remains

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Find lists the files below dirs that hold a text. A file that goes away meanwhile holds nothing.
func Find(text string, dirs ...string) (found []string, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return gone(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return gone(err)
			}
			if bytes.Contains(data, []byte(text)) {
				found = append(found, file)
			} else if inFrame(data, text) {
				found = append(found, file+" (compressed)")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inFrame tries each place of data where a zstd frame may begin.
func inFrame(data []byte, text string) bool {
	magic := binary.LittleEndian.AppendUint32(nil, 0xFD2FB528)
	for i := 0; i+4 < len(data); i++ {
		if !bytes.HasPrefix(data[i:], magic) {
			continue
		}
		// The frame's end is not known: what comes out before the garbage counts.
		r, err := zstd.NewReader(bytes.NewReader(data[i:]), zstd.WithDecoderConcurrency(1))
		if err != nil {
			continue
		}
		var out bytes.Buffer
		_, _ = r.WriteTo(&out)
		r.Close()
		if strings.Contains(out.String(), text) {
			return true
		}
	}
	return false
}
