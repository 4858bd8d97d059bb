package page

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// storeStamp finds out by three stats whether a store can have changed: each page that watches asks it four times a
// second.
type storeStamp struct {
	mu      sync.Mutex
	files   []string // the format, the directory of packs and the newest pack of the log
	infos   []os.FileInfo
	checked time.Time // when the store was last really looked at
	settled bool      // then nothing of it was younger than stampFor
	log     string    // where its log was then
}

// stampFor is how long stats are trusted: two changes of a directory can have the same time. Where the last one is longer
// ago, the next one has another: then they are trusted for stampLong.
const (
	stampFor  = 2 * time.Second
	stampLong = 30 * time.Second
)

// still gives the log's place where nothing was touched since it was noted.
func (t *storeStamp) still(now time.Time) (log string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	trusted := stampFor
	if t.settled {
		trusted = stampLong
	}
	if len(t.infos) == 0 || now.Sub(t.checked) > trusted {
		return "", false
	}
	for i, was := range t.infos {
		is, err := os.Lstat(t.files[i])
		if err != nil || !os.SameFile(is, was) || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
			t.infos = nil
			return "", false
		}
	}
	return t.log, true
}

// see takes the stamps of a store, before it is looked at.
func (t *storeStamp) see(store string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	objects := filepath.Join(store, account.ObjectsName)
	t.settled = true
	t.files, t.infos, t.checked = []string{filepath.Join(store, account.FormatName), objects}, nil, now
	if packs, _ := filepath.Glob(filepath.Join(objects, "log-*.pack")); len(packs) > 0 {
		t.files = append(t.files, slices.Max(packs))
	}
	for _, file := range t.files {
		info, err := os.Lstat(file)
		if err != nil {
			t.infos = nil
			return
		}
		t.infos = append(t.infos, info)
		age := now.Sub(info.ModTime())
		t.settled = t.settled && age > stampFor
	}
}

// note keeps what the look found; "" for nothing.
func (t *storeStamp) note(log string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log = log; log == "" {
		t.infos = nil
	}
}
