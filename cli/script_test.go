package cli_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/internal/testkit/remains"
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

// TestScript plays the scenes of testdata/script, one per command. Each begins
// in $WORK/proj, with an empty home.
func TestScript(t *testing.T) {
	schemas, err := filepath.Abs("../docs/schema")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(cli.SchemaVariable, schemas)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			proj := filepath.Join(env.WorkDir, "proj")
			for _, d := range []string{home, proj} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					return err
				}
			}
			env.Setenv("HOME", home)
			env.Setenv("PAGER", "cat")
			env.Vars = append(env.Vars, cli.RaceExit)
			install, err := filepath.Abs("../install.sh")
			if err != nil {
				return err
			}
			env.Setenv("INSTALL", install)
			dir := sceneProgram(t, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-"))
			env.Setenv("PROGRAM", filepath.Join(dir, filepath.Base(program(t))))
			env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Cd = proj
			return nil
		},
		Cmds: withAgents(map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"rewind":              cmdProgram("rewind"),
			"smart-checkpoint.sh": cmdProgram("smart-checkpoint.sh"),
			"exit":                cmdExit,
			"installed":           cmdInstalled,
			"json":                cmdJSON,
			"prompt":              cmdPrompt,
			"event":               cmdEvent,
			"mode":                cmdMode,
			"nowhere":             cmdNowhere,
			"random":              cmdRandom,
			"s3":                  cmdS3(t),
			"types":               cmdTypes,
		}),
	})
}

// s3 VAR all | once | unconditional: VAR is the URL of a place of a new S3 server, with credentials that allow all, or that allow only to read, and
// to write what is not there yet; or on a server that does not know conditions.
func cmdS3(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: s3 VAR all | once | unconditional")
		}
		s := s3server.New(t)
		switch args[1] {
		case "once":
			s.Policy = func(r *http.Request) bool {
				return r.Method == http.MethodGet || r.Method == http.MethodPut && r.Header.Get("If-None-Match") == "*"
			}
		case "unconditional":
			s.Conditions = "501"
		}
		for _, v := range s.Environ() {
			name, value, _ := strings.Cut(v, "=")
			ts.Setenv(name, value)
		}
		ts.Setenv(args[0], s.Address("project"))
	}
}

// exit N cmd args…: the command ends with exactly this code.
func cmdExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit N cmd args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := runChecked(ts, args[1], args[2:]); err != nil {
		var ee interface{ ExitCode() int }
		if !errors.As(err, &ee) {
			ts.Fatalf("%v", err)
		}
		got = ee.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// nowhere TEXT DIR…: no file below them holds the text, compressed or not.
func cmdNowhere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: nowhere TEXT DIR…")
	}
	var dirs []string
	for _, dir := range args[1:] {
		dirs = append(dirs, ts.MkAbs(dir))
	}
	found, err := remains.Find(args[0], dirs...)
	ts.Check(err)
	if (len(found) == 0) == neg {
		ts.Fatalf("%q is in %v", args[0], found)
	}
}

// installed: the program is in ~/.local/bin, and is run from there.
func cmdInstalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: installed")
	}
	exe, err := exec.LookPath("rewind")
	ts.Check(err)
	dir := filepath.Join(ts.Getenv("HOME"), ".local", "bin")
	ts.Check(os.MkdirAll(dir, 0o755))
	to := filepath.Join(dir, "rewind")
	if os.Link(exe, to) != nil { // on another file system; by a process of its own, since a program that a fork of this one has open for writing cannot be run
		ts.Check(exec.Command("cp", exe, to).Run())
	}
	ts.Setenv("PATH", dir+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}

// json PATH VALUE | json PATH ~ REGEXP | json PATH len N | json PATH keys a b c |
// json PATH set VAR, on the stdout of the command before. ! json PATH: it is not
// there. PATH is like .checkpoints[0].id, or . for the whole; strings are
// compared as they are, all else as JSON.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: json PATH …")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	if dec.More() {
		ts.Fatalf("stdout has more than one document")
	}
	v, ok := lookPath(doc, args[0])
	if len(args) == 1 {
		if ok == neg {
			ts.Fatalf("%s: there: %v", args[0], ok)
		}
		return
	}
	if !ok {
		ts.Fatalf("%s is not in the document", args[0])
	}
	got := asText(v)
	switch {
	case args[1] == "set" && len(args) == 3:
		ts.Setenv(args[2], got)
		return
	case args[1] == "~" && len(args) == 3:
		ok = regexp.MustCompile(args[2]).MatchString(got)
	case args[1] == "len" && len(args) == 3:
		n := -1
		switch v := v.(type) {
		case []any:
			n = len(v)
		case map[string]any:
			n = len(v)
		}
		ok, got = strconv.Itoa(n) == args[2], strconv.Itoa(n)
	case args[1] == "keys":
		m, _ := v.(map[string]any)
		var keys []string
		for k := range m {
			keys = append(keys, k)
		}
		want := slices.Clone(args[2:])
		sort.Strings(keys)
		sort.Strings(want)
		ok, got = slices.Equal(keys, want), strings.Join(keys, " ")
	case len(args) == 2:
		ok = got == args[1]
	default:
		ts.Fatalf("json: what is %v?", args)
	}
	if ok == neg {
		ts.Fatalf("%s is %s, want %v (negated: %v)", args[0], got, args[1:], neg)
	}
}

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// lookPath follows .name and [index] steps; [name=value] finds the object with that field.
func lookPath(v any, path string) (any, bool) {
	for path = strings.TrimPrefix(path, "."); path != ""; path = strings.TrimPrefix(path, ".") {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			step, after, ok := strings.Cut(rest, "]")
			list, isList := v.([]any)
			if !ok || !isList {
				return nil, false
			}
			i := -1
			if key, want, isMatch := strings.Cut(step, "="); isMatch {
				i = slices.IndexFunc(list, func(e any) bool {
					m, _ := e.(map[string]any)
					return asText(m[key]) == want
				})
			} else if n, err := strconv.Atoi(step); err == nil {
				i = n
			}
			if i < 0 || i >= len(list) {
				return nil, false
			}
			v, path = list[i], after
			continue
		}
		n := strings.IndexAny(path, ".[")
		if n < 0 {
			n = len(path)
		}
		m, isMap := v.(map[string]any)
		next, ok := m[path[:n]]
		if !isMap || !ok {
			return nil, false
		}
		v, path = next, path[n:]
	}
	return v, true
}

// mode FILE OCTAL: permission bits of a path, not following a link.
func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: mode FILE OCTAL")
	}
	st, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(st.Mode().Perm()), 8); (got == args[1]) == neg {
		ts.Fatalf("%s has mode %s", args[0], got)
	}
}

// random FILE N: N bytes that do not compress, the same ones every time.
func cmdRandom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: random FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, x := make([]byte, n), uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o644))
}
