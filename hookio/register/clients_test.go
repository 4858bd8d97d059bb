package register

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

// testClients are all that can be registered, and one of each kind that there
// could be.
func testClients() map[string]*Client {
	inHome := func(names ...string) func(Where, string) []SettingsFile {
		return func(_ Where, dir string) (files []SettingsFile) {
			for _, name := range names {
				files = append(files, SettingsFile{Path: filepath.Join(dir, name), Ours: true})
			}
			return files
		}
	}
	dir := func(w Where) string { return below(w.Home, ".test") }
	hooks := []registration{{"beforeTool", "edit|shell"}, {"beforeTool", "mcp_.*"}, {"stop", ""}}
	of := map[string]*Client{
		"flat": {Agent: "flat", dir: dir, files: inHome("hooks.json"), hooks: hooks, form: form{flat: true}},
		"flat with a version": {Agent: "versioned", dir: dir, files: inHome("hooks/rewind.json"), hooks: hooks, form: form{
			flat: true, version: "1", handler: func(line string) jsonNode { return object("bash", quoted(line), "timeoutSec", jsonNode{literal: "10"}) }}},
		"milliseconds": {Agent: "milliseconds", dir: dir, files: inHome("settings.json"), hooks: hooks, form: form{
			handler: func(line string) jsonNode {
				return object("type", quoted("command"), "name", quoted("rewind"), "command", quoted(line), "timeout", jsonNode{literal: "10000"})
			}}},
		"extension": {Agent: "extension", dir: dir, files: inHome("extensions/rewind.ts"),
			extension: &testExtension},
	}
	for _, c := range Clients() {
		of[string(c.Agent)] = c
	}
	return of
}

// testExtension is the text of an extension that only these tests have.
var testExtension = extensionProgram + "; run(PROGRAM)\n"

func testWhere(home, root string) Where {
	return Where{Home: home, Root: root, Getenv: func(string) string { return "" }}
}

// What holds for every agent, those to come included.
func TestEveryClient(t *testing.T) {
	seen := map[hookio.Agent]bool{}
	for _, c := range Clients() {
		name := string(c.Agent)
		if seen[c.Agent] || ClientOf(c.Agent) != c || !slices.Contains(hookio.Agents(), c.Agent) {
			t.Errorf("%s: twice, not found, or no agent that the hook knows", name)
		}
		seen[c.Agent] = true
		if named, action := hookio.Args([]string{"hook", name}[1:]); named != c.Agent || action != "" {
			t.Errorf("%s: its own line is not understood: %q %q", name, named, action)
		}
		if len(c.Programs) == 0 || (c.extension == nil) != (len(c.hooks) > 0) {
			t.Errorf("%s: no program to find it by, or neither hooks nor an extension, or both", name)
		}
		for _, h := range c.hooks {
			if hookio.Decode(strings.NewReader(`{"hook_event_name":"`+h.event+`","tool_name":"x"}`), []string{string(c.Agent)}, func(string) string { return "" }).Kind == hookio.Ignored {
				t.Errorf("%s: %s is registered and not understood", name, h.event)
			}
			if c.known != nil && !slices.Contains(c.known, h.event) {
				t.Errorf("%s: %s is registered, and not known to every version", name, h.event)
			}
		}
		if files := c.Files(testWhere("", "/p")); files != nil {
			t.Errorf("%s: files of nobody: %v", name, files)
		}
		paths, ours := map[string]bool{}, 0
		for _, f := range c.Files(testWhere("/h", "/p")) {
			if paths[f.Path] || !filepath.IsAbs(f.Path) {
				t.Errorf("%s: %s is relative or there twice", name, f.Path)
			}
			paths[f.Path] = true
			if f.Ours {
				ours++
			}
			if f.Ours && !strings.HasPrefix(f.Path, c.Dir(testWhere("/h", "/p"))+"/") {
				t.Errorf("%s: %s is not in its directory: whether the agent is used cannot be told", name, f.Path)
			}
		}
		if ours == 0 {
			t.Errorf("%s: none of its files is written", name)
		}
	}
}

// Whatever a file looks like, it has our hooks once, and afterwards what it had
// before.
func TestEveryClientAndBack(t *testing.T) {
	program := &Program{Path: "/home/u/.local/bin/rewind", Version: "1.2.3"}
	for name, c := range testClients() {
		t.Run(name, func(t *testing.T) {
			files := c.Files(testWhere("/h", ""))
			for i := range files {
				if !files[i].Ours {
					continue
				}
				for what, before := range contentsFor(t, c) {
					all := slices.Clone(files)
					all[i].Content = before
					checkAndBack(t, c, all, what, program)
				}
			}
		})
	}
}

