package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// home is an account and a project with config files, for one test.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newHome(t *testing.T) *home { return &home{t, t.TempDir(), map[string]string{}} }

func (h *home) write(name, content string) string {
	h.t.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return file
}

func (h *home) load() (*Settings, []Warning) {
	return Load(Options{
		AccountFile: filepath.Join(h.dir, "account.json"),
		ProjectFile: filepath.Join(h.dir, "project.json"),
		TiersDir:    filepath.Join(h.dir, "tiers"),
		Getenv:      func(k string) string { return h.env[k] },
	})
}

func TestDefaults(t *testing.T) {
	s, warnings := newHome(t).load()
	if len(warnings) != 0 {
		t.Errorf("warnings about nothing: %v", warnings)
	}
	want := map[string]any{
		"tier": "balanced", "storage.mode": "project", "autoInit": false,
		"antiSpam.enabled": true, "antiSpam.minIntervalSeconds": int64(30),
		"significance.enabled": true, "significance.minChangeSize": int64(50),
		"ignore": []string(nil), "forceInclude": []string(nil), "captureIgnored": "precious", "redact": []string(nil),
		"maxFileSize": int64(4 << 30), "retention.maxCheckpoints": nil, "retention.maxAgeDays": nil,
		"retention.maxSize": int64(10 << 30), "retention.thin": false, "retention.auto": true,
		"minFreeDisk": int64(1 << 30), "durability": "full", "guard": true, "silentCheckpoints": false, "warnUninitialised": "once", "notice": true,
		"watch": false, "push.flush": nil, "push.limit": int64(0),
	}
	for _, v := range s.Values() {
		w, ok := want[v.Key]
		if v.Key == "significance.criticalFiles" {
			continue
		}
		if v.Key == "precious" { // a long list: some that nobody may lose
			for _, p := range []string{".env", ".env.*", "*.local.*", "*.pem", "*.db"} {
				if !slices.Contains(v.Value.([]string), p) || !slices.Contains(s.Precious, p) {
					t.Errorf("%s is not precious", p)
				}
			}
			continue
		}
		if v.Key == "green.commands" { // TestIsTest says what is in it
			continue
		}
		if !ok || !reflect.DeepEqual(v.Value, w) {
			t.Errorf("%s = %#v, want %#v", v.Key, v.Value, w)
		}
	}
	if s.AntiSpam.MinInterval != 30*time.Second || s.Retention.MaxSize != 10<<30 || !s.Guard || s.Retention.MaxAge != 0 {
		t.Errorf("typed fields differ from the values: %+v", s)
	}
}

// The table of tiers in the command contract.
func TestTiers(t *testing.T) {
	for _, c := range []struct {
		tier     string
		antiSpam AntiSpam
		size     int
		moments  string
	}{
		{"minimal", AntiSpam{false, 0}, 0, "session-start"},
		{"balanced", AntiSpam{true, 30 * time.Second}, 50, "session-start prompt pre-edit pre-shell stop"},
		{"aggressive", AntiSpam{true, 15 * time.Second}, 25, "session-start prompt pre-edit pre-shell post-shell stop subagent-stop session-end"},
	} {
		h := newHome(t)
		h.write("account.json", `{"tier": "`+c.tier+`"}`)
		s, warnings := h.load()
		if len(warnings) > 0 {
			t.Errorf("%s: %v", c.tier, warnings)
		}
		if s.Tier != c.tier || s.AntiSpam != c.antiSpam || s.Significance.MinChangeSize != c.size || strings.Join(s.Moments, " ") != c.moments {
			t.Errorf("%s: %+v", c.tier, s)
		}
		for _, m := range momentNames {
			if got, want := s.FiresAt(m), strings.Contains(" "+c.moments+" ", " "+m+" "); got != want {
				t.Errorf("%s: FiresAt(%s) = %v", c.tier, m, got)
			}
		}
	}
}

