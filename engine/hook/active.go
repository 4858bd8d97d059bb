package hook

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// activeName is the directory below tmp/ with an empty file for each session: its time is that of the session's
// newest event.
const activeName = "active"

// activeTime is how long after its newest event a session counts as at work.
const activeTime = 10 * time.Minute

func (c *Call) activeDir() string {
	return filepath.Join(c.Project.StoreDir(), account.TmpName, activeName)
}

func (c *Call) activeFile() string {
	sum := oid.Sum([]byte(c.Event.By.Agent + "\x00" + c.Event.By.Session))
	return filepath.Join(c.activeDir(), hex.EncodeToString(sum[:16]))
}

// noteActive leaves the trace of the event. Without it others take the session for one that rests: their shell
// commands keep to the debounce.
func (c *Call) noteActive() {
	if c.Event.By.Session == "" || c.Project.ReadOnly != nil {
		return
	}
	file, now := c.activeFile(), c.Event.Time
	if c.Event.Kind == manifest.SessionEnd {
		_ = os.Remove(file)
		return
	}
	if os.Chtimes(file, now, now) == nil {
		return
	}
	if account.MakeDir(filepath.Dir(c.activeDir()), c.Project.Owner) == nil && account.MakeDir(c.activeDir(), c.Project.Owner) == nil &&
		account.WriteCache(file, nil, c.Project.Owner) == nil {
		_ = os.Chtimes(file, now, now)
	}
}

// othersActive reports whether another session was at work in the project within activeTime. Traces of those that
// rest are removed.
func (c *Call) othersActive() bool {
	entries, err := os.ReadDir(c.activeDir())
	if err != nil {
		return false
	}
	own, others := filepath.Base(c.activeFile()), false
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.Name() == own {
			continue
		}
		// A time in the future means that the clock was set back.
		if since := c.Event.Time.Sub(info.ModTime()); since < activeTime && since > -activeTime {
			others = true
		} else {
			_ = os.Remove(filepath.Join(c.activeDir(), e.Name()))
		}
	}
	return others
}
