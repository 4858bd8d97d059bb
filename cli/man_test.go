package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
)

// Each command has a page that says what its help says, and the programs that
// read such pages find nothing wrong with it.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "man1")
	env := account.Env{Dir: "/", Getenv: func(key string) string {
		if key == "SOURCE_DATE_EPOCH" {
			return "1700000000"
		}
		return ""
	}}
	code, _, stderr := runIn(env, "man", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var files []string
	for _, e := range entries() {
		if e.hidden {
			continue
		}
		c := e.make()
		file := filepath.Join(dir, "rewind-"+e.name+".1")
		files = append(files, file)
		text := readPage(t, file)
		want := []string{`"2023-11-14"`, roffText(c.Short), roffText(c.Usage)}
		if c.Flags != nil {
			f := app.NewFlagSet(e.name)
			c.Flags(f)
			f.VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					want = append(want, roffText("--"+f.Name))
				}
			})
		}
		for _, e := range c.Examples {
			want = append(want, strings.ReplaceAll(roffText(e.Line), `"`, `\(dq`), strings.TrimLeft(roffText(e.Does), "."))
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %s", e.name, w)
			}
		}
	}
	whole := filepath.Join(dir, "rewind.1")
	for _, file := range files {
		if name := roffText(strings.TrimSuffix(filepath.Base(file), ".1")); !strings.Contains(readPage(t, whole), `\fB`+name+`\fR(1)`) {
			t.Errorf("rewind.1 lacks %s", name)
		}
	}
	files = append(files, whole)
	if found, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(found) != len(files) {
		t.Errorf("%d pages for %d (%v)", len(found), len(files), err)
	}
	if tool, err := exec.LookPath("mandoc"); err == nil {
		if out, err := exec.Command(tool, append([]string{"-T", "lint", "-W", "warning"}, files...)...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	} else {
		t.Log("no mandoc here: the pages are not checked by it")
	}
	if tool, err := exec.LookPath("groff"); err == nil {
		for _, file := range files {
			if out, err := exec.Command(tool, "-ww", "-z", "-man", "-Tutf8", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRoff(t *testing.T) {
	var r roff
	r.text(`.dot \n "x"`)
	r.text("'quote")
	r.macro("B", `say "x" -n`)
	want := `\&.dot \en "x"` + "\n" + `\(aqquote` + "\n" + `.B "say \(dqx\(dq \-n"` + "\n"
	if r.String() != want {
		t.Errorf("%q, want %q", r.String(), want)
	}
	if _, err := buildDate("yesterday"); err == nil {
		t.Error("a date that is no number is taken")
	}
}

// Every command that is shown stands in one group.
func TestGroups(t *testing.T) {
	var all []string
	for _, g := range groups() {
		all = append(all, g.commands...)
	}
	for _, e := range entries() {
		n := 0
		for _, name := range all {
			if name == e.name {
				n++
			}
		}
		if n != 1 && !e.hidden || n != 0 && e.hidden {
			t.Errorf("%s is in %d groups", e.name, n)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		t.Error("a command is in two groups")
	}
}
