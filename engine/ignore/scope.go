package ignore

import (
	"strings"
)

// Decision is what becomes of an entry.
type Decision uint8

const (
	Capture  Decision = iota
	Skip              // left out; of a directory: with all below it
	Descend           // directory: nothing by itself, but something below may be captured (tracked or forced files)
	IfSmall           // an ignored file that captureIgnored=small takes up to 1 MiB
	Precious          // an ignored file that "precious" names, or a rule file: up to 10 MiB, marked
	Marked            // the same where ignored files are captured anyway: of any size, marked
)

// cause is why an entry is left out, or would be.
type cause uint8

const (
	byNone  cause = iota // nothing says so, or git tracks it
	byGit                // what git ignores
	byOwn                // a rule written for rewind
	byNever              // never source
	byAgent              // an agent's worktrees, a way to the store
	byAbove              // it lies below a directory that is left out
)

// verdict is a decision without forceInclude and precious.
type verdict struct {
	d     Decision
	label string
	by    cause
}

// far: unanchored patterns of forceInclude do not reach into such a directory.
func (v verdict) far() bool { return v.by == byNever || v.by == byAgent }

// Scope holds the rules that apply to the entries of one directory. It is
// immutable and safe for concurrent use.
type Scope struct {
	rules  *Rules
	path   string  // Rules.below, then the directory's path; "" or ending in "/"
	own    layer   // config "ignore"
	force  layer   // config "forceInclude"
	prized layer   // config "precious"
	layers []layer // rule files, strongest first

	forced   string   // label of the forceInclude pattern that took this directory, or ""
	out      string   // label of the rule that this directory lies below and is left out by, or ""
	far      bool     // unanchored forceInclude patterns do not reach here
	dead     string   // label: this is a .git or the store, or below one
	ignored  bool     // git ignores this directory, or one above
	sealed   bool     // it is left out by a rule that precious does not weaken
	sessions []string // names in this directory that agents keep their sessions in, see Config.SessionPaths
	kept     bool     // precious names this directory, or one above, with all below
}

// Root is the scope of the project root. read returns the content of a rule file directly in that
// directory (".gitignore", ".rewindignore"), nil if there is none. As git, it should not follow a symbolic link.
func (r *Rules) Root(read func(name string) []byte) *Scope {
	s := &Scope{rules: r, path: r.below}
	n := len(r.below)
	s.own = newLayer(r.config0, s.path, n)
	s.force = newLayer(r.force, s.path, n)
	s.prized = newLayer(r.precious(), s.path, n)
	for _, o := range r.outer {
		s.layers = append(s.layers, newLayer(o.list, s.path, o.from))
	}
	s.sessions = r.sessionsIn("")
	s.read(read)
	return s
}

