package settings

import (
	"slices"
	"strings"
)

// defaultTier holds where nothing names one.
const defaultTier = "balanced"

// Key describes one setting, for help, completion and validation.
type Key struct {
	Name    string
	Choices []string
	ByTier  bool // the tier gives the default
	Doc     string
	Unit    string // of a number that is no size, "" where the name says enough

	kind     kind
	max      int64 // for numbers
	fallback any   // nil: none
}

type kind uint8

const (
	kindFlag  kind = iota // bool
	kindWord              // one of Choices
	kindCount             // whole number, 0 to max
	kindSize              // bytes, or a string such as "10GiB"
	kindList              // of strings
)

const (
	keyTier = iota
	keyStorageMode
	keyAutoInit
	keyAntiSpam
	keyMinInterval
	keySignificance
	keyMinChangeSize
	keyCriticalFiles
	keyIgnore
	keyForceInclude
	keyCaptureIgnored
	keyPrecious
	keyRedact
	keyGreenCommands
	keyMaxFileSize
	keyMaxCheckpoints
	keyMaxAgeDays
	keyMaxSize
	keyThin
	keyAuto
	keyMinFreeDisk
	keyDurability
	keyGuard
	keySilentCheckpoints
	keyWarnUninitialised
	keyNotice
	keyWatch
	keyPushFlush
	keyPushLimit
	keyCount
)

const (
	gib        = int64(1) << 30
	maxNumber  = int64(1) << 53   // what every JSON reader keeps exactly
	maxSeconds = 366 * 24 * 3600  // a year; keeps durations far from overflow
	maxDays    = 36600            // a century
	maxFlush   = 7                // agents give up a hook after 10
	maxCount   = int64(1)<<31 - 1 // fits an int on every system
)