func TestPrecedence(t *testing.T) {
	h := newHome(t)
	account := h.write("account.json", `{"tier": "minimal", "autoInit": true, "maxFileSize": "1GiB", "ignore": ["a"]}`)
	project := h.write("project.json", `{
		// by hand
		"tier": "aggressive",
		"antiSpam.minIntervalSeconds": 7, /* dotted */
		"significance": {"minChangeSize": 3,},
		"ignore": ["*.log", "build/"],
	} // end`)
	check := func(key string, value any, origin Origin) {
		t.Helper()
		s, warnings := h.load()
		if len(warnings) != 0 {
			t.Errorf("warnings: %v", warnings)
		}
		v, ok := s.Value(key)
		if !ok || !reflect.DeepEqual(v.Value, value) || v.Origin != origin {
			t.Errorf("%s = %+v, want %v from %+v", key, v, value, origin)
		}
	}
	check("tier", "aggressive", Origin{FromProject, project})
	check("autoInit", true, Origin{FromAccount, account})
	check("maxFileSize", int64(1<<30), Origin{FromAccount, account})
	check("ignore", []string{"*.log", "build/"}, Origin{FromProject, project})
	check("antiSpam.minIntervalSeconds", int64(7), Origin{FromProject, project})
	check("antiSpam.enabled", true, Origin{FromTier, "aggressive"})
	check("guard", true, Origin{Source: FromDefault})
	h.env["CHECKPOINT_TIER"] = "balanced"
	check("tier", "balanced", Origin{FromEnvironment, "CHECKPOINT_TIER"})
	h.env["REWIND_TIER"] = "minimal"
	check("tier", "minimal", Origin{FromEnvironment, "REWIND_TIER"})
	check("antiSpam.enabled", false, Origin{FromTier, "minimal"})
	check("antiSpam.minIntervalSeconds", int64(7), Origin{FromProject, project}) // by hand beats the tier

	s, _ := h.load()
	var shadows []string
	for _, v := range s.ShadowsTier() {
		shadows = append(shadows, v.Key+" "+v.Origin.Name)
	}
	if want := []string{"antiSpam.minIntervalSeconds " + project, "significance.minChangeSize " + project}; !reflect.DeepEqual(shadows, want) {
		t.Errorf("shadows %v, want %v", shadows, want)
	}
}

