package register

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// SettingsFile is one place where an agent reads hooks.
type SettingsFile struct {
	Path    string
	Content []byte // nil: missing
	Ours    bool   // we register here
	// TopLevel: the events are at its top level. For those that it has, the
	// agent looks into no other file of the directory.
	TopLevel bool
	// Plugin marks the hooks.json of a plugin that is enabled.
	Plugin bool
}

// FindingCode says in one word why capture is off, or might be.
type FindingCode string

const (
	FileNotJSON     FindingCode = "not-json"           // the agent ignores the file, perhaps silently
	Ignored         FindingCode = "ignored"            // the agent does not read File, for the reason Detail
	OlderIgnores    FindingCode = "older-ignores"      // earlier versions of it do not
	HooksDisabled   FindingCode = "hooks-disabled"     // disableAllHooks
	ManagedOnly     FindingCode = "managed-hooks-only" // allowManagedHooksOnly
	NotRegistered   FindingCode = "not-registered"     // none of our hooks anywhere
	EventMissing    FindingCode = "event-missing"      // for Event, or for part of its tools
	RegisteredTwice FindingCode = "registered-twice"   // each event would be handled twice
	UnknownEvent    FindingCode = "unknown-event"      // clients that do not know Event ignore the whole file
	OlderTool       FindingCode = "older-tool"         // smart-checkpoint is still there
	Shadowed        FindingCode = "shadowed"           // the file Detail has Event, so the hook in File does not run
	Wrapped         FindingCode = "wrapped"            // a "hooks" object in a file whose events are at the top level
	WrongShape      FindingCode = "wrong-shape"        // Event's value is not a list
	NotOurs         FindingCode = "not-ours"           // a file with the name of our extension is somebody else's
	OtherVersion    FindingCode = "other-version"      // our extension was made by the version Detail, or changed
	StraySetting    FindingCode = "stray-setting"      // Detail is a setting of rewind's, which no agent reads
	Untrusted       FindingCode = "untrusted"          // interactive sessions run no hooks in the folder Detail
	AgentsOwn       FindingCode = "agents-own"         // of this agent alone: Detail says it, and Cure what to do
)

// Finding is one thing that Inspect noticed.
type Finding struct {
	Code   FindingCode
	File   string
	Event  string
	Detail string
	Cure   string // for Ignored, OlderIgnores, Untrusted and AgentsOwn
}

// Missing is what is missing, of an EventMissing, as a Completion says it.
func (f Finding) Missing() string { return registration{f.Event, f.Detail}.text() }

// FoundEntry is one of our hooks and its file.
type FoundEntry struct {
	Entry
	File string
}

// classicEvents are those that agents have known from the beginning.
var classicEvents = []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Notification", "Stop", "SubagentStop", "PreCompact", "SessionStart", "SessionEnd"}

// tierSettings are parameters of tiers that the older tool had people put among an agent's settings.
var tierSettings = []string{"antiSpam", "significance", "significanceDetection"}

// Inspect looks at all files where the agent reads hooks, in any order, and says
// what of ours is there and why it might not run.
func (c *Client) Inspect(files []SettingsFile) (found []FoundEntry, findings []Finding) {
	if c.extension != nil {
		return c.inspectWhole(files)
	}
	plugin := ""
	hides := map[string]string{} // event -> the file that hides it from others, by directory
	for _, f := range files {
		_, root, err := parseSettings(f.Content)
		if err != nil {
			findings = append(findings, Finding{Code: FileNotJSON, File: f.Path, Detail: problemOf(err)})
			continue
		}
		top, _ := containerOf(root)
		entries := entriesIn(root, c.formOf(f))
		if c.reads != nil && (len(entries) > 0 || enabledPlugin(top) != "") {
			findings = append(findings, c.reads(f, root)...)
		}
		for _, e := range entries {
			if e.Older {
				findings = append(findings, Finding{Code: OlderTool, File: f.Path, Event: e.Event, Detail: shell.Clip(e.Command)})
				continue
			}
			found = append(found, FoundEntry{e, f.Path})
			if f.Plugin {
				plugin = f.Path
			}
		}
		findings = append(findings, c.inspectSwitches(f, root)...)
		findings = append(findings, c.inspectEvents(f, top)...)
		for _, name := range tierSettings {
			if _, ok := top.member(name); ok {
				findings = append(findings, Finding{Code: StraySetting, File: f.Path, Detail: name})
			}
		}
		if p := enabledPlugin(top); p != "" && plugin == "" {
			plugin = p
		}
		if f.TopLevel {
			for _, it := range top.items {
				hides[path.Dir(slashed(f.Path))+"\x00"+it.name] = f.Path
			}
		}
	}
	findings = append(findings, c.inspectDisabled(files, found)...)
	for _, e := range found {
		file := slashed(e.File)
		if by, ok := hides[path.Dir(file)+"\x00"+e.Event]; ok && by != e.File {
			findings = append(findings, Finding{Code: Shadowed, File: e.File, Event: e.Event, Detail: by})
		}
	}
	return found, append(findings, c.inspectCoverage(found, plugin)...)
}

