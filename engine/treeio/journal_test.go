//go:build linux || darwin

package treeio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

func sampleRecord() *record {
	file := manifest.Entry{Kind: manifest.File, Mode: 0o644, Size: 12, ID: oid.ID{1, 2, 3}}
	link := manifest.Entry{Kind: manifest.Symlink, Target: "to/\xff"}
	dir := manifest.Entry{Kind: manifest.Subdir, Mode: 0o755, Size: 5, Files: 2, ID: oid.ID{9}}
	info := rootfs.Info{Kind: rootfs.Regular, Mode: 0o644, Size: 12, Mtime: time.Now().UnixNano(), Dev: 7, Ino: 1 << 40}
	return &record{
		time: time.Now().UTC(), random: 0xfeed, note: []byte("note\x00"),
		changes: []Change{
			{Path: "a/\xff", Action: Replace, Before: file, After: link, info: info},
			{Path: "b", Action: Create, After: dir},
			{Path: "c", Action: Delete, Before: dir},
			{Path: "d", Action: Mode, Before: file, After: file, info: info},
		},
		writable: []modeOf{{"a", 0o555}},
	}
}

func TestJournalRoundTrip(t *testing.T) {
	for marks := range 5 {
		r := sampleRecord()
		r.sealed, r.written, r.committed = marks > 0, marks > 1, marks > 2
		if marks > 1 {
			r.later = []byte("later\x00")
		}
		if marks == 4 {
			r.changes[1].failed, r.changes[3].failed = true, true
		}
		data := r.marshal()
		got, err := parseJournal(data)
		must(t, err)
		if !bytes.Equal(got.marshal(), data) {
			t.Errorf("marks %d: what was read marshals to other bytes", marks)
		}
		if len(got.changes) != 4 || got.changes[0].Path != "a/\xff" || got.changes[0].After.Target != "to/\xff" || got.changes[3].failed != (marks == 4) || (got.later != nil) != (marks > 1) {
			t.Errorf("read %+v", got.changes)
		}
	}
}

// A journal that was cut anywhere is either not sealed, and then nothing was
// touched, or loses marks only. One with a flipped byte is cut there, too, or refused.
func TestJournalTornAndDamaged(t *testing.T) {
	r := sampleRecord()
	r.sealed = true
	sealed := len(r.marshal())
	r.written, r.committed = true, true
	data := r.marshal()
	for n := range data {
		got, err := parseJournal(data[:n])
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if got.sealed != (n >= sealed) {
			t.Errorf("cut at %d of %d: sealed %v", n, sealed, got.sealed)
		}
		flipped := slices.Clone(data)
		flipped[n] ^= 0x40
		got, err = parseJournal(flipped)
		var bad *JournalError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("flipped at %d: %v", n, err)
		}
		if err == nil && got.committed {
			t.Errorf("flipped at %d: taken as whole", n)
		}
	}
}

// A journal that names forbidden paths does not get anywhere.
func TestForgedJournal(t *testing.T) {
	for _, path := range []string{"../x", "/etc/passwd", ".git/config", "a/../../x", "", "a//b", "x\x00", rootfs.Reserved("1")} {
		r := sampleRecord()
		r.sealed = true
		r.changes[0].Path = path
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, journalName), r.marshal(), 0o600))
		var bad *JournalError
		if _, err := Open(dir); !errors.As(err, &bad) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// The fuzzer gives the frames' payloads, each behind its length in two bytes:
// it could not guess checksums.
func FuzzJournal(f *testing.F) {
	for marks := range 4 {
		r := sampleRecord()
		r.time = time.Unix(0, 1).UTC()
		r.sealed, r.written, r.committed = marks > 0, marks > 1, marks > 2
		var seed []byte
		for data := r.marshal(); len(data) > 0; {
			size, n := binary.Uvarint(data)
			seed = binary.BigEndian.AppendUint16(seed, uint16(size))
			seed = append(seed, data[n:n+int(size)]...)
			data = data[n+int(size)+8:]
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed []byte) {
		var data []byte
		for len(seed) >= 2 {
			size := min(int(binary.BigEndian.Uint16(seed)), len(seed)-2)
			data = appendFrame(data, seed[2:2+size])
			seed = seed[2+size:]
		}
		for _, data := range [][]byte{data, seed} {
			r, err := parseJournal(data)
			if err != nil {
				continue
			}
			if got := r.marshal(); r.sealed && !bytes.Equal(got, data[:r.size]) {
				t.Errorf("%x parses and marshals to %x", data[:r.size], got)
			}
		}
	})
}
