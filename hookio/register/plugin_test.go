package register

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

func TestPlugin(t *testing.T) {
	files := map[string]PluginFile{}
	for _, f := range Plugin("1.2.3", "/opt/it's/rewind") {
		if files[f.Path] = f; path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path {
			t.Errorf("path %q", f.Path)
		}
		if strings.HasSuffix(f.Path, ".json") && !json.Valid([]byte(f.Content)) {
			t.Errorf("%s is no JSON:\n%s", f.Path, f.Content)
		}
	}
	var manifest struct{ Name, Version string }
	if err := json.Unmarshal([]byte(files[".claude-plugin/plugin.json"].Content), &manifest); err != nil || manifest.Name != "rewind" || manifest.Version != "1.2.3" {
		t.Errorf("%+v, %v", manifest, err)
	}
	for _, name := range []string{"list", "back", "status", "restore", "undo", "redo", "revert"} {
		if _, _, ok := hookio.ParseInSession("/rewind:" + name); !ok || !strings.HasPrefix(files["commands/"+name+".md"].Content, "---\ndescription: ") {
			t.Errorf("command %s: %q", name, files["commands/"+name+".md"].Content)
		}
	}
	if _, _, ok := hookio.ParseInSession("/rewind:undo-restore"); !ok || files["commands/undo-restore.md"].Content != "" {
		t.Error("an older name is not answered, or it is offered")
	}
	if words := len(strings.Fields(files["README.md"].Content)); words < 40 {
		t.Errorf("README has %d words", words)
	}
	entries, err := entries([]byte(files["hooks/hooks.json"].Content))
	if err != nil || len(entries) != len(claude.hooks) {
		t.Errorf("%v, %v", entries, err)
	}
}

// The shim runs the program where it was installed, else the one on PATH, and
// is silent and successful where there is none.
func TestPluginShim(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	dir := t.TempDir()
	write := func(file, content string) string {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	shim := func(exe string) string {
		for _, f := range Plugin("1", exe) {
			if f.Executable {
				return write("plugin/"+f.Path, f.Content)
			}
		}
		t.Fatal("no shim")
		return ""
	}
	run := func(exe, search string) string {
		c := exec.Command("/bin/sh", shim(exe), "hook", "a b")
		c.Env = []string{"PATH=" + search + ":/usr/bin:/bin", "HOME=" + filepath.Join(dir, "nowhere")}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	installed := write("it's here/rewind", "#!/bin/sh\necho \"installed $1 $2\"\n")
	other := write("other/rewind", "#!/bin/sh\necho \"other $1 $2\"\n")
	if got := run(installed, ""); got != "installed hook a b\n" {
		t.Errorf("%q", got)
	}
	bin := filepath.Join(dir, "plugin", "bin")
	if got := run("/gone/rewind", bin+":"+filepath.Dir(other)); got != "other hook a b\n" {
		t.Errorf("%q", got)
	}
	if got := run("/gone/rewind", bin); got != "" {
		t.Errorf("%q", got)
	}
}
