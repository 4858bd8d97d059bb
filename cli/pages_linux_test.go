package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli"
)

// pages are those that people read, with how many of their command blocks are run
// here, and how many are not: of those, .ci/run or a scene runs some, the rest
// needs a network or an account. A block that is not run says so: ```sh not run.
var pages = map[string]struct{ run, not int }{
	"README.md":            {run: 2, not: 3},
	"docs/AGENTS.md":       {not: 1},
	"docs/GENERIC.md":      {not: 2}, // the scene "generic" runs both
	"docs/PI.md":           {},
	"docs/RECIPES.md":      {run: 19, not: 4},
	"docs/CHANGELOG.md":    {},
	"docs/CONTRIBUTING.md": {run: 1, not: 2},
	"docs/SECURITY.md":     {run: 1},
}

// block is a fenced block of a page, with what comes before it in comments:
//
//	<!-- before: shell commands that set the scene, in an empty project -->
//	<!-- after: commands that must succeed when the block has been run -->
type block struct {
	line          int
	info, text    string
	before, after string
}

var fence = regexp.MustCompile("(?ms)^(?:<!-- (before|after):(.*?)-->|```([^\n]*)\n(.*?)^```)$")

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	before := ""
	for _, at := range fence.FindAllSubmatchIndex(text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return string(text[at[2*n]:at[2*n+1]])
		}
		switch group(1) {
		case "before":
			before = group(2)
		case "after":
			if len(out) == 0 {
				t.Fatalf("%s: after what?", page)
			}
			out[len(out)-1].after = group(2)
		default:
			out = append(out, block{line: 1 + strings.Count(string(text[:at[0]]), "\n"), info: group(3), text: group(4), before: before})
			before = ""
		}
	}
	return out
}

// Every command block of the pages runs as it stands there, each in a project of its own.
func TestPages(t *testing.T) {
	program, err := exec.LookPath("rewind")
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range pages {
		var run, not int
		for _, b := range blocksOf(t, page) {
			switch b.info {
			case "sh":
				run++
				t.Run(fmt.Sprintf("%s:%d", page, b.line), func(t *testing.T) {
					t.Parallel()
					runBlock(t, b, program)
				})
			case "sh not run":
				not++
			case "":
				t.Errorf("%s:%d: the block says not what it is", page, b.line)
			}
		}
		if run != want.run || not != want.not {
			t.Errorf("%s: %d blocks are run and %d are not; want %d and %d", page, run, not, want.run, want.not)
		}
	}
}

func runBlock(t *testing.T, b block, program string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, home, tools := filepath.Join(dir, "project"), filepath.Join(dir, "home"), filepath.Join(dir, "tools")
	for _, d := range []string{project, home, tools, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"rewind": program, "ask": mustAbs(t, "testdata/ask.sh")} {
		if err := os.Symlink(target, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := "set -eu\n" + b.before + "\n" + b.text + "\n" + b.after
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = project
	cmd.Env = []string{cli.RaceExit, "HOME=" + home, "PATH=" + tools + ":" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "tmp"), "PAGER=cat", "LC_ALL=C.UTF-8",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n-- said\n%s", err, script, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Every link of the pages to a file or a heading leads somewhere.
func TestPagesLink(t *testing.T) {
	link := regexp.MustCompile(`(?:\]\(|src="|href=")([^)"\s]+)[)"]`)
	for page := range pages {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			to, heading, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file := filepath.Join("..", filepath.Dir(page), to)
			if to == "" {
				file = filepath.Join("..", page)
			}
			data, err := os.ReadFile(file)
			if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
				continue
			}
			if heading != "" && !strings.Contains(anchors(string(data)), "\n"+heading+"\n") {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// anchors are the names that headings have in a link, one a line.
func anchors(text string) string {
	out := "\n"
	for _, l := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(l, "#"); ok {
			title = strings.ToLower(strings.TrimSpace(strings.TrimLeft(title, "#")))
			out += strings.ReplaceAll(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(title, ""), " ", "-") + "\n"
		}
	}
	return out
}
