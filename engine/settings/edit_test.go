package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSetKeepsTheRest(t *testing.T) {
	for _, c := range []struct{ name, before, key, value, after string }{
		{"new file", "", "tier", "minimal", "{\n  \"tier\": \"minimal\"\n}\n"},
		{"new file, nested", "", "storage.mode", "global", "{\n  \"storage\": {\n    \"mode\": \"global\"\n  }\n}\n"},
		{"empty object", "{}\n", "guard", "off", "{\n  \"guard\": false\n}\n"},
		{"replace", "{ \"tier\":\"minimal\" /* mine */ , \"x\": 1.50 }", "tier", "balanced", "{ \"tier\":\"balanced\" /* mine */ , \"x\": 1.50 }"},
		{"append", "{\n\t\"tier\": \"minimal\" // why\n}\n", "autoInit", "on", "{\n\t\"tier\": \"minimal\", // why\n\t\"autoInit\": true\n}\n"},
		{"append, trailing comma", "{\n    \"tier\": \"minimal\",\n}", "maxFileSize", "10GiB", "{\n    \"tier\": \"minimal\",\n    \"maxFileSize\": \"10GiB\",\n}"},
		{"append, one line", `{"tier": "minimal"}`, "maxFileSize", "4096", `{"tier": "minimal", "maxFileSize": 4096}`},
		{"append, one line, line comment", "{\"tier\": \"minimal\" // c\n}", "guard", "true", "{\"tier\": \"minimal\", // c\n  \"guard\": true\n}"},
		{"CRLF", "{\r\n  \"tier\": \"minimal\"\r\n}\r\n", "guard", "true", "{\r\n  \"tier\": \"minimal\",\r\n  \"guard\": true\r\n}\r\n"},
		{"into a section", "{\n  \"antiSpam\": {\n    \"enabled\": true\n  }\n}", "antiSpam.minIntervalSeconds", "5", "{\n  \"antiSpam\": {\n    \"enabled\": true,\n    \"minIntervalSeconds\": 5\n  }\n}"},
		{"into an empty section", "{\n    \"antiSpam\": {}\n}", "antiSpam.enabled", "no", "{\n    \"antiSpam\": {\n        \"enabled\": false\n    }\n}"},
		{"new section", "{\n  \"tier\": \"minimal\"\n}", "retention.maxSize", "5 GB", "{\n  \"tier\": \"minimal\",\n  \"retention\": { \"maxSize\": \"5 GB\" }\n}"},
		{"dotted stays dotted", `{"retention.maxSize": 1}`, "retention.maxSize", "2048", `{"retention.maxSize": 2048}`},
		{"the last one counts", `{"tier": "minimal", "tier": "balanced"}`, "tier", "aggressive", `{"tier": "minimal", "tier": "aggressive"}`},
		{"mark", "\ufeff{\"tier\": \"minimal\"}", "tier", "balanced", "\ufeff{\"tier\": \"balanced\"}"},
		{"list", `{"ignore": ["a"]}`, "ignore", `["*.log", "b\"c"]`, `{"ignore": ["*.log", "b\"c"]}`},
		{"list of one", `{"ignore": ["a"]}`, "ignore", `[Tt]mp/`, `{"ignore": ["[Tt]mp/"]}`},
		{"list by lines", `{"ignore": ["a"]}`, "ignore", "*.{js,ts}\nb", `{"ignore": ["*.{js,ts}", "b"]}`},
		{"no list", `{"ignore": ["a"]}`, "ignore", `[]`, `{"ignore": []}`},
		{"comment before the root", "// {\n{}", "guard", "true", "// {\n{\n  \"guard\": true\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			if c.before != "" {
				if err := os.WriteFile(file, []byte(c.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := Set(file, c.key, c.value); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(file)
			if string(got) != c.after {
				t.Errorf("got  %q\nwant %q", got, c.after)
			}
			want := fs.FileMode(0o640)
			if c.before == "" {
				want = 0o600
			}
			if st, _ := os.Stat(file); st.Mode().Perm() != want {
				t.Errorf("mode %v, want %v", st.Mode(), want)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".rewind-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	for _, c := range []struct{ before, key, after string }{
		{"{\n  \"tier\": \"minimal\",\n  \"guard\": true\n}\n", "guard", "{\n  \"tier\": \"minimal\"\n}\n"},
		{"{\n  \"tier\": \"minimal\",\n  \"guard\": true\n}\n", "tier", "{\n  \"guard\": true\n}\n"},
		{"{\n  // keep\n  \"tier\": \"minimal\", \"guard\": true\n}\n", "tier", "{\n  // keep\n \"guard\": true\n}\n"},
		{"{\"a\": 1, \"guard\": true,}", "guard", "{\"a\": 1,}"},
		{"{\"guard\": true}", "guard", "{}"},
		{"{\"guard\": true, \"guard\": false}", "guard", "{}"},
		{`{"antiSpam": {"enabled": true, "minIntervalSeconds": 3}, "antiSpam.enabled": false}`, "antiSpam.enabled", `{"antiSpam": { "minIntervalSeconds": 3}}`},
		{`{"a": 1}`, "guard", `{"a": 1}`},
		{"", "guard", ""},
	} {
		got, err := unsetKey([]byte(c.before), c.key)
		if err != nil || string(got) != c.after {
			t.Errorf("unset %s in %q: %q, %v, want %q", c.key, c.before, got, err, c.after)
		}
	}
	if err := Unset(filepath.Join(t.TempDir(), "none"), "guard"); err != nil {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSetRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	var keyErr *KeyError
	if err := Set(file, "teir", "minimal"); !errors.As(err, &keyErr) || len(keyErr.Known) != int(keyCount) {
		t.Errorf("unknown key: %v", err)
	}
	if err := Unset(file, "antiSpam"); !errors.As(err, &keyErr) {
		t.Errorf("a section is no key: %v", err)
	}
	for key, value := range map[string]string{
		"tier": "huge", "guard": "maybe", "maxFileSize": "-1", "retention.maxAgeDays": "1.5", "ignore": `["a"`, "retention.maxSize": "1e30", "minFreeDisk": "5",
	} {
		var valueErr *ValueError
		if err := Set(file, key, value); !errors.As(err, &valueErr) || valueErr.Allowed == "" {
			t.Errorf("%s %q: %v", key, value, err)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused Set made the file")
	}
	for _, content := range []string{"tier: minimal\n", "[1]", "{\"a\": }", strings.Repeat("[", 5000), "{} {}"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var jsonErr *NotJSONError
		if err := Set(file, "guard", "true"); !errors.As(err, &jsonErr) || jsonErr.File != file {
			t.Errorf("%.20q: %v", content, err)
		}
		if err := Unset(file, "guard"); !errors.As(err, &jsonErr) {
			t.Errorf("%.20q: %v", content, err)
		}
		if got, _ := os.ReadFile(file); string(got) != content {
			t.Errorf("%.20q was touched", content)
		}
	}
}

func TestSetFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "config.json")
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "config.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := Set(link, "guard", "false"); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Lstat(link); st.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if got, _ := os.ReadFile(real); !bytes.Contains(got, []byte(`"guard": false`)) {
		t.Errorf("the target holds %q", got)
	}
}

// What Set writes, Load reads, whatever the file looked like; all other keys
// keep their values, and Unset takes it away again.
func FuzzSet(f *testing.F) {
	for _, s := range []string{
		"", "{}", "{ }", "{\n}", `{"tier":"minimal"}`, "{\n\t\"antiSpam\": {\n\t\t\"enabled\": true, // c\n\t},\n}", `{"antiSpam.enabled":false,"antiSpam":{}}`,
		"// c\n{\"a\":1 /*x*/ , \"retention\": {\"maxSize\": 1 // y\n}}", "\ufeff{}\r\n", `{"antiSpam": 3}`, `{"tier": null}`, "{\"a\":[{}], // z\n}",
	} {
		for i := range keys {
			f.Add([]byte(s), i)
		}
	}
	values := map[kind]string{kindFlag: "true", kindCount: "7", kindSize: "3MiB", kindList: `["p", "q"]`}
	f.Fuzz(func(t *testing.T, before []byte, index int) {
		if index < 0 || index >= keyCount {
			return
		}
		k := &keys[index]
		value := values[k.kind]
		if k.kind == kindWord {
			value = k.Choices[0]
		}
		text, ok := k.encode(value)
		if !ok {
			t.Fatalf("%s cannot be %s", k.Name, value)
		}
		after, err := setKey(before, k.Name, text)
		if err != nil {
			return
		}
		old, now := handSet(t, before), handSet(t, after)
		for i := range keys {
			if i == index {
				if want, _ := parseValue(t, k, text); !reflect.DeepEqual(now[i], want) {
					t.Fatalf("%s is %v after set in %q: %q", k.Name, now[i], before, after)
				}
			} else if !reflect.DeepEqual(old[i], now[i]) {
				t.Fatalf("%s changed from %v to %v: %q -> %q", keys[i].Name, old[i], now[i], before, after)
			}
		}
		again, err := setKey(after, k.Name, text)
		if err != nil || !bytes.Equal(again, after) {
			t.Fatalf("a second set changed %q to %q (%v)", after, again, err)
		}
		gone, err := unsetKey(after, k.Name)
		if err != nil {
			t.Fatalf("unset in %q: %v", after, err)
		}
		left := handSet(t, gone)
		for i := range keys {
			if i == index && left[i] != nil || i != index && !reflect.DeepEqual(old[i], left[i]) {
				t.Fatalf("unset %s left %s = %v: %q -> %q", k.Name, keys[i].Name, left[i], after, gone)
			}
		}
	})
}

func handSet(t *testing.T, content []byte) (out [keyCount]any) {
	t.Helper()
	d, err := parseObject(content)
	if err != nil {
		t.Fatalf("%q: %v", content, err)
	}
	if d.o == nil {
		return out
	}
	l := loader{}
	var hand [keyCount]slot
	l.object(d.o, "", "f", FromProject, &hand)
	for i := range hand {
		out[i] = hand[i].value
	}
	return out
}

func parseValue(t *testing.T, k *Key, text []byte) (any, bool) {
	t.Helper()
	d, err := parseObject([]byte(`{"v": ` + string(text) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return k.decode(d.o.Members[0].Value.Value)
}