func TestTierFiles(t *testing.T) {
	for name, content := range map[string]string{
		"runtime": `{"tier":"balanced","description":"d","runtime":{"antiSpam":{"enabled":true,"minIntervalSeconds":5},"significance":{"minChangeSize":9,"criticalFiles":["x"]}},"hooks":{"PreToolUse":[{"matcher":"Edit"}]}}`,
		"flat":    `{"tier":"balanced","antiSpam":{"enabled":true,"minIntervalSeconds":5},"significance":{"enabled":true,"minChangeSize":9,"criticalFiles":["x"]},"hooks":{"SessionStart":[]}}`,
		"older":   `{"antiSpam":{"minInterval":5},"significanceDetection":{"minChangeSize":9,"criticalFiles":["x"],"excludePatterns":["node_modules/"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			file := h.write("tiers/balanced.json", content)
			h.write("tiers/minimal.json", `{"antiSpam":{"minIntervalSeconds":99}}`) // another tier's: no influence
			s, warnings := h.load()
			if len(warnings) != 0 {
				t.Errorf("warnings: %v", warnings)
			}
			if s.AntiSpam != (AntiSpam{true, 5 * time.Second}) || s.Significance.MinChangeSize != 9 || !reflect.DeepEqual(s.Significance.CriticalFiles, []string{"x"}) || !s.Significance.Enabled {
				t.Errorf("%+v", s)
			}
			if !s.FiresAt(Prompt) || s.FiresAt(PostShell) {
				t.Errorf("moments %v are not those of the built-in tier", s.Moments)
			}
			if v, _ := s.Value("antiSpam.minIntervalSeconds"); v.Origin != (Origin{FromTier, file}) {
				t.Errorf("origin %+v", v.Origin)
			}
		})
	}
	h := newHome(t)
	file := h.write("tiers/balanced.json", `{"runtime":{"moments":["stop","no such"],"antiSpam":{"enabled":"yes"}}}`)
	s, warnings := h.load()
	if !reflect.DeepEqual(s.Moments, []string{"stop"}) || !s.AntiSpam.Enabled || len(warnings) != 2 || warnings[0].Source != file {
		t.Errorf("%v, %v", s.Moments, warnings)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ content, key, problem, allowed string }{
		{`{"teir": "minimal"}`, "teir", "is unknown", ""},
		{`{"tier": "huge"}`, "tier", `is "huge"`, `"minimal", "balanced" or "aggressive"`},
		{`{"tier": 3}`, "tier", "is 3", `"minimal", "balanced" or "aggressive"`},
		{`{"autoInit": "true"}`, "autoInit", `is "true"`, "true or false"},
		{`{"antiSpam": true}`, "antiSpam", "is true", "an object"},
		{`{"antiSpam": {"enable": true}}`, "antiSpam.enable", "is unknown", ""},
		{`{"antiSpam": {"minIntervalSeconds": -1}}`, "antiSpam.minIntervalSeconds", "is -1", "a whole number from 0 to 31622400"},
		{`{"antiSpam": {"minIntervalSeconds": 1.5}}`, "antiSpam.minIntervalSeconds", "is 1.5", "a whole number from 0 to 31622400"},
		{`{"maxFileSize": "big"}`, "maxFileSize", `is "big"`, `a size such as "500MiB" or "10GiB", a number of bytes from 1024 on, or 0`},
		{`{"maxFileSize": 99999999999999999999}`, "maxFileSize", "is 99999999999999999999", `a size such as "500MiB" or "10GiB", a number of bytes from 1024 on, or 0`},
		{`{"ignore": "x"}`, "ignore", `is "x"`, "a list of strings"},
		{`{"ignore": ["x", 1]}`, "ignore", "is a list of other things", "a list of strings"},
		{`{"\u001b[31m": 1}`, "\x1b[31m", "is unknown", ""},
		{`{"durability": ["` + strings.Repeat("x", 100) + `"]}`, "durability", "is a list of other things", `"full" or "fast"`},
	} {
		h := newHome(t)
		file := h.write("project.json", c.content)
		s, warnings := h.load()
		want := []Warning{{file, c.key, c.problem, c.allowed}}
		if !reflect.DeepEqual(warnings, want) {
			t.Errorf("%s:\n got %#v\nwant %#v", c.content, warnings, want)
		}
		plain, _ := newHome(t).load()
		if !reflect.DeepEqual(s, plain) {
			t.Errorf("%s changed a value", c.content)
		}
		for _, w := range warnings {
			if strings.ContainsAny(w.Error(), "\x1b\n") {
				t.Errorf("control characters in %q", w.Error())
			}
		}
	}
	h := newHome(t)
	h.env["REWIND_TIER"], h.env["CHECKPOINT_TIER"] = "nonsense", "minimal"
	s, warnings := h.load()
	if s.Tier != "minimal" || len(warnings) != 1 || warnings[0].Source != "REWIND_TIER" {
		t.Errorf("%s, %v", s.Tier, warnings)
	}
}

func TestUnreadableFilesAreWarnings(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":   `tier = "minimal"`,
		"truncated": `{"tier": "minimal"`,
		"array":     `["tier"]`,
		"deep":      strings.Repeat("[", 100000),
		"huge":      `{"a":"` + strings.Repeat("x", MaxFileBytes) + `"}`,
		"binary":    "\x00\xff\xfe{}",
	} {
		h := newHome(t)
		h.write("project.json", content)
		h.write("tiers/balanced.json", content)
		s, warnings := h.load()
		if len(warnings) != 2 {
			t.Errorf("%s: %v", name, warnings)
		}
		if plain, _ := newHome(t).load(); !reflect.DeepEqual(s, plain) {
			t.Errorf("%s changed a value", name)
		}
	}
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.dir, "project.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, warnings := h.load(); len(warnings) != 1 {
		t.Errorf("a directory: %v", warnings)
	}
	for name, content := range map[string]string{"empty": "", "blank": " \n", "null values": `{"tier": null, "retention": {"maxCheckpoints": null}}`, "mark": "\ufeff{\"guard\": true}", "schema": `{"$schema": "x"}`} {
		h := newHome(t)
		h.write("project.json", content)
		if _, warnings := h.load(); len(warnings) != 0 {
			t.Errorf("%s: %v", name, warnings)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "10": 10, "1KiB": 1024, "1k": 1024, "1 kb": 1000, "1.5M": 3 << 19, "10GiB": 10 << 30, "2TB": 2e12, "500 MiB ": 500 << 20, "8191TiB": 8191 << 40,
	} {
		if n, ok := ParseSize(s); !ok || n != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, n, ok, want)
		}
	}
	for _, s := range []string{"", "GiB", "-1", "1.2.3", "1 GiBs", "9000000TiB", "inf", "NaN", "1e9", "0x10"} {
		if n, ok := ParseSize(s); ok {
			t.Errorf("ParseSize(%q) = %d", s, n)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	o := Options{AccountFile: filepath.Join(dir, "a"), ProjectFile: filepath.Join(dir, "p"), TiersDir: dir}
	if err := os.WriteFile(o.ProjectFile, []byte(`{"tier":"aggressive","ignore":["*.log"],"antiSpam":{"minIntervalSeconds":3}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Load(o)
	}
}
