package settings

import (
	"slices"
	"time"
)

// Options say where to read. An empty path is not read.
type Options struct {
	AccountFile string              // ~/.rewind/config.json
	ProjectFile string              // config.json in the project's store
	TiersDir    string              // ~/.rewind/tiers
	Getenv      func(string) string // nil: no environment
}

// Settings are the effective values. A Settings is not changed after Load and
// may be shared.
type Settings struct {
	Tier              string // "minimal", "balanced", "aggressive"
	StorageMode       string // "project", "global"
	AutoInit          bool
	AntiSpam          AntiSpam
	Significance      Significance
	Moments           []string // when hooks take checkpoints, by tier: see Moment names below
	Ignore            []string // gitignore patterns
	ForceInclude      []string // gitignore patterns
	CaptureIgnored    string   // "none", "precious", "small", "all"
	Precious          []string // gitignore patterns
	Redact            []string // regular expressions, RE2; may be none
	GreenCommands     []string // see IsTest
	MaxFileSize       int64    // bytes; 0: no limit
	Retention         Retention
	MinFreeDisk       int64  // bytes; 0: no floor
	Durability        string // "full", "fast"
	Guard             bool
	SilentCheckpoints bool
	WarnUninitialised string // "once", "session", "never"
	Notice            bool   // agents get one notice of what was taken back
	Watch             bool   // hooks start a process that watches
	Push              Push

	values [keyCount]slot
}

// AntiSpam is the debounce of tool calls.
type AntiSpam struct {
	Enabled     bool
	MinInterval time.Duration
}

// Significance says which tool calls are worth a checkpoint.
type Significance struct {
	Enabled       bool
	MinChangeSize int      // characters
	CriticalFiles []string // globs with {a,b}, matched against a file's name, or its path where they hold a slash
}

// Retention says what gc may drop. Zero means no limit.
type Retention struct {
	MaxCheckpoints int
	MaxAge         time.Duration
	MaxSize        int64 // bytes
	Thin, Auto     bool
}

// Push is how remotes are pushed to.
type Push struct {
	Flush *time.Duration // that the end of a turn waits; nil: as long as the machine makes it wise
	Limit int64          // bytes a second; 0: no limit
}

// The moments at which a hook can take a checkpoint. The tier's file lists
// those that fire.
const (
	SessionStart = "session-start"
	Prompt       = "prompt"
	PreEdit      = "pre-edit"
	PreShell     = "pre-shell"
	PostShell    = "post-shell"
	Stop         = "stop"
	SubagentStop = "subagent-stop"
	SessionEnd   = "session-end"
)

// Source is the kind of place that a value comes from.
type Source string

const (
	FromDefault     Source = "default"
	FromTier        Source = "tier"
	FromAccount     Source = "account"     // Origin.Name: the file
	FromProject     Source = "project"     // Origin.Name: the file
	FromEnvironment Source = "environment" // Origin.Name: the variable
	FromStore       Source = "store"       // Origin.Name: its directory; Load knows of none
)

// Origin says where a value comes from. For FromTier, Name is the tier's file,
// or its name where the embedded parameters hold.
type Origin struct {
	Source Source
	Name   string
}

// Value is one key with its effective value: a string, bool, int64 (bytes,
// seconds, days, a count), []string, or nil for "none".
type Value struct {
	Key    string
	Value  any
	Origin Origin
}

type slot struct {
	value  any
	origin Origin
}

// Load reads the settings. It never fails; see Warning.
func Load(o Options) (*Settings, []Warning) {
	l := loader{getenv: o.Getenv}
	if l.getenv == nil {
		l.getenv = func(string) string { return "" }
	}
	s := &Settings{}
	for i := range keys {
		s.values[i] = slot{keys[i].fallback, Origin{Source: FromDefault}}
	}
	hand := [keyCount]slot{}
	l.file(o.AccountFile, FromAccount, &hand)
	l.file(o.ProjectFile, FromProject, &hand)
	l.environment(&hand)

	tier := defaultTier
	if v, ok := hand[keyTier].value.(string); ok {
		tier = v
	}
	s.Moments = l.tier(tier, o.TiersDir, &s.values)
	for i, h := range hand {
		if h.origin.Source != "" {
			s.values[i] = h
		}
	}
	s.fill()
	return s, l.warnings
}

// Values lists every key in the order of the documentation.
func (s *Settings) Values() []Value {
	out := make([]Value, 0, keyCount)
	for i := range keys {
		out = append(out, Value{keys[i].Name, s.values[i].value, s.values[i].origin})
	}
	return out
}

// Value returns one key's effective value; ok is false for an unknown key.
func (s *Settings) Value(key string) (v Value, ok bool) {
	i := findKey(key)
	if i < 0 {
		return Value{}, false
	}
	return Value{keys[i].Name, s.values[i].value, s.values[i].origin}, true
}

// ShadowsTier lists the values set by hand that hide what the tier would give.
// Unset on Origin.Name clears one.
func (s *Settings) ShadowsTier() []Value {
	var out []Value
	for i := range keys {
		if keys[i].ByTier && (s.values[i].origin.Source == FromAccount || s.values[i].origin.Source == FromProject) {
			out = append(out, Value{keys[i].Name, s.values[i].value, s.values[i].origin})
		}
	}
	return out
}

// FiresAt reports whether the tier takes checkpoints at this kind of event.
func (s *Settings) FiresAt(moment string) bool {
	return slices.Contains(s.Moments, moment)
}

func (s *Settings) fill() {
	at := func(i int) any { return s.values[i].value }
	str := func(i int) string { v, _ := at(i).(string); return v }
	flag := func(i int) bool { v, _ := at(i).(bool); return v }
	num := func(i int) int64 { v, _ := at(i).(int64); return v }
	list := func(i int) []string { v, _ := at(i).([]string); return v }
	s.Tier, s.StorageMode, s.AutoInit = str(keyTier), str(keyStorageMode), flag(keyAutoInit)
	s.AntiSpam = AntiSpam{flag(keyAntiSpam), time.Duration(num(keyMinInterval)) * time.Second}
	s.Significance = Significance{flag(keySignificance), int(num(keyMinChangeSize)), list(keyCriticalFiles)}
	s.Ignore, s.ForceInclude, s.CaptureIgnored = list(keyIgnore), list(keyForceInclude), str(keyCaptureIgnored)
	s.Precious, s.Redact, s.GreenCommands = list(keyPrecious), list(keyRedact), list(keyGreenCommands)
	s.MaxFileSize = num(keyMaxFileSize)
	s.Retention = Retention{int(num(keyMaxCheckpoints)), time.Duration(num(keyMaxAgeDays)) * 24 * time.Hour, num(keyMaxSize), flag(keyThin), flag(keyAuto)}
	s.MinFreeDisk, s.Durability = num(keyMinFreeDisk), str(keyDurability)
	s.Guard, s.SilentCheckpoints = flag(keyGuard), flag(keySilentCheckpoints)
	s.WarnUninitialised = str(keyWarnUninitialised)
	s.Notice, s.Watch = flag(keyNotice), flag(keyWatch)
	if at(keyPushFlush) != nil {
		s.Push.Flush = new(time.Duration(num(keyPushFlush)) * time.Second)
	}
	s.Push.Limit = num(keyPushLimit)
}