var keys = [keyCount]Key{
	keyTier:              {Name: "tier", kind: kindWord, Choices: []string{"minimal", "balanced", "aggressive"}, fallback: defaultTier, Doc: "how often hooks take checkpoints"},
	keyStorageMode:       {Name: "storage.mode", kind: kindWord, Choices: []string{"project", "global"}, fallback: "project", Doc: "where init makes the store"},
	keyAutoInit:          {Name: "autoInit", kind: kindFlag, fallback: false, Doc: "initialise a project when an agent's session starts in it"},
	keyAntiSpam:          {Name: "antiSpam.enabled", kind: kindFlag, ByTier: true, fallback: true, Doc: "skip checkpoints of tool calls in quick succession"},
	keyMinInterval:       {Name: "antiSpam.minIntervalSeconds", kind: kindCount, max: maxSeconds, ByTier: true, fallback: int64(30), Unit: "seconds", Doc: "minimum seconds between two of them"},
	keySignificance:      {Name: "significance.enabled", kind: kindFlag, ByTier: true, fallback: true, Doc: "skip checkpoints of small edits"},
	keyMinChangeSize:     {Name: "significance.minChangeSize", kind: kindCount, max: maxCount, ByTier: true, fallback: int64(50), Unit: "characters", Doc: "minimum size of an edit, in characters"},
	keyCriticalFiles:     {Name: "significance.criticalFiles", kind: kindList, ByTier: true, fallback: []string(nil), Doc: "files whose edits always count (globs)"},
	keyIgnore:            {Name: "ignore", kind: kindList, fallback: []string(nil), Doc: "paths not to capture (gitignore patterns)"},
	keyForceInclude:      {Name: "forceInclude", kind: kindList, fallback: []string(nil), Doc: "paths to capture even if ignored (gitignore patterns)"},
	keyCaptureIgnored:    {Name: "captureIgnored", kind: kindWord, Choices: []string{"none", "precious", "small", "all"}, fallback: "precious", Doc: "which ignored files to capture: none, precious (up to 10 MiB), small (up to 1 MiB, not in ignored directories) or all"},
	keyPrecious:          {Name: "precious", kind: kindList, fallback: preciousFiles, Doc: "precious files: captured even if git ignores them, left out of exports (gitignore patterns)"},
	keyRedact:            {Name: "redact", kind: kindList, fallback: []string(nil), Doc: "what ui --export-html leaves out of texts, besides tokens and keys of well-known forms (regular expressions, RE2)"},
	keyGreenCommands:     {Name: "green.commands", kind: kindList, fallback: testCommands, Doc: "test commands: a checkpoint after one that ended with 0 is @green (their words, each a glob; options between them do not count)"},
	keyMaxFileSize:       {Name: "maxFileSize", kind: kindSize, fallback: 4 * gib, Doc: "do not capture files larger than this; 0: no limit"},
	keyMaxCheckpoints:    {Name: "retention.maxCheckpoints", kind: kindCount, max: maxCount, fallback: nil, Doc: "keep at most this many checkpoints; 0: no limit"},
	keyMaxAgeDays:        {Name: "retention.maxAgeDays", kind: kindCount, max: maxDays, fallback: nil, Unit: "days", Doc: "keep checkpoints for this many days; 0: no limit"},
	keyMaxSize:           {Name: "retention.maxSize", kind: kindSize, fallback: 10 * gib, Doc: "remove the oldest checkpoints above this store size; 0: no limit"},
	keyThin:              {Name: "retention.thin", kind: kindFlag, fallback: false, Doc: "keep all of the last day, hourly ones for a week, then daily ones"},
	keyAuto:              {Name: "retention.auto", kind: kindFlag, fallback: true, Doc: "remove old checkpoints automatically from time to time"},
	keyMinFreeDisk:       {Name: "minFreeDisk", kind: kindSize, fallback: gib, Doc: "write nothing if less disk space than this is free"},
	keyDurability:        {Name: "durability", kind: kindWord, Choices: []string{"full", "fast"}, fallback: "full", Doc: "full, or fast: no fsync, so a power cut can lose the newest checkpoints"},
	keyGuard:             {Name: "guard", kind: kindFlag, fallback: true, Doc: "block tool calls that would damage the store"},
	keySilentCheckpoints: {Name: "silentCheckpoints", kind: kindFlag, fallback: false, Doc: "show nothing in the agent's window"},
	keyWarnUninitialised: {Name: "warnUninitialised", kind: kindWord, Choices: []string{"once", "session", "never"}, fallback: "once", Doc: "warn in uninitialised projects: once per directory, once per session, or never"},
	keyNotice:            {Name: "notice", kind: kindFlag, fallback: true, Doc: "tell agents once, at their next prompt, which files a restore, an undo or a revert changed"},
	keyWatch:             {Name: "watch", kind: kindFlag, fallback: false, Doc: "run rewind watch in the background while agents work, so that hooks in large projects look only at what changed (Linux)"},
	keyPushFlush:         {Name: "push.flush", kind: kindCount, max: maxFlush, fallback: nil, Unit: "seconds", Doc: "seconds that the end of an agent's turn waits for the push to remotes; 0: it does not; not set: 3 where no terminal or a cloud sandbox is seen, else 0"},
	keyPushLimit:         {Name: "push.limit", kind: kindSize, fallback: int64(0), Doc: "bytes a second that pushes, pulls and clones use at most; 0: no limit"},
}

// Keys describes all settings in the order of the documentation. The result is
// the caller's.
func Keys() []Key {
	return slices.Clone(keys[:])
}

// Default is the value that holds where neither a file nor the tier gives one,
// of the types of Value.Value.
func (k Key) Default() any { return k.fallback }

// IsSize reports whether the value is a number of bytes, which may be given with a unit.
func (k Key) IsSize() bool { return k.kind == kindSize }

// IsTier reports whether there is a tier of that name.
func IsTier(name string) bool {
	_, ok := keys[keyTier].word(name)
	return ok
}

func findKey(name string) int {
	return slices.IndexFunc(keys[:], func(k Key) bool { return k.Name == name })
}

// isSection reports whether keys named name+".…" exist.
func isSection(name string) bool {
	return slices.ContainsFunc(keys[:], func(k Key) bool { return strings.HasPrefix(k.Name, name+".") })
}

func keyNames() []string {
	names := make([]string, keyCount)
	for i := range keys {
		names[i] = keys[i].Name
	}
	return names
}
