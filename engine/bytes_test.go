//go:build unix

package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// holding lists the files below dirs that hold a text: in their bytes, or, of packs, in
// what a block decompresses to. Packs are read record by record, not by their index, and
// beyond the last commit: what a reader of the disk would find.
func holding(t testing.TB, text string, dirs ...string) []string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var found []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if bytes.Contains(data, []byte(text)) {
				found = append(found, file)
			} else if holdsFrame(d, data, text) {
				found = append(found, file+" (compressed)")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// holdsFrame tries each place of data that may be the start of a zstd frame, with the magic
// number or, as in deltas, without.
func holdsFrame(d *zstd.Decoder, data []byte, text string) bool {
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

// nowhere fails if a text is anywhere in the store, the mirror or the account's directory.
func (l *lab) nowhere(text, when string) {
	l.t.Helper()
	if found := holding(l.t, text, filepath.Join(l.root, ".agent"), filepath.Join(l.env.Home, ".rewind")); len(found) > 0 {
		l.t.Errorf("%s: the text is in %s", when, fmt.Sprint(found))
	}
}
