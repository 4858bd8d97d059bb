package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInPlace plays scripts as sed and perl do, which judge where they are there; "?" is a script of which
// nothing is known.
func TestInPlace(t *testing.T) {
	const text = "{\n  \"theme\": \"dark\",\n  \"hooks\": { \"a\": 1 },\n  \"b\": \"dark (x+y)\"\n}\n"
	for script, want := range map[string]string{
		"sed -i 's/dark/light/' f":                        "{\n  \"theme\": \"light\",\n  \"hooks\": { \"a\": 1 },\n  \"b\": \"light (x+y)\"\n}\n",
		"sed -i '' -e 's|dark|li\\|ght|' f":               "",
		"sed -i '/hooks/d' f":                             "",
		"sed -i.bak -e '2d' -e '$d' f":                    "",
		"sed -i '2,/b/d' f":                               "",
		"sed -i '/hooks/,$!d' f":                          "",
		"sed -i 's/(x+y)/[&]/;s/\\(a\\)/\\1\\1/g' f":      "",
		"sed -Ei 's/\\(x.y\\)|dark/<&>/g' f":              "",
		"sed -i 's/[\"{]/q/g' f":                          "",
		"sed -i 's#dark#a/b$1#' f":                        "",
		"sed -i 's/DARK/x/I' f":                           "",
		"sed -i 's/a*/x/' f":                              "",
		"sed -i 2d f":                                     "",
		"perl -pi -e 's/da(r)k/$1/g' f":                   "",
		"perl -i -pe 's/\"(\\w+)\": 1/\"$1\": 2/' f":      "",
		"perl -0pi -e 's/\\{\\n.*?,/{/s' f":               "?",
		"perl -0777 -pi -e 's/theme\": \"dark\",\\n//' f": "",
		"sed -i -n '/dark/p' f":                           "?",
		"sed -i -f script f":                              "?",
		"sed -i 's/a/b/e' f":                              "?",
		"sed -i 'y/abc/xyz/' f":                           "?",
		"sed -i 's/a/\\U&/' f":                            "?",
		"sed -i '/a/{d}' f":                               "?",
		"perl -pi -e 'print 1' f":                         "?",
		"perl -pi -e 's/a/$x/' f":                         "?",
		"ruby -pi -e 's' f":                               "?",
	} {
		var got string
		Walk(script, "/p", nil, func(inv *Invocation) {
			files, apply := inv.InPlace()
			switch {
			case len(files) != 1 || files[0].Text != "f":
				t.Errorf("%s: files %v", script, files)
			case apply == nil:
				got = "?"
			default:
				got = apply(text)
			}
		})
		if want == "?" || got == "?" {
			if got != want {
				t.Errorf("%s: %q", script, got)
			}
			continue
		}
		if want != "" && got != want {
			t.Errorf("%s: %q", script, got)
		}
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if script == "sed -i '' -e 's|dark|li\\|ght|' f" { // BSD's, and with GNU's another script
			continue
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = filepath.Dir(file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s cannot be judged here: %v %s", script, err, out)
			continue
		}
		if judged, err := os.ReadFile(file); err != nil || string(judged) != got {
			t.Errorf("%s: %q, the program makes %q (%v)", script, got, judged, err)
		}
	}
}
