package scan

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

// marked lists the paths that are marked in a result's tree.
func (p *project) marked(r *Result) string {
	p.t.Helper()
	var out []string
	err := manifest.Walk(p.sink.Load, r.Root, func(path string, e manifest.Entry) error {
		if e.Precious {
			out = append(out, path)
		}
		return nil
	})
	p.do(err)
	return strings.Join(out, " ")
}

// Marks come and go with the rules, the index and the files, whatever the stat cache knows:
// check compares each scan with one that knows nothing.
func TestPrecious(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		list := []string{".env", "*.key", ".vscode/", "conf/prod.pem"}
		tracked := map[string]bool{}
		n := uint64(0)
		rules := func(capture string, list ...string) {
			n++
			now := maps.Clone(tracked)
			p.opts.Rules = compile(t, ignore.Config{
				CaptureIgnored: capture, Precious: list, TrackedHash: n,
				Tracked:      func(path string) bool { return now[path] },
				TrackedBelow: func(string) bool { return false },
			})
		}
		want := func(what, marks string, files ...string) *Result {
			t.Helper()
			var r *Result
			for range 2 { // read, and then from the stat cache
				settle()
				r = p.check()
				if got := p.marked(r); got != marks {
					t.Fatalf("%s: %q is marked, want %q", what, got, marks)
				}
				got := slices.DeleteFunc(slices.Sorted(maps.Keys(p.sink.tree(t, r.Root))), func(path string) bool {
					return path == ".gitignore" || path == "a" || path == "sub" || path == "sub/.gitignore"
				})
				if slices.Sort(files); !slices.Equal(got, files) {
					t.Fatalf("%s: the tree has %q, want %q", what, got, files)
				}
			}
			return r
		}
		p.write(".gitignore", ".env\n*.key\n.vscode/\n/conf/\n/heavy/\n*.log\n")
		p.write("a", "a")
		for _, path := range []string{".env", "x.key", "x.log", ".vscode/s", "conf/prod.pem", "conf/other", "heavy/.env", "sub/.env"} {
			p.write(path, path)
		}
		p.do(os.Symlink("elsewhere", p.path("link.key")))
		all := ".env .vscode/s conf/prod.pem link.key sub/.env x.key"
		files := append(strings.Fields(all), ".vscode", "conf")
		rules("none", list...)
		want("none", "")
		rules("precious", list...)
		want("precious", all, files...)
		rules("small", list...)
		want("small", all, append(files, "x.log")...)
		rules("precious", list[:1]...)
		want("another list", ".env sub/.env", ".env", "sub/.env")
		rules("precious", list...)
		tracked[".env"] = true
		rules("precious", list...)
		want("tracked", strings.TrimPrefix(all, ".env "), files...)
		tracked[".env"] = false
		rules("precious", list...)
		want("no longer tracked", all, files...)
		p.write("sub/.gitignore", "!.env\n")
		want("no longer ignored", ".env .vscode/s conf/prod.pem link.key x.key", files...)
		p.do(os.Remove(p.path("sub/.gitignore")))
		want("ignored again", all, files...)

		// Too large, and small enough again; the same size at other times. With -race, 10 MiB take seconds.
		if testing.Short() {
			return
		}
		p.do(os.Truncate(p.path("x.key"), preciousFile+1))
		r := want("too large", strings.TrimSuffix(all, " x.key"), slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == "x.key" })...)
		if !slices.ContainsFunc(r.Problems, func(p problem.Problem) bool {
			return p.Path == "x.key" && strings.HasPrefix(p.Reason, "ignored: ") && strings.Contains(p.Reason, "larger than the 10 MiB")
		}) {
			t.Errorf("not said: %v", r.Problems)
		}
		p.do(os.Truncate(p.path("x.key"), preciousFile))
		want("just small enough", all, files...)
		p.write(".env", "same")
		want("edited", all, files...)
		p.do(os.Remove(p.path(".env")))
		p.do(os.Mkdir(p.path(".env"), 0o755))
		p.write(".env/x.key", "of a virtual environment")
		want("a directory of the name", strings.TrimPrefix(all, ".env "), slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == ".env" })...)
		rules("all", list...)
		settle()
		r = p.check()
		if got := p.marked(r); got != ".env/x.key .vscode/s conf/prod.pem heavy/.env link.key sub/.env x.key" {
			t.Errorf("all: %q", got)
		}
	})
}
