package table

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReader: whatever was asked before, a reader answers as one that was asked nothing.
func TestReader(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	all := map[string]string{}
	w := Writer{Files: Disk{}, Dir: dir, NextID: 1}
	var files [][]File
	for n := range 3 {
		w.Version++
		w.Made = nil
		some := map[string]string{}
		for range []int{4000, 400, 30}[n] {
			key := fmt.Sprintf("%c%05d", 'a'+random.IntN(4), random.IntN(20_000))
			value := ""
			if random.IntN(10) > 0 {
				value = string(bytes.Repeat([]byte(key), random.IntN(20)))
			}
			some[key], all[key] = value, value
		}
		var p Pending
		for key, value := range some {
			p.Add([]byte(key), []byte(value))
		}
		w.Expect = 1 << 10 // several tables
		if err := p.Ascend(w.Add); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		files = append(files, w.Made)
	}
	if len(files[0]) < 3 {
		t.Fatalf("%d tables in the oldest run", len(files[0]))
	}
	rs, err := OpenRuns(dir, files)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	r := rs.NewReader()
	defer r.Close()
	at := 0
	for range 20_000 {
		switch random.IntN(3) {
		case 0:
			at = random.IntN(len(keys))
		default:
			at = max(0, min(len(keys)-1, at+random.IntN(12)-2))
		}
		first := keys[at]
		switch random.IntN(4) {
		case 0:
			got, err := r.Get([]byte(first))
			if err != nil || string(got) != all[first] {
				t.Fatalf("%s: %q, %v, not %q", first, got, err, all[first])
			}
			continue
		case 1:
			first += "-"
			if got, err := r.Get([]byte(first)); err != nil || got != nil {
				t.Fatalf("%s: %q, %v", first, got, err)
			}
		case 2:
			first = first[:len(first)-1]
		}
		i, _ := slices.BinarySearch(keys, first)
		most := random.IntN(40)
		stop := errors.New("enough")
		want := keys[i:min(i+most, len(keys))]
		end := "z"
		if random.IntN(2) == 0 && len(want) > 0 {
			end = want[len(want)/2]
			want = want[:len(want)/2]
		}
		err := r.Ascend([]byte(first), func(key []byte) bool { return string(key) < end }, func(key, value []byte) error {
			if most--; most < 0 {
				return stop
			}
			if len(want) == 0 || string(key) != want[0] || string(value) != all[want[0]] {
				t.Fatalf("from %s: %s = %q, not %v", first, key, value, want)
			}
			want = want[1:]
			return nil
		})
		if len(want) > 0 || err != nil && err != stop {
			t.Fatalf("from %s: %v; these are missing: %v", first, err, want)
		}
	}
}
