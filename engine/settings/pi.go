package settings

import (
	"encoding/json"
	"io"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Pi is what a user of pi has set in pi's own settings.json under "rewind": the words are those of the
// extension whose behaviour ours follows.
type Pi struct {
	Silent    bool         // no footer, no notices but of failures
	Retention *PiRetention // nil: nothing expires
}

// PiRetention says which checkpoints of pi's sessions go. Nil means no limit.
type PiRetention struct {
	MaxSnapshots  *int           // different trees that nothing holds
	MaxAge        *time.Duration // since the newest checkpoint
	PinLabeled    bool           // entries with a label hold theirs
	AncestorsOnly bool           // of other sessions only the newest states count as in use
	StartupBudget *time.Duration // a sweep at a session's start that takes longer ends without having dropped anything
}

// piDir is where pi keeps its settings, extensions and sessions, "" without a home.
func piDir(home string, getenv func(string) string) string {
	if getenv != nil {
		if dir := getenv("PI_CODING_AGENT_DIR"); filepath.IsAbs(dir) {
			return dir
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".pi", "agent")
}

// maxPiSettings bounds what is read of pi's settings, in bytes.
const maxPiSettings = 4 << 20

// LoadPi reads pi's settings. What is missing, broken or of another type counts as not set: a limit
// that cannot be read deletes nothing.
func LoadPi(home string, getenv func(string) string) Pi {
	file := filepath.Join(piDir(home, getenv), "settings.json")
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return Pi{}
	}
	defer f.Close()
	if info.Size() > maxPiSettings {
		return Pi{}
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return Pi{}
	}
	var all struct {
		Rewind struct {
			Silent    json.RawMessage            `json:"silentCheckpoints"`
			Retention map[string]json.RawMessage `json:"retention"`
		} `json:"rewind"`
	}
	if json.Unmarshal(data, &all) != nil {
		return Pi{}
	}
	p := Pi{Silent: piFlag(all.Rewind.Silent)}
	set := all.Rewind.Retention
	if set == nil {
		return p
	}
	p.Retention = &PiRetention{PinLabeled: piFlag(set["pinLabeledEntries"])}
	if n, ok := piNumber(set["maxSnapshots"]); ok {
		count := int(n)
		p.Retention.MaxSnapshots = &count
	}
	p.Retention.MaxAge = piSpan(set["maxAgeDays"], 24*time.Hour)
	p.Retention.StartupBudget = piSpan(set["startupBudgetMs"], time.Millisecond)
	var mode string
	_ = json.Unmarshal(set["scanMode"], &mode) // another type is the default
	p.Retention.AncestorsOnly = mode != "repo-sessions"
	return p
}

func piFlag(raw json.RawMessage) (set bool) {
	return json.Unmarshal(raw, &set) == nil && set
}

// piNumber reads a number that is a limit: not negative, and not beyond what counts can be.
func piNumber(raw json.RawMessage) (n float64, ok bool) {
	if raw == nil || json.Unmarshal(raw, &n) != nil || string(raw) == "null" {
		return 0, false
	}
	return min(n, 1<<30), n >= 0
}

func piSpan(raw json.RawMessage, unit time.Duration) *time.Duration {
	n, ok := piNumber(raw)
	if !ok {
		return nil
	}
	span := time.Duration(min(n*float64(unit), float64(1<<62)))
	return &span
}
