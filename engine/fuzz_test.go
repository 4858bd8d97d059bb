package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzKnown: a line of the registry that is taken is one that is written so.
func FuzzKnown(f *testing.F) {
	f.Add(strings.TrimSpace(knownStore{id: storeID{1}, dirID: dirID{2, 3, 4}, mode: ProjectMode, root: "/a path\nof any \xff", link: "/b c"}.line()))
	f.Add(strings.TrimSpace(knownStore{mode: GlobalMode, root: "/"}.line()))
	f.Fuzz(func(t *testing.T, line string) {
		if k, ok := parseKnown(line); ok {
			if again, ok := parseKnown(strings.TrimSpace(k.line())); !ok || again != k {
				t.Fatalf("%q is read as %+v, and that as %+v", line, k, again)
			}
		}
	})
}

// FuzzStoreFiles reads small files of a store, whatever they hold.
func FuzzStoreFiles(f *testing.F) {
	f.Add(newFormat(storeID{1}, storeID{2}, knownStore{root: "/a"}).bytes())
	f.Add(encodeProblems([]Problem{{"a\xff", "torn", true}, {Path: "b", Reason: "fifo"}}))
	f.Add([]byte(`{"error":{"time":"2026-01-01T00:00:00Z","reason":"x"},"ended":{}}`))
	store := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{formatName, hookStateName} {
			if err := os.WriteFile(filepath.Join(store, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := readFormat(store); err == nil {
			if err := os.WriteFile(filepath.Join(store, formatName), got.bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, err := readFormat(store); err != nil || again != got {
				t.Fatalf("%+v is written and read as %+v: %v", got, again, err)
			}
		}
		readHookState(store)
		if problems, err := decodeProblems(data); err == nil {
			text := encodeProblems(problems)
			again, err := decodeProblems(text)
			if err != nil || !bytes.Equal(encodeProblems(again), text) {
				t.Fatalf("%q is written as %q: %v", data, text, err)
			}
		}
	})
}
