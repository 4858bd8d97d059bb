package project

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzKnown: a line of the registry that is taken is one that is written so.
func FuzzKnown(f *testing.F) {
	f.Add(strings.TrimSpace(KnownStore{ID: StoreID{1}, DirID: DirID{2, 3, 4}, Mode: ProjectMode, Root: "/a path\nof any \xff", link: "/b c"}.Line()))
	f.Add(strings.TrimSpace(KnownStore{Mode: GlobalMode, Root: "/"}.Line()))
	f.Fuzz(func(t *testing.T, line string) {
		if k, ok := ParseKnown(line); ok {
			if again, ok := ParseKnown(strings.TrimSpace(k.Line())); !ok || again != k {
				t.Fatalf("%q is read as %+v, and that as %+v", line, k, again)
			}
		}
	})
}

// FuzzStoreFiles reads small files of a store, whatever they hold.
func FuzzStoreFiles(f *testing.F) {
	f.Add(newFormat(StoreID{1}, StoreID{2}, KnownStore{Root: "/a"}).bytes())
	f.Add(EncodeProblems([]Problem{{"a\xff", "torn", true}, {Path: "b", Reason: "fifo"}}))
	f.Add([]byte(`{"error":{"time":"2026-01-01T00:00:00Z","reason":"x"},"ended":{}}`))
	store := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{formatName, HookStateName} {
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
		ReadHookState(store)
		if problems, err := DecodeProblems(data); err == nil {
			text := EncodeProblems(problems)
			again, err := DecodeProblems(text)
			if err != nil || !bytes.Equal(EncodeProblems(again), text) {
				t.Fatalf("%q is written as %q: %v", data, text, err)
			}
		}
	})
}
