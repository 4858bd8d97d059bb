package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

const (
	testProgram = "/home/u/.local/bin/rewind"
	testLine    = `'/home/u/.local/bin/rewind' hook claude`
)

// registerClaude and unregisterClaude edit a settings file alone.
func registerClaude(settings []byte, program string) ([]byte, error) {
	return claude.Edit([]SettingsFile{{Content: settings, Ours: true}}, 0, &Program{Path: program})
}

func unregisterClaude(settings []byte) ([]byte, error) {
	return claude.Edit([]SettingsFile{{Content: settings, Ours: true}}, 0, nil)
}

// registerDroid edits both files; an empty program takes the hooks out.
func registerDroid(hooks, settings []byte, program string) (newHooks, newSettings []byte, err error) {
	files := []SettingsFile{{Content: hooks, TopLevel: true, Ours: true}, {Content: settings, Ours: true}}
	var p *Program
	if program != "" {
		p = &Program{Path: program}
	}
	if newHooks, err = droid.Edit(files, 0, p); err != nil {
		return nil, nil, err
	}
	newSettings, err = droid.Edit(files, 1, p)
	return newHooks, newSettings, err
}

func entries(settings []byte) ([]Entry, error) {
	_, root, err := parseSettings(settings)
	return entriesIn(root, form{}), err
}

func topEntries(hooks []byte) ([]Entry, error) {
	_, root, err := parseSettings(hooks)
	return entriesIn(root, form{topLevel: true}), err
}

