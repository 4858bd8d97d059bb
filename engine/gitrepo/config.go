package gitrepo

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// entry is one setting: key is "section.name" or "section.Sub section.name",
// section and name in lower case.
type entry struct {
	key   string
	value value
}

type value struct {
	text string
	set  bool // false: a name without "=", which means true
}

// config is the settings of several files in the order in which git reads them.
type config struct{ entries []entry }

// last is the value that counts.
func (c config) last(key string) (value, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].key == key {
			return c.entries[i].value, true
		}
	}
	return value{}, false
}

func isTrue(v value, ok bool) bool {
	if !ok {
		return false
	}
	if !v.set {
		return true
	}
	switch strings.ToLower(v.text) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(v.text)
	return err == nil && n != 0
}

// readConfig reads one file of settings without its includes. An unreadable file counts as an empty one: the defaults
// are what nearly all have.
func readConfig(file string) config {
	data, err := readFile(file, maxConfig)
	if err != nil {
		return config{}
	}
	return config{parseConfig(data)}
}

// maxIncludes is how deep git follows includes.
const maxIncludes = 10

// fullConfig reads system, global, local and worktree configuration with
// their includes, and what the environment adds.
func (r Repo) fullConfig(home string) config {
	c := collector{repo: r, home: home}
	if !isTrue(envValue(r.getenv("GIT_CONFIG_NOSYSTEM"))) {
		if file := r.getenv("GIT_CONFIG_SYSTEM"); file != "" {
			c.file(file, 0)
		} else {
			for _, file := range systemConfigs {
				c.file(file, 0)
			}
		}
	}
	if file := r.getenv("GIT_CONFIG_GLOBAL"); file != "" {
		c.file(file, 0)
	} else {
		if dir := r.xdgDir(home); dir != "" {
			c.file(filepath.Join(dir, "config"), 0)
		}
		if home != "" {
			c.file(filepath.Join(home, ".gitconfig"), 0)
		}
	}
	c.add(r.local, filepath.Join(r.CommonDir, "config"), 0)
	if isTrue(r.local.last("extensions.worktreeconfig")) {
		c.file(filepath.Join(r.GitDir, "config.worktree"), 0)
	}
	c.environment()
	return config{c.entries}
}

func envValue(s string) (value, bool) { return value{s, true}, s != "" }

// xdgDir is git's directory for configuration in the XDG layout, "" if unknown.
func (r Repo) xdgDir(home string) string {
	if dir := r.getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".config", "git")
}

type collector struct {
	repo    Repo
	home    string
	entries []entry
	files   int // read so far: includes may fan out as well as nest
}

// maxFiles bounds a fan of includes.
const maxFiles = 1000

func (c *collector) file(file string, depth int) {
	if c.files++; c.files <= maxFiles {
		c.add(readConfig(file), file, depth)
	}
}

// add takes the settings of a file, and of those that it includes.
func (c *collector) add(settings config, file string, depth int) {
	for _, e := range settings.entries {
		c.entries = append(c.entries, e)
		if depth < maxIncludes && e.value.text != "" && c.includes(e.key, file) {
			if path, ok := expandHome(e.value.text, c.home); ok {
				if !filepath.IsAbs(path) {
					path = filepath.Join(filepath.Dir(file), path)
				}
				c.file(path, depth+1)
			}
		}
	}
}

// includes tells whether key is an include whose condition holds.
func (c *collector) includes(key, file string) bool {
	if key == "include.path" {
		return true
	}
	condition, ok := strings.CutPrefix(key, "includeif.")
	if !ok || c.repo.GitDir == "" { // the conditions are about a repository
		return false
	}
	if condition, ok = strings.CutSuffix(condition, ".path"); !ok {
		return false
	}
	if pattern, ok := strings.CutPrefix(condition, "gitdir:"); ok {
		return c.gitDirMatches(pattern, file, false)
	}
	if pattern, ok := strings.CutPrefix(condition, "gitdir/i:"); ok {
		return c.gitDirMatches(pattern, file, true)
	}
	if pattern, ok := strings.CutPrefix(condition, "onbranch:"); ok {
		_, branch, err := c.repo.Head()
		if err != nil || branch == "" {
			return false
		}
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return ignore.Wildmatch(pattern, branch, true)
	}
	return false // hasconfig: and what later versions add
}

// gitDirMatches applies the pattern of a "gitdir:" condition that stands in file.
func (c *collector) gitDirMatches(pattern, file string, fold bool) bool {
	literal := "" // beginning that is compared as it is
	switch {
	case strings.HasPrefix(pattern, "./"):
		dir, err := filepath.EvalSymlinks(filepath.Dir(file))
		if err != nil {
			return false
		}
		literal, pattern = filepath.ToSlash(dir)+"/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		home, ok := expandHome("~/", c.home)
		if !ok {
			return false
		}
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		pattern = strings.TrimSuffix(filepath.ToSlash(home), "/") + pattern[1:]
	case !filepath.IsAbs(filepath.FromSlash(pattern)):
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	try := func(dir string) bool {
		text := filepath.ToSlash(dir)
		if fold {
			text, pattern, literal = strings.ToLower(text), strings.ToLower(pattern), strings.ToLower(literal)
		}
		rest, ok := strings.CutPrefix(text, literal)
		return ok && ignore.Wildmatch(pattern, rest, true)
	}
	if real, err := filepath.EvalSymlinks(c.repo.GitDir); err == nil && try(real) {
		return true
	}
	return try(c.repo.GitDir)
}

// environment adds GIT_CONFIG_COUNT and its keys and values.
func (c *collector) environment() {
	count, err := strconv.Atoi(c.repo.getenv("GIT_CONFIG_COUNT"))
	if err != nil {
		return
	}
	for i := 0; i < min(count, maxFiles); i++ {
		n := strconv.Itoa(i)
		key := c.repo.getenv("GIT_CONFIG_KEY_" + n)
		c.entries = append(c.entries, entry{lowerKey(key), value{c.repo.getenv("GIT_CONFIG_VALUE_" + n), true}})
	}
}

// expandHome replaces "~/" at the beginning. ok is false for what cannot be
// told here: another user's home, git's own installation.
func expandHome(path, home string) (string, bool) {
	switch {
	case strings.HasPrefix(path, "~/"):
		if home == "" {
			return "", false
		}
		return filepath.Join(home, path[2:]), true
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%(prefix)/"):
		return "", false
	}
	return filepath.FromSlash(path), true
}

// lowerKey folds section and name, not what stands between.
func lowerKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// parseConfig reads git's configuration syntax. Where git would give up, the
// line is passed over: one bad line should not change what is captured.
func parseConfig(data []byte) []entry {
	p := configParser{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	return p.parse()
}