// sessionsIn are the names in a directory that agents keep their sessions in.
func (r *Rules) sessionsIn(dir string) (names []string) {
	for _, path := range r.config.SessionPaths {
		if name, ok := strings.CutPrefix(path, dir); ok && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// read puts the directory's rule files before the layers from further out.
func (s *Scope) read(read func(name string) []byte) {
	if s.rules.config.NoIgnore && !s.rules.marks || s.out != "" || read == nil {
		return
	}
	for _, name := range [...]string{gitFile, ownFile} {
		text := read(name)
		if text == nil && name == gitFile && s.rules.config.Indexed != nil {
			text = s.rules.config.Indexed(s.dir() + name)
		}
		if text == nil {
			continue
		}
		if ps := parseText(s.dir()+name, text, s.rules.config.FoldCase); len(ps) > 0 {
			y := newLayer(newList(ps, name == ownFile), s.path, len(s.path))
			s.layers = append([]layer{y}, s.layers...)
		}
	}
}

// dir is the directory's path from the root, "" or ending in "/".
func (s *Scope) dir() string { return s.path[len(s.rules.below):] }

// Child is the scope of the directory name in s; read is as in Root.
func (s *Scope) Child(name string, read func(name string) []byte) *Scope {
	r := s.rules
	c := &Scope{rules: r, path: s.path + name + "/", far: s.far}
	c.own = s.own.down(c.path)
	c.force = s.force.down(c.path)
	c.prized = s.prized.down(c.path)
	c.layers = s.layers
	for i := range s.layers {
		if len(s.layers[i].live) > 0 {
			c.layers = make([]layer, len(s.layers))
			for j := range s.layers {
				c.layers[j] = s.layers[j].down(c.path)
			}
			break
		}
	}
	c.forced = s.forcedBy(name, true)
	v := s.usual(name, true)
	if c.out = v.label; v.d == Capture {
		c.out = ""
	}
	c.far = c.far || v.far()
	c.ignored = s.ignored && !r.tracked(c.dir()[:len(c.dir())-1]) || v.by == byGit
	c.sealed = c.out != "" && (s.sealed || v.by == byOwn || v.by == byAgent)
	c.kept = s.keeps(name)
	if never, label := s.reserved(name); never {
		c.dead, c.out = label, label
	}
	c.sessions = r.sessionsIn(c.dir())
	c.read(read)
	return c
}

func (y *layer) down(path string) layer {
	if len(y.live) == 0 {
		return *y
	}
	return layer{y.list, y.from, live(y.list, y.live, y.list.fit(path[y.from:]))}
}

// Decide says what becomes of the entry and which rule decided, for coverage
// ("" if none). isDir is false for a symbolic link to a directory. It
// allocates only for an ignored entry, to ask git's index.
func (s *Scope) Decide(name string, isDir bool) (Decision, string) {
	if never, label := s.reserved(name); never {
		return Skip, label
	}
	if len(s.rules.force.patterns) > 0 {
		if forced := s.forcedBy(name, isDir); forced != "" {
			return Capture, forced
		}
	}
	v := s.usual(name, isDir)
	if s.rules.marks && (v.by != byNone || s.ignored) {
		v = s.prize(name, isDir, v)
	}
	if (v.d == Skip || v.d == IfSmall) && !isDir && s.isRules(name) {
		v.d = Precious
	}
	if v.d == Skip && isDir && s.force.into(s.dir()+name+"/", s.far || v.far()) {
		return Descend, v.label
	}
	if v.d == Capture && isDir && s.holdsStore(name) {
		return Descend, "" // most often it holds nothing but a store, that of a project below this one too
	}
	return v.d, v.label
}

// forcedBy is the label of the forceInclude pattern that takes an entry, or the directory; "" for none.
func (s *Scope) forcedBy(name string, isDir bool) string {
	switch p := s.force.match(s.path, name, isDir); {
	case p == nil:
		return s.forced
	case p.neg:
		return ""
	default:
		return p.label
	}
}

// holdsStore reports whether a directory has the name of a project's store, or of the directory around one.
func (s *Scope) holdsStore(name string) bool {
	if name == storeDir {
		return true
	}
	dir := s.dir()
	return name == storeName && (dir == storeDir+"/" || strings.HasSuffix(dir, "/"+storeDir+"/"))
}

// reserved tells what no setting brings back.
func (s *Scope) reserved(name string) (bool, string) {
	if s.dead != "" {
		return true, s.dead
	}
	if len(name) == 4 && name[0] == '.' && name[1]|0x20 == 'g' && name[2]|0x20 == 'i' && name[3]|0x20 == 't' {
		return true, "git's own directory"
	}
	if name == olderTool {
		return true, "checkpoints of another tool"
	}
	if len(name) > len(restoreTemp) && name[:len(restoreTemp)] == restoreTemp {
		return true, "a restore's temporary file"
	}
	dir, c := s.dir(), &s.rules.config
	is := func(path string) bool {
		return len(path) == len(dir)+len(name) && path != "" && hasPrefix(path, dir) && path[len(dir):] == name
	}
	switch {
	case is(c.StorePath), name == storeName && dir == storeDir+"/":
		return true, "rewind's own store"
	case is(c.AccountPath):
		return true, "rewind's own directory of the account"
	}
	for _, n := range s.sessions {
		if begin, all := strings.CutSuffix(n, "*"); n == name && hasPrefix(dir, ".jj/") {
			return true, "it is jj's git repository, which is held as git's own state"
		} else if n == name || all && hasPrefix(name, begin) {
			return true, "an agent keeps its sessions there"
		}
	}
	return false, ""
}

// usual decides without forceInclude and precious.
func (s *Scope) usual(name string, isDir bool) verdict {
	r := s.rules
	if s.out != "" {
		return s.exempt(name, isDir, verdict{Skip, s.out, byAbove})
	}
	if v := s.agents(name, isDir); v.by != byNone || v.d != Capture {
		return v
	}
	if r.config.NoIgnore {
		v := verdict{d: Capture}
		if r.marks && s.wouldIgnore(name, isDir) {
			v.by = byGit
		}
		return v
	}
	p, own := s.match(name, isDir)
	if i := r.never.lastName(name, isDir); i >= 0 {
		label := r.never.patterns[i].label
		if own {
			if p.neg {
				return verdict{Capture, p.label, byNone}
			}
			label = p.label
		}
		return s.exempt(name, isDir, verdict{Skip, label, byNever})
	}
	switch {
	case p == nil:
		return verdict{d: Capture}
	case p.neg:
		return verdict{Capture, p.label, byNone}
	case own:
		return s.exempt(name, isDir, verdict{Skip, p.label, byOwn})
	case r.capture == captureAll:
		return verdict{Capture, p.label, byGit}
	case r.capture == captureSmall && !isDir:
		return s.exempt(name, isDir, verdict{IfSmall, p.label, byGit})
	}
	return s.exempt(name, isDir, verdict{Skip, p.label, byGit})
}

// agents decides about the agents' directories: what they hold is a person's work
// like any other, but for the agents' own worktrees and the store.
func (s *Scope) agents(name string, isDir bool) verdict {
	dir := s.dir()
	if name == worktreesName && (dir == worktreesIn || strings.HasSuffix(dir, "/"+worktreesIn)) {
		return s.exempt(name, isDir, verdict{Skip, "an agent's worktrees", byAgent})
	}
	if dir != "" {
		return verdict{d: Capture}
	}
	if s.rules.config.agentsOut {
		for _, a := range agentDirs {
			if name == a && (isDir || name == storeDir) {
				return s.exempt(name, isDir, verdict{Skip, "an agent's own directory", byAgent})
			}
		}
		return verdict{d: Capture}
	}
	if name == storeDir && !isDir { // a link to the directory with the store is as little part of the tree as that is
		return s.exempt(name, isDir, verdict{Skip, "a link to the store", byAgent})
	}
	return verdict{d: Capture}
}

// match is the strongest pattern of all rule files, nil if none matches; own
// tells whether it was written for rewind.
func (s *Scope) match(name string, isDir bool) (p *pattern, own bool) {
	if p := s.own.match(s.path, name, isDir); p != nil {
		return p, true
	}
	for i := range s.layers {
		if p := s.layers[i].match(s.path, name, isDir); p != nil {
			return p, s.layers[i].list.own
		}
	}
	return nil, false
}

// exempt gives v, unless git tracks the entry or something below it.
func (s *Scope) exempt(name string, isDir bool, v verdict) verdict {
	r := s.rules
	if r.config.Tracked == nil && r.config.TrackedBelow == nil {
		return v
	}
	path := s.dir() + name
	if r.tracked(path) { // of a directory: a submodule
		v.d, v.label = Capture, "tracked by git"
		if !v.far() {
			v.by = byNone
		}
		return v
	}
	if isDir && r.trackedBelow(path) {
		v.d = Descend
	}
	return v
}