// settingsFiles are files as people have them; nil is a missing one.
func settingsFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/settings/*.json")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d settings files, %v", len(names), err)
	}
	files := map[string][]byte{"missing": nil}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			b = []byte{}
		}
		files[filepath.Base(name)] = b
	}
	return files
}

// plain is the JSON value that a settings file means to an agent.
func plain(t testing.TB, b []byte) map[string]any {
	t.Helper()
	b, err := hujson.Standardize(bytes.TrimPrefix(append(bytes.Clone(b), '\n'), []byte("\ufeff")))
	if err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return v
}

func TestRegisterClaudeAndBack(t *testing.T) {
	for name, before := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			with, err := registerClaude(before, testProgram)
			if err != nil {
				t.Fatal(err)
			}
			checkRegistered(t, with)
			again, err := registerClaude(with, testProgram)
			if err != nil || !bytes.Equal(again, with) {
				t.Errorf("a second time changes it: %v\n%s", err, again)
			}
			after, err := unregisterClaude(with)
			if err != nil || !bytes.Equal(after, before) || (after == nil) != (before == nil) {
				t.Errorf("not as before: %v\nbefore %q\nwith   %s\nafter  %q", err, before, with, after)
			}
			// Written anew by its agent, in another form, it is left as that.
			if reformed, err := hujson.Minimize(bytes.TrimPrefix(append(bytes.Clone(with), '\n'), []byte("\ufeff"))); err == nil {
				if again, err := registerClaude(reformed, testProgram); err != nil || !bytes.Equal(again, reformed) {
					t.Errorf("registered, in another form, it changes: %v\n%s\n%s", err, reformed, again)
				}
			}
			moved, err := registerClaude(with, "/opt/rewind")
			if err != nil || bytes.Contains(moved, []byte("/home/u/.local")) {
				t.Errorf("a moved binary: %v\n%s", err, moved)
			}
			if after, err := unregisterClaude(moved); err != nil || !bytes.Equal(after, before) {
				t.Errorf("not as before after a move: %v %q", err, after)
			}
			if none, err := unregisterClaude(before); err != nil || !bytes.Equal(none, before) {
				t.Errorf("unregistering where nothing is: %v %q", err, none)
			}
		})
	}
}

// checkRegistered looks at the file as the agent does.
func checkRegistered(t *testing.T, b []byte) {
	t.Helper()
	entries, err := entries(b)
	if err != nil || len(entries) != len(claude.hooks) {
		t.Fatalf("entries %v, %v in\n%s", entries, err, b)
	}
	hooks := plain(t, b)["hooks"].(map[string]any)
	for _, want := range claude.hooks {
		found := 0
		for _, g := range hooks[want.event].([]any) {
			group := g.(map[string]any)
			matcher, _ := group["matcher"].(string)
			for _, h := range group["hooks"].([]any) {
				hook := h.(map[string]any)
				if hook["command"] == testLine && hook["type"] == "command" && hook["timeout"] == 10.0 && matcher == want.matcher {
					found++
				}
			}
		}
		if found != 1 {
			t.Errorf("%v: %d times in\n%s", want, found, b)
		}
	}
}

func TestRegisterLooksLikeTheFile(t *testing.T) {
	for _, c := range []struct{ before, start string }{
		{"{\n\t\"model\": \"opus\"\n}\n", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n"},
		{`{"model":"opus"}`, `{"model":"opus","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"'/home/u/.local/bin/rewind' hook claude","timeout":10}]}],"UserPromptSubmit":[`},
		{"{\r\n  \"a\": 1\r\n}", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"SessionStart\": [\r\n"},
		{"", "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n"},
	} {
		with, err := registerClaude([]byte(c.before), testProgram)
		if err != nil || !bytes.HasPrefix(with, []byte(c.start)) {
			t.Errorf("%q: %v\n%s", c.before, err, with)
		}
	}
}

func TestRegisterReplacesTheOlderTool(t *testing.T) {
	for name, before := range map[string]string{
		"command": `{"hooks": {"SessionStart": [{"matcher": "*", "hooks": [{"type": "command", "command": "~/.local/bin/smart-checkpoint.sh session-start"}]}], "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}`,
		"args":    "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"bash\", \"args\": [\"-c\", \"~/.local/bin/smart-checkpoint.sh session-start\"], \"timeout\": 5 }\n        ]\n      }\n    ],\n    \"Stop\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n    ]\n  }\n}",
		"mixed":   `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "smart-checkpoint stop"}, {"type": "command", "command": "say done"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			older, err := entries([]byte(before))
			if err != nil || len(older) != 1 || !older[0].Older {
				t.Fatalf("%v, %v", older, err)
			}
			with, err := registerClaude([]byte(before), testProgram)
			if err != nil {
				t.Fatal(err)
			}
			checkRegistered(t, with)
			if bytes.Contains(with, []byte("smart-checkpoint")) || !bytes.Contains(with, []byte("say done")) {
				t.Errorf("%s", with)
			}
			after, err := unregisterClaude(with)
			if err != nil {
				t.Fatal(err)
			}
			if got := plain(t, after)["hooks"].(map[string]any); len(got) != 1 || got["Stop"] == nil {
				t.Errorf("left: %s", after)
			}
		})
	}
}

func TestRecognisesOurs(t *testing.T) {
	for line, want := range map[string]bool{
		`'/home/u/.local/bin/rewind' hook claude`:               true,
		`/usr/bin/rewind hook droid`:                            true,
		`rewind hook generic`:                                   true,
		`"${CLAUDE_PLUGIN_ROOT}"/bin/rewind hook claude`:        true,
		`'/home/o'\''brien/bin/rewind' hook claude`:             true,
		`test -x /usr/bin/rewind && /usr/bin/rewind hook codex`: true,
		`/Users/A B/bin/rewind hook claude`:                     true,
		`'C:\Users\a\rewind.exe' hook claude`:                   true,
		`sh -c 'rewind hook claude'`:                            true,
		`/x/smart-checkpoint.sh stop`:                           true,
		`rewind list`:                                           false,
		`/usr/bin/rewind-tape hook`:                             false,
		`echo rewind hook`:                                      false,
		`my-rewind hook claude`:                                 false,
		`hook rewind`:                                           false,
		``:                                                      false,
	} {
		quoted, _ := json.Marshal(line)
		e, err := entries([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":` + string(quoted) + `}]}]}}`))
		if err != nil || (len(e) == 1) != want {
			t.Errorf("%s: %v, %v", line, e, err)
		}
	}
	e, err := entries([]byte(`{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"/a b/rewind","args":["hook","claude"],"timeout":3}]}]}}`))
	if err != nil || len(e) != 1 || e[0] != (Entry{"Stop", "x", "/a b/rewind hook claude", "3", false}) {
		t.Errorf("exec form: %v, %v", e, err)
	}
}

func TestRegisterRefuses(t *testing.T) {
	for _, content := range []string{"not json", "[1]", `{"a": }`, `{"a": 1`, "{} {}", `"x"`, "null", strings.Repeat("[", 1000000), "// only a comment\n", "{\"a\": 'b'}", "\x00"} {
		var notJSON *NotJSONError
		if out, err := registerClaude([]byte(content), testProgram); !errors.As(err, &notJSON) || out != nil && !bytes.Equal(out, []byte(content)) {
			t.Errorf("%.20q: %v", content, err)
		}
		if _, err := unregisterClaude([]byte(content)); !errors.As(err, &notJSON) {
			t.Errorf("%.20q: %v", content, err)
		}
		if _, _, err := registerDroid([]byte(content), nil, testProgram); !errors.As(err, &notJSON) {
			t.Errorf("%.20q: %v", content, err)
		}
	}
	for _, content := range []string{`{"hooks": null}`, `{"hooks": []}`, `{"hooks": "x"}`, `{"hooks": {"Stop": {}}}`, `{"hooks": {"PreToolUse": "x"}}`} {
		var shape *ShapeError
		if _, err := registerClaude([]byte(content), testProgram); !errors.As(err, &shape) {
			t.Errorf("%s: %v", content, err)
		}
		if out, err := unregisterClaude([]byte(content)); err != nil || string(out) != content {
			t.Errorf("%s: %v %s", content, err, out)
		}
	}
}

func TestRegisterDroid(t *testing.T) {
	const program = "/usr/bin/rewind"
	line := droid.CommandLine(program)
	hooks := []byte("{\n  \"Stop\": [\n    { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n  ], // mine\n  \"Notification\": []\n}\n")
	settings := []byte("{\n  // droid\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Execute\", \"hooks\": [ { \"type\": \"command\", \"command\": \"audit\" } ] }\n    ]\n  },\n  \"model\": \"x\"\n}\n")
	newHooks, newSettings, err := registerDroid(hooks, settings, program)
	if err != nil {
		t.Fatal(err)
	}
	there, _ := topEntries(newHooks)
	here, _ := entries(newSettings)
	if len(there) != 1 || there[0].Event != "Stop" || len(here) != len(droid.hooks)-1 {
		t.Fatalf("in hooks.json %v, in settings.json %v", there, here)
	}
	for _, e := range here {
		if e.Event == "Stop" || e.Command != line {
			t.Errorf("%+v in settings.json", e)
		}
	}
	// The person's own entry for Stop makes hooks.json's the only one that counts.
	h2, s2, err := registerDroid(newHooks, newSettings, program)
	if err != nil || !bytes.Equal(h2, newHooks) || !bytes.Equal(s2, newSettings) {
		t.Errorf("a second time changes it: %v", err)
	}
	h3, s3, err := registerDroid(newHooks, newSettings, "")
	if err != nil || !bytes.Equal(h3, hooks) || !bytes.Equal(s3, settings) {
		t.Errorf("not as before: %v\n%s\n%s", err, h3, s3)
	}
	// Later the person adds SessionStart to hooks.json: registering again moves ours there.
	shadowing := bytes.Replace(newHooks, []byte(`"Notification": []`), []byte(`"Notification": [], "SessionStart": []`), 1)
	h4, s4, err := registerDroid(shadowing, newSettings, program)
	if err != nil {
		t.Fatal(err)
	}
	there, _ = topEntries(h4)
	here, _ = entries(s4)
	if len(there) != 2 || len(here) != len(droid.hooks)-2 {
		t.Errorf("in hooks.json %v, in settings.json %v", there, here)
	}
	// Without hooks.json everything is in settings.json, and no hooks.json appears.
	h5, s5, err := registerDroid(nil, nil, program)
	if here, _ = entries(s5); err != nil || h5 != nil || len(here) != len(droid.hooks) {
		t.Errorf("%v %q %v", err, h5, here)
	}
	if h6, s6, err := registerDroid(h5, s5, ""); err != nil || h6 != nil || s6 != nil {
		t.Errorf("%v %q %q", err, h6, s6)
	}
}

// Editing is exact whatever the file looks like, and changes nothing else of
// its meaning.
func FuzzRegister(f *testing.F) {
	for _, b := range settingsFiles(f) {
		f.Add(b)
	}
	f.Add([]byte(`{"Stop": [ // x
	1, ], "hooks": {"Stop": [{"hooks": [{"command": "rewind hook claude"}, 3]}],}}`))
	f.Add([]byte("{\"hooks\":{\"Stop\":[\n\n]}, }"))
	f.Add([]byte("{/* // */}"))
	f.Fuzz(func(t *testing.T, before []byte) {
		_, root, err := parseSettings(before)
		if err != nil {
			return
		}
		for _, form := range []form{{}, {topLevel: true}, {flat: true}, {version: "1"}, {flat: true, version: "1"}} {
			if len(entriesIn(root, form)) > 0 {
				stripped, err := strip(before, form)
				if err != nil {
					t.Fatalf("strip %q: %v", before, err)
				}
				_, root, err := parseSettings(stripped)
				if left := entriesIn(root, form); err != nil || len(left) > 0 {
					t.Fatalf("strip left %v in %q: %v", left, stripped, err)
				}
				continue
			}
			with, err := addAll(before, testLine, claude.hooks, form)
			if err != nil {
				continue
			}
			_, rootWith, err := parseSettings(with)
			if err != nil {
				t.Fatalf("%v: %q -> %q", err, before, with)
			}
			if got := entriesIn(rootWith, form); len(got) != len(claude.hooks) {
				t.Fatalf("%d entries: %q -> %q", len(got), before, with)
			}
			after, err := strip(with, form)
			if err != nil || !bytes.Equal(after, before) {
				t.Fatalf("before %q\nwith  %q\nafter  %q %v", before, with, after, err)
			}
		}
	})
}
