package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What is served is what the sources make.
func TestDistIsFresh(t *testing.T) {
	files, err := Bundle("../page")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := unpacked("../dist/" + name + ".gz")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("dist/%s.gz is not of today (%v): go generate ./cli/web", name, err)
		}
	}
	entries, err := os.ReadDir("../dist")
	if err != nil || len(entries) != len(files) {
		t.Errorf("dist has %d files, not %d (%v)", len(entries), len(files), err)
	}
}

func unpacked(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// What a browser loads is less than 100 kB as it is sent.
func TestDistIsSmall(t *testing.T) {
	files, err := Bundle("../page")
	if err != nil {
		t.Fatal(err)
	}
	delete(files, "whole.js") // is in files that are shared
	var sent bytes.Buffer
	for _, data := range files {
		z := gzip.NewWriter(&sent)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if sent.Len() < 50_000 || sent.Len() > 100_000 {
		t.Errorf("%d bytes", sent.Len())
	}
}

// The libraries are those that were looked at, byte for byte.
func TestVendored(t *testing.T) {
	sums, err := os.ReadFile("../page/vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	root := os.DirFS("../page/vendor")
	err = fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".js") {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != want[name] {
			t.Errorf("%s: %s, not %s", name, got, want[name])
		}
		delete(want, name)
		return err
	})
	if err != nil || len(want) > 0 {
		t.Error(err, want)
	}
}

// What rest.js finds in app.js is there: a name that is missing would keep a browser from running it at all.
func TestAppExportsWhatRestTakes(t *testing.T) {
	files, err := Bundle("../page")
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, list := range regexp.MustCompile(`export\{([^}]*)\}`).FindAllSubmatch(files["app.js"], -1) {
		for name := range strings.SplitSeq(string(list[1]), ",") {
			exported[name[strings.LastIndexByte(name, ' ')+1:]] = true // local as name
		}
	}
	taken := regexp.MustCompile(`import\{([^}]*)\}from"/app\.js"`).FindAllSubmatch(files["rest.js"], -1)
	if len(taken) == 0 {
		t.Error("rest.js takes nothing from app.js")
	}
	for _, list := range taken {
		for name := range strings.SplitSeq(string(list[1]), ",") {
			if name, _, _ = strings.Cut(name, " "); !exported[name] {
				t.Errorf("app.js does not export %s", name)
			}
		}
	}
}
