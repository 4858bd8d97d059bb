package patch

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestLargeTextIsNoBinary: of a file that is too large for its lines, the head says whether it is a text. No more of it is
// read, and what git apply reads is still no patch of it.
func TestLargeTextIsNoBinary(t *testing.T) {
	head := map[string][]byte{"text": []byte(strings.Repeat("a line\n", 2000)), "picture": append([]byte{0x89, 'P'}, make([]byte, 9000)...), "small": []byte("small\n"), "small picture": {0, 1}}
	all := func(f *File) ([]byte, error) {
		if f.Size > MaxText {
			return nil, errors.New("all of " + f.Path + " is read")
		}
		return head[f.Path], nil
	}
	file := func(path string, size int64) *File { return &File{Path: path, Mode: Regular, Key: path, Size: size} }
	large, picture := file("text", MaxText+1), file("picture", MaxText+1)
	small, smallPicture := file("small", 6), file("small picture", 2)
	o := Options{Head: func(f *File) ([]byte, error) { return head[f.Path], nil }}
	for _, c := range []struct {
		name     string
		old, new *File
		large    bool
	}{
		{"a large text came", nil, large, true},
		{"a large text went", large, nil, true},
		{"a text became large", small, large, true},
		{"a large picture", nil, picture, false},
		{"a picture became a large text", smallPicture, large, false},
		{"a large text became a picture", large, picture, false},
	} {
		w, err := Write(Pair{Old: c.old, New: c.new}, all, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !w.Binary || w.Large != c.large {
			t.Errorf("%s: binary %v, large %v", c.name, w.Binary, w.Large)
		}
		if binary := strings.Contains(w.Text, "Binary files"); binary == c.large || !bytes.HasSuffix([]byte(w.Text), []byte(" differ\n")) {
			t.Errorf("%s: the patch is %q", c.name, w.Text)
		}
	}
}