// contentsFor are contents that a file of the agent can have.
func contentsFor(t *testing.T, c *Client) map[string][]byte {
	if c.extension != nil {
		return map[string][]byte{"missing": nil}
	}
	out := settingsFiles(t)
	event := c.hooks[0].event
	for _, text := range []string{
		`{"hooks": {"EVENT": []}}`, `{"hooks": {"EVENT": [ ]}, "x": [ ]}`, `{ "hooks": { } }`, `{"EVENT": []}`, `{ "EVENT": [ ] }`,
		"{\n\t\"hooks\": {\n\t\t\"EVENT\": [\n\t\t]\n\t}\n}", "{\n  \"EVENT\": [],\n  \"other\": {}\n}\n",
		`{"version": 1}`, `{"version": 1, "hooks": {}}`, `{"hooks": {}, "version": 1}`, "{\n  \"version\": 1,\n  \"hooks\": {\n    \"EVENT\": []\n  }\n}\n",
	} {
		out[text] = []byte(strings.ReplaceAll(text, "EVENT", event))
	}
	return out
}

func texts(files []SettingsFile) (out []string) {
	for _, f := range files {
		out = append(out, string(f.Content))
	}
	return out
}

func checkAndBack(t *testing.T, c *Client, before []SettingsFile, what string, program *Program) {
	t.Helper()
	edit := func(files []SettingsFile, p *Program) []SettingsFile {
		out := slices.Clone(files)
		for i := range out {
			if !out[i].Ours {
				continue
			}
			var err error
			if out[i].Content, err = c.Edit(out, i, p); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		return out
	}
	same := func(a, b []SettingsFile) bool {
		return slices.EqualFunc(a, b, func(a, b SettingsFile) bool {
			return bytes.Equal(a.Content, b.Content) && (a.Content == nil) == (b.Content == nil)
		})
	}
	if none := edit(before, nil); !same(none, before) {
		t.Errorf("%s: taking out what is not there gives %q", what, texts(none))
	}
	with := edit(before, program)
	found, findings := c.Inspect(with)
	if len(found) != max(1, len(c.hooks)) || found[0].Command != c.CommandLine(program.Path) {
		t.Errorf("%s: found %v in %q", what, found, texts(with))
	}
	for _, f := range findings {
		switch f.Code {
		case NotRegistered, EventMissing, RegisteredTwice, FileNotJSON, OtherVersion, NotOurs:
			t.Errorf("%s: %+v", what, f)
		}
	}
	if again := edit(with, program); !same(again, with) {
		t.Errorf("%s: a second time changes it:\n%q\n%q", what, texts(with), texts(again))
	}
	moved := edit(with, &Program{Path: "/opt/rewind", Version: "2"})
	if found, _ := c.Inspect(moved); len(found) == 0 || found[0].Command != c.CommandLine("/opt/rewind") {
		t.Errorf("%s: after a move %v", what, found)
	}
	for _, files := range [][]SettingsFile{with, moved} {
		if after := edit(files, nil); !same(after, before) {
			t.Errorf("%s: not as before:\nbefore %q\nwith   %q\nafter  %q", what, texts(before), texts(files), texts(after))
		}
	}
}

// Hooks that somebody wrote by hand, and those of the tool that went before, go
// with all that was there for them alone.
func TestTakesOutNoLessThanItReads(t *testing.T) {
	for name, c := range map[string]form{"groups": {}, "flat": {flat: true}} {
		client := &Client{Agent: hookio.Claude, form: c, hooks: []registration{{"Stop", ""}}}
		for before, want := range map[string]string{
			`{ "hooks": { "Stop": [ HOOK ] } }`:                                                       "",
			`{"model": "x", "hooks": { "Stop": [ HOOK ] } }`:                                          `{"model": "x" }`,
			`{"hooks": { "Stop": [ HOOK ], "Start": [] } }`:                                           `{"hooks": { "Start": [] } }`,
			"{\n  \"hooks\": {\n    \"Stop\": [ HOOK ],\n    \"Start\": [\n      HOOK\n    ]\n  }\n}": "",
			"{\n  \"a\": [],\n  \"hooks\": {\"Stop\": [HOOK]}\n}\n":                                   "{\n  \"a\": []\n}\n",
		} {
			for _, command := range []string{"rewind hook claude", "~/.local/bin/smart-checkpoint.sh stop"} {
				hook := `{ "type": "command", "command": "` + command + `" }`
				if !c.flat {
					hook = `{ "hooks": [ ` + hook + ` ] }`
				}
				content := []byte(strings.ReplaceAll(before, "HOOK", hook))
				direct, err := client.Edit([]SettingsFile{{Content: content, Ours: true}}, 0, nil)
				if err != nil || string(direct) != want {
					t.Errorf("%s, %s: %v\n%s\n%q", name, before, err, content, direct)
				}
				with, err := client.Edit([]SettingsFile{{Content: content, Ours: true}}, 0, &Program{Path: "/x/rewind"})
				if err != nil {
					t.Fatal(err)
				}
				after, err := client.Edit([]SettingsFile{{Content: with, Ours: true}}, 0, nil)
				if command != "rewind hook claude" && (err != nil || string(after) != want) {
					t.Errorf("%s, %s, registered in its place: %v\n%s\n%q", name, before, err, with, after)
				}
			}
		}
	}
}

// A file with the name of our extension that is somebody else's stays; one of
// another version, or that somebody changed, is told of and replaced.
func TestExtension(t *testing.T) {
	c := testClients()["extension"]
	program := &Program{Path: `/it's "here"/rewind`, Version: "1"}
	at := func(content string) []SettingsFile {
		return []SettingsFile{{Path: "/e/rewind.ts", Content: []byte(content), Ours: true}}
	}
	for _, foreign := range []string{"", "export default 1\n", "// rewind\n", "// rewind {}\n", "// rewind {\"program\":1}\n", "// rewind {"} {
		var notOurs *NotOursError
		if _, err := c.Edit(at(foreign), 0, program); !errors.As(err, &notOurs) {
			t.Errorf("%q was replaced: %v", foreign, err)
		}
		if left, err := c.Edit(at(foreign), 0, nil); err != nil || string(left) != foreign {
			t.Errorf("%q was taken away: %q, %v", foreign, left, err)
		}
		if found, findings := c.Inspect(at(foreign)); len(found) != 0 || len(findings) != 2 || findings[0].Code != NotOurs || findings[1].Code != NotRegistered {
			t.Errorf("%q: %v, %v", foreign, found, findings)
		}
	}
	ours, err := c.Edit([]SettingsFile{{Path: "/e/rewind.ts", Ours: true}}, 0, program)
	if p, ok := wholeProgram(ours); err != nil || !ok || p != *program || !bytes.HasSuffix(ours, []byte("\nconst PROGRAM = \"/it's \\\"here\\\"/rewind\"; run(PROGRAM)\n")) {
		t.Fatalf("%q, %v", ours, err)
	}
	changed := string(ours) + "more()\n"
	if !c.Made(ours) || c.Made([]byte(changed)) || c.Made(nil) || ClientOf(hookio.Claude).Made(ours) {
		t.Error("of what we made and nobody changed no backup is kept, of all else one is")
	}
	found, findings := c.Inspect(at(changed))
	if len(found) != 1 || len(findings) != 1 || findings[0].Code != OtherVersion || findings[0].Detail != "1" {
		t.Errorf("changed by hand: %v, %v", found, findings)
	}
	if again, err := c.Edit(at(changed), 0, program); err != nil || !bytes.Equal(again, ours) {
		t.Errorf("%q, %v", again, err)
	}
}

// Switches can lie in objects, and mean off by either value.
func TestSwitches(t *testing.T) {
	c := *testClients()["milliseconds"]
	c.switches = []offSwitch{{"hooksConfig.enabled", false, HooksDisabled}}
	for content, want := range map[string]int{
		`{"hooksConfig": {"enabled": false}}`: 1, `{"hooksConfig": {"enabled": true}}`: 0, `{"hooksConfig": false}`: 0, `{"enabled": false}`: 0, `{}`: 0, "": 0,
	} {
		_, findings := c.Inspect([]SettingsFile{{Path: "/s.json", Content: []byte(content)}})
		n := 0
		for _, f := range findings {
			if f.Code == HooksDisabled && f.Detail == "hooksConfig.enabled" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %v", content, findings)
		}
	}
}
