//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

func TestMain(m *testing.M) {
	if ahead, err := time.ParseDuration(os.Getenv(clockVariable)); err == nil {
		env := account.Environment()
		env.Now = func() time.Time { return time.Now().Add(ahead) }
		os.Exit(cli.Main(append([]string{"rewind"}, os.Args[1:]...), env, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Unsetenv("GOGC") // of make test, as the next one: the programs that tests start have none
	os.Unsetenv("GOMEMLIMIT")
	os.Exit(m.Run())
}

// The picture in docs is one that the program of today draws: the same lines and
// styles, but for ids, ages and byte counts.
func TestPictureIsOfToday(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.svg")
	if err := draw(file, 0); err != nil {
		if strings.Contains(err.Error(), "/dev/pt") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	now, want := structure(t, file), structure(t, "../../docs/session.svg")
	if now != want {
		t.Errorf("go run ./bench/picture docs/session.svg draws it anew; docs has\n%s\nthe program has\n%s", want, now)
	}
	if tool, err := exec.LookPath("xmllint"); err == nil {
		if out, err := exec.Command(tool, "--noout", file).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func structure(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if i := strings.Index(text, "<text "); i >= 0 {
		text = text[i:]
	}
	for _, r := range [][2]string{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "SESSION"}, {`\b[k-z]{8}([k-z]{8})?\b`, "ID"}, {`\b\d+[smhd]\b`, "AGE"}, {`x="[\d.]+" (y="\d+") textLength="[\d.]+"`, "$1"},
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

func TestLines(t *testing.T) {
	got := lines("a \x1b[1;32mb\x1b[0m\r\n\x1b[2mold\r\x1b[Knew")
	if len(got) != 2 || len(got[0]) != 2 || got[0][1].class != "b c2" || got[0][1].column != 2 || len(got[1]) != 1 || got[1][0].text != "new" {
		t.Errorf("%+v", got)
	}
}
