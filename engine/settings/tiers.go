package settings

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

//go:embed tiers/minimal.json
var minimalTier []byte

//go:embed tiers/balanced.json
var balancedTier []byte

//go:embed tiers/aggressive.json
var aggressiveTier []byte

func embeddedTier(name string) []byte {
	switch name {
	case "minimal":
		return minimalTier
	case "aggressive":
		return aggressiveTier
	}
	return balancedTier
}

// tier puts the tier's parameters into values and returns its moments. A file
// of the account overrides single parameters.
func (l *loader) tier(name, dir string, values *[keyCount]slot) (moments []string) {
	if d, err := parseObject(embeddedTier(name)); err == nil {
		moments = l.parameters(d.o, "the built-in tier "+name, Origin{FromTier, name}, values)
	}
	if dir == "" {
		return moments
	}
	file := filepath.Join(dir, name+".json")
	if o := l.read(file); o != nil {
		if m := l.parameters(o, file, Origin{FromTier, file}, values); m != nil {
			moments = m
		}
	}
	return moments
}

var momentNames = []string{SessionStart, Prompt, PreEdit, PreShell, PostShell, Stop, SubagentStop, SessionEnd}

// tierNames are the names that people's tier files have for our keys, in the
// shape with "runtime" around them and the flat one. Everything else in such a
// file (tier, description, hooks, …) is not for us.
var tierNames = []struct {
	section string
	name    string
	key     int
}{
	{"antiSpam", "enabled", keyAntiSpam},
	{"antiSpam", "minIntervalSeconds", keyMinInterval},
	{"antiSpam", "minInterval", keyMinInterval},
	{"significance", "enabled", keySignificance},
	{"significance", "minChangeSize", keyMinChangeSize},
	{"significance", "criticalFiles", keyCriticalFiles},
	{"significanceDetection", "enabled", keySignificance},
	{"significanceDetection", "minChangeSize", keyMinChangeSize},
	{"significanceDetection", "criticalFiles", keyCriticalFiles},
}

func (l *loader) parameters(o *hujson.Object, file string, origin Origin, values *[keyCount]slot) (moments []string) {
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		sub, isObject := m.Value.Value.(*hujson.Object)
		switch {
		case name == "runtime" && isObject:
			if inner := l.parameters(sub, file, origin, values); inner != nil {
				moments = inner
			}
		case name == "moments":
			moments = l.moments(m.Value.Value, file, moments)
		case isObject:
			l.section(sub, name, file, origin, values)
		}
	}
	return moments
}

func (l *loader) section(o *hujson.Object, section, file string, origin Origin, values *[keyCount]slot) {
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		for _, t := range tierNames {
			if t.section != section || t.name != name {
				continue
			}
			if v, ok := keys[t.key].decode(m.Value.Value); ok {
				values[t.key] = slot{v, origin}
			} else {
				l.warn(file, section+"."+name, "is "+describe(m.Value.Value), keys[t.key].allowed())
			}
		}
	}
}

func (l *loader) moments(v hujson.ValueTrimmed, file string, old []string) []string {
	a, ok := v.(*hujson.Array)
	if !ok {
		l.warn(file, "moments", "is "+describe(v), "a list of strings")
		return old
	}
	list := []string{}
	for _, e := range a.Elements {
		if lit, ok := e.Value.(hujson.Literal); ok && lit.Kind() == '"' && slices.Contains(momentNames, lit.String()) {
			list = append(list, lit.String())
		} else {
			l.warn(file, "moments", "contains "+describe(e.Value), strings.Join(momentNames, ", "))
		}
	}
	return list
}
