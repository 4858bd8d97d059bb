// Package ignore decides which paths a checkpoint holds: gitignore rules as
// git applies them, rewind's own rule files, and the configured patterns.
//
// Decisions are made on the way down: Rules.Root gives the Scope of the
// project root, Scope.Child that of a directory in it. A Scope is immutable
// and safe for concurrent use.
package ignore

// Config is what lies outside the tree.
type Config struct {
	Ignore         []string               // config key "ignore": gitignore patterns, below the root
	ForceInclude   []string               // config key "forceInclude"
	Exclude        []Source               // outer files, weakest first: core.excludesFile, .git/info/exclude, rewind-checkpoint-ignore.json
	NoIgnore       bool                   // capture everything but .git, the store and never-source directories of NoIgnore's kind
	CaptureIgnored string                 // none, small, all
	StorePath      string                 // path of the store below the root, "" when it is elsewhere
	Tracked        func(path string) bool // does git track this file? nil: no git
	TrackedBelow   func(dir string) bool  // does git track a file below dir?
	TrackedHash    uint64                 // changes when the tracked set does
}

// Source is the text of a rule file and where it came from (for messages).
type Source struct {
	Name string
	Text []byte
}

// Rules is a compiled Config.
type Rules struct{ _ int }

func Compile(c Config) (*Rules, error) { panic("stub") }

// Hash is equal when the same paths would be decided the same way, rule files inside the tree apart.
func (r *Rules) Hash() uint64 { panic("stub") }

// Encode and Decode keep the rules of a checkpoint (deterministic bytes), so that restore can ask them later.
func (r *Rules) Encode() []byte          { panic("stub") }
func Decode(data []byte) (*Rules, error) { panic("stub") }

// Root is the scope of the project root. read returns the content of a rule file directly in that
// directory (".gitignore", ".rewindignore"), nil if there is none.
func (r *Rules) Root(read func(name string) []byte) *Scope { panic("stub") }

// Scope holds the rules that apply to the entries of one directory.
type Scope struct{ _ int }

func (s *Scope) Child(name string, read func(name string) []byte) *Scope { panic("stub") }

// Decision is what becomes of an entry.
type Decision uint8

const (
	Capture Decision = iota
	Skip             // left out; of a directory: with all below it
	Descend          // directory: nothing by itself, but something below may be captured (tracked or forced files)
	IfSmall          // an ignored file that captureIgnored=small takes up to 1 MiB
)

// Decide says what becomes of the entry and which rule decided, for coverage ("" if none).
func (s *Scope) Decide(name string, isDir bool) (Decision, string) { panic("stub") }

// RuleFile reports whether a file of this name changes the rules below it.
func RuleFile(name string) bool { panic("stub") }
