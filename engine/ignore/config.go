package ignore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Config is what lies outside the tree. All paths use "/" and are relative to the project root.
type Config struct {
	Ignore         []string                 // config key "ignore": gitignore patterns, below the root
	ForceInclude   []string                 // config key "forceInclude"
	Exclude        []Source                 // outer files, weakest first: core.excludesFile, .git/info/exclude, rewind-checkpoint-ignore.json
	Precious       []string                 // config key "precious": which of the files that git ignores are marked
	NoIgnore       bool                     // capture everything but .git, the store and the agents' worktrees
	CaptureIgnored string                   // "none" (or ""), "precious", "small", "all": what becomes of files that git ignores
	StorePath      string                   // path of the store below the root, "" when it is elsewhere
	AccountPath    string                   // path of the account's directory ~/.rewind below the root, "" when it is elsewhere
	SessionPaths   []string                 // where agents keep their sessions below the root, and jj its git repository; with "*" at its end all that begin so
	Tracked        func(path string) bool   // does git track this path? nil: no git
	TrackedBelow   func(dir string) bool    // does git track a file below dir?
	TrackedHash    uint64                   // changes when the tracked set does
	Indexed        func(path string) []byte // a .gitignore that git's index holds and the tree does not, nil for none; TrackedHash covers it
	FoldCase       bool                     // core.ignoreCase: the case of letters does not count

	agentsOut bool // the agents' directories in the root are left out: the rules of older checkpoints
}

// Source is the text of a rule file and where it came from (for messages).
type Source struct {
	Name string
	Text []byte
	// Below is the path from the directory that the patterns are relative to
	// down to the project root: "" when that is the root itself, else ending
	// in "/". Every Below is a suffix of the longest one.
	Below string
	// Own marks rules written for rewind: captureIgnored, which is about what
	// git ignores, does not weaken them.
	Own bool
}

// Names of the rule files in a tree.
const (
	gitFile = ".gitignore"
	ownFile = ".rewindignore"
)

// MaxRuleFile is the size beyond which git, and so we, take a rule file for none, in bytes.
const MaxRuleFile = 100 << 20

// restoreTemp begins the names that package rootfs reserves for a restore's
// temporary and displaced files.
const restoreTemp = ".rewind-tmp-"

// olderTool is where a tool that people used before keeps copies of the whole tree.
const olderTool = ".claudepoint"

// RuleFile reports whether a file of this name changes the rules below it.
func RuleFile(name string) bool { return name == gitFile || name == ownFile }

// The store lies in storeName of the directory storeDir, if it lies in the project;
// agents' worktrees lie in worktreesName of a directory worktreesIn.
const (
	storeDir, storeName        = ".agent", "rewind"
	worktreesIn, worktreesName = ".claude/", "worktrees"
)

// neverSource are names whose content is made from other files; agentDirs were left
// out by programs that wrote version 1 of encoded rules.
var (
	neverSource = []string{"node_modules", ".venv", "__pycache__", ".cache", ".next", ".nuxt", "*.swp"}
	agentDirs   = []string{storeDir, ".claude", ".factory", ".pi"}
)

// ConfigError is a setting that means nothing.
type ConfigError struct{ Key, Value, Reason string }

func (e *ConfigError) Error() string { return fmt.Sprintf("%s %q %s", e.Key, e.Value, e.Reason) }

type captureIgnored uint8

const (
	captureNone captureIgnored = iota
	captureSmall
	captureAll
	capturePrecious
)

// captureWords are the values of captureIgnored, in the order of their numbers.
var captureWords = [...]string{"none", "small", "all", "precious"}

// Rules is a compiled Config. It is immutable and safe for concurrent use.
type Rules struct {
	config   Config
	capture  captureIgnored
	config0  *list        // config "ignore"
	force    *list        // config "forceInclude"
	precious func() *list // config "precious"; compiled when a directory is decided about
	marks    bool         // some files are marked
	outer    []outer      // strongest first
	never    *list
	below    string // the longest Source.Below
	hash     uint64
}

type outer struct {
	list *list
	from int // where its path begins in Scope.path
}

// Compile checks and compiles c, which must not change afterwards. Patterns
// never fail: as with git, one that makes no sense matches nothing. Errors: *ConfigError.
func Compile(c Config) (*Rules, error) {
	r := &Rules{config: c}
	word := slices.Index(captureWords[:], cmp.Or(c.CaptureIgnored, "none"))
	if word < 0 {
		return nil, &ConfigError{"captureIgnored", c.CaptureIgnored, "is not one of none, precious, small, all"}
	}
	r.capture = captureIgnored(word)
	for _, s := range c.Exclude {
		if len(s.Below) > len(r.below) {
			r.below = s.Below
		}
	}
	for i := len(c.Exclude) - 1; i >= 0; i-- {
		s := c.Exclude[i]
		if !strings.HasSuffix(r.below, s.Below) || s.Below != "" && !strings.HasSuffix(s.Below, "/") {
			return nil, &ConfigError{"exclude", s.Below, "does not lead to the root"}
		}
		if ps := parseText(s.Name, s.Text, c.FoldCase); len(ps) > 0 {
			r.outer = append(r.outer, outer{newList(ps, s.Own), len(r.below) - len(s.Below)})
		}
	}
	r.config0 = newList(parseList("config ignore", c.Ignore, c.FoldCase), true)
	r.force = newList(parseList("config forceInclude", c.ForceInclude, c.FoldCase), true)
	r.precious = sync.OnceValue(func() *list { return newList(parseList("config precious", c.Precious, c.FoldCase), true) })
	r.marks = len(c.Precious) > 0 && (r.capture != captureNone || c.NoIgnore)
	r.never = newList(parseList("never source", neverSource, false), true)
	d := xxhash.New()
	_, _ = d.Write(r.appendTo(nil, false)) // a Digest's Write never fails
	_, _ = d.Write(le64(c.TrackedHash))
	_, _ = d.Write(le64(decisions))
	r.hash = d.Sum64()
	return r, nil
}

// decisions counts the ways in which the same rules were decided by so far: what was decided in another way is
// decided again.
const decisions = 1

// Hash is equal when the same paths would be decided the same way, rule files inside the tree apart.
func (r *Rules) Hash() uint64 { return r.hash }

func (r *Rules) tracked(path string) bool {
	return r.config.Tracked != nil && r.config.Tracked(path)
}

func (r *Rules) trackedBelow(dir string) bool {
	return r.config.TrackedBelow != nil && r.config.TrackedBelow(dir)
}