// problemOf is what is wrong with a file that is not valid JSON.
func problemOf(err error) string {
	if bad := errors.Unwrap(err); bad != nil {
		err = bad
	}
	return err.Error()
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func (c *Client) inspectSwitches(f SettingsFile, root hujson.Value) (out []Finding) {
	for _, s := range c.switches {
		v, found := memberAt(root, s.name)
		kind := hujson.Kind('f')
		if s.value {
			kind = 't'
		}
		if found && v.Value.Kind() == kind {
			out = append(out, Finding{Code: s.code, File: f.Path, Detail: s.name})
		}
	}
	return out
}

// inspectDisabled finds our hooks in the lists of those that the person has disabled one by one.
func (c *Client) inspectDisabled(files []SettingsFile, found []FoundEntry) (out []Finding) {
	for _, f := range files {
		_, disabled := c.merged([]SettingsFile{f})
		if slices.ContainsFunc(found, func(e FoundEntry) bool { return slices.Contains(disabled, e.Command) }) {
			out = append(out, Finding{Code: AgentsOwn, File: f.Path,
				Detail: fmt.Sprintf("%s in %s has the hooks of rewind, so %s does not run them", c.disabled, f.Path, c.Agent.Title()),
				Cure:   "remove the line that runs rewind from " + c.disabled + " in " + f.Path})
		}
	}
	return out
}

// inspectEvents checks names and shapes of the file's hooks, the person's own
// too, since one wrong name can switch off all.
func (c *Client) inspectEvents(f SettingsFile, top container) (out []Finding) {
	events := top
	if m, ok := top.member("hooks"); ok && f.TopLevel {
		if _, isObject := m.value.Value.(*hujson.Object); isObject {
			return []Finding{{Code: Wrapped, File: f.Path}}
		}
	} else if !f.TopLevel {
		if !ok {
			return nil
		}
		if _, isObject := m.value.Value.(*hujson.Object); !isObject {
			return []Finding{{Code: WrongShape, File: f.Path, Event: "hooks"}}
		}
		events, _ = containerOf(m.value)
	}
	for _, it := range events.items {
		if f.TopLevel && (it.name == "$schema" || it.name == "description") {
			continue
		}
		if c.known != nil && !slices.Contains(c.known, it.name) {
			out = append(out, Finding{Code: UnknownEvent, File: f.Path, Event: it.name})
			continue
		}
		if !isList(it.value) {
			out = append(out, Finding{Code: WrongShape, File: f.Path, Event: it.name})
		}
	}
	return out
}

// enabledPlugin finds "rewind@…": true in enabledPlugins.
func enabledPlugin(top container) string {
	m, ok := top.member("enabledPlugins")
	if !ok {
		return ""
	}
	plugins, _ := containerOf(m.value)
	for _, it := range plugins.items {
		if strings.HasPrefix(it.name, "rewind@") && it.value.Value.Kind() == 't' {
			return it.name
		}
	}
	return ""
}

// inspectCoverage compares what is registered with what should be.
func (c *Client) inspectCoverage(found []FoundEntry, plugin string) (out []Finding) {
	inSettings := 0
	for _, e := range found {
		if e.File != plugin {
			inSettings++
		}
	}
	if inSettings > 0 && plugin != "" {
		out = append(out, Finding{Code: RegisteredTwice, Detail: "in the settings and as the plugin " + plugin})
	}
	if inSettings == 0 && plugin != "" && inSettings == len(found) {
		return out // by the plugin, whose file we were not given
	}
	if len(found) == 0 {
		return append(out, Finding{Code: NotRegistered})
	}
	for _, w := range c.hooks {
		var commands []string
		for _, e := range found {
			if e.Event == w.event && covers(e.Matcher, w.matcher) && e.File != plugin {
				commands = append(commands, e.Command) // the same line runs once, however often it matches
			}
		}
		slices.Sort(commands)
		switch n := len(slices.Compact(commands)); {
		case n == 0 && (plugin == "" || inSettings == len(found)):
			out = append(out, Finding{Code: EventMissing, Event: w.event, Detail: w.matcher})
		case n > 1:
			out = append(out, Finding{Code: RegisteredTwice, Event: w.event, Detail: fmt.Sprintf("%d different commands", n)})
		}
	}
	return out
}

// covers reports whether a matcher takes all tools that want names.
func covers(matcher, want string) bool {
	if matcher == want || matcher == "" || matcher == "*" || matcher == ".*" {
		return true
	}
	if want == "" {
		return false
	}
	names := strings.Split(matcher, "|")
	return !slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return !slices.Contains(names, w) && w != "MultiEdit" })
}
