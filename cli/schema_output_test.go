package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// documents are calls whose answers are held to the schemas, in this order in
// one project; a dash stands for an edit of it. Every command has one here at
// least: the scenes in testdata/script hold theirs to the schemas as well.
var documents = []string{
	"init",
	"config", "config tier", "config guard true", "config --unset guard", "config --register-hooks --agent claude", "config --unregister-hooks",
	"-",
	"save with a text --name first",
	"-",
	"save", "list --all", "show last --files --coverage", "diff prev last", "diff first --stat", "diff --name-status",
	"history a.txt", "history -p a.txt", "grep line", "grep --prompts first", "blame a.txt", "blame a.txt --at prev -L 1,2", "attempts", "compare prev last", "compare first -p", "ls last", "cat last a.txt", "cat last --transcript", "export last -o ../snap.tar.gz",
	"checkout prev ../old", "bisect --run false",
	"pin prev", "unpin prev", "rename prev second", "log", "restore prev --dry-run", "restore prev", "undo-restore", "redo-restore", "undo", "redo", "undo 1", "undo-restore --to 1", "log",
	"revert --tool toolu_none", "revert prompt~1",
	"run -- true",
	"export --format git -o ../history.git",
	"import -n",
	"back", "sessions", "status", "", "stats", "validate", "verify --read-data", "repair", "gc --keep 1", "gc --dry-run",
	"forget --yes -- b.txt", "forget --yes --text absent", "stores", "rescue", "stores rm ffffffffffffffffffffffffffffffff",
	"remote add origin ../remote --manual", "push", "pull", "remote", "remote key", "remote key add age1s2nmjs3yk3yet37rrd5x9u9pp4t0wcsmwwnrn3vrhgej55mhqp3su556jd", "remote key rotate", "remote check", "remote gc --dry-run", "clone ../remote ../clone", "share last", "share --list", "share --remove 0000000000000000",
	"completion bash", "man ../man", "help", "help restore", "restore --help", "--version", "--help", "nonsense",
	"deinit --dry-run", "deinit --yes", "list",
}

// Every command with --json prints a document that fits its schema.
func TestEveryCommandFitsItsSchema(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	for _, d := range []string{filepath.Join(home, ".claude"), project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	schemas, err := filepath.Abs(filepath.Join("..", "docs", "schema"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(SchemaVariable, schemas)
	t.Chdir(project)
	answered := map[string]bool{} // not with an error
	for n, line := range documents {
		if line == "-" {
			for name, text := range map[string]string{"a.txt": strings.Repeat("line\n", n), "b.txt": "b\n", "odd\xff": "x"} {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		args := append(strings.Fields(line), "--json")
		if i := strings.Index(line, " -- "); i >= 0 {
			args = append(append(strings.Fields(line[:i]), "--json"), strings.Fields(line[i:])...)
		}
		env := account.Env{Home: home, Dir: project, Now: time.Now, Getenv: func(string) string { return "" }}
		code, out, stderr := runIn(env, args...)
		if out == "" {
			t.Errorf("rewind %s: nothing on stdout, exit code %d, stderr %s", line, code, stderr)
		}
		if err := CheckDocument(args, []byte(out)); err != nil {
			t.Errorf("rewind %v", err)
		}
		if !strings.HasPrefix(out, `{"error":`) && line != "" {
			answered[strings.Fields(line)[0]] = true
		} else if testing.Verbose() {
			t.Logf("rewind %s: %s", line, out)
		}
	}
	// A conversation takes an agent: the scenes "talk" and "clients_talk" have some.
	answered["back"] = true
	answered["revert"] = true // nor what an agent did: the scene "revert"
	answered["watch"] = true  // it ends by a signal: the scene "watch"
	answered["ui"] = true     // the same: TestPageIsLive
	var table strings.Builder
	for _, e := range entries() {
		if unanswered[e.name] != "" {
			continue
		}
		table.WriteString(schemaRow(e.name) + "\n")
		if !answered[e.name] {
			t.Errorf("%s: no answer of it is held to its schema: it needs a line in documents", e.name)
		}
	}
	page := filepath.Join(schemas, "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rows, _ := strings.Cut(string(text), "|---|---|\n")
	if rows == table.String() {
		return
	}
	if !*update {
		t.Errorf("docs/schema/README.md is not what the table of commands says: go test ./cli -run EveryCommandFits -update makes it so")
	} else if err := os.WriteFile(page, []byte(head+"|---|---|\n"+table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
