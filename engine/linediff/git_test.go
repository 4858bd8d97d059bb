package linediff

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// triple is what a merge is of.
type triple struct{ from, base, ours, theirs string }

// TestMergeAgainstGit merges texts of real histories, and lets git judge: where both find no conflict, they
// must come to the same text. git's merge-file and merge pair lines that occur twice in different ways, at
// times: each of the two is git's answer. -v prints how often they do.
func TestMergeAgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not there to judge")
	}
	histories, sources := 600, 200
	if os.Getenv("REWIND_SOAK") != "" {
		histories, sources = 3000, 1000
	}
	random := rand.New(rand.NewPCG(1, 2))
	triples := ofHistory(t, git, random, histories)
	if len(triples) == 0 {
		t.Log("this tree has no history of git's: sources alone")
	}
	triples = append(triples, ofSources(t, random, sources)...)
	var mu sync.Mutex
	var equal, differ, cleanHere, cleanThere, both int
	var wait sync.WaitGroup
	work := make(chan triple)
	for range runtime.GOMAXPROCS(0) {
		dir := t.TempDir()
		wait.Go(func() {
			for c := range work {
				want, gitClean, err := gitMerge(git, dir, c)
				if err != nil {
					t.Error(err)
					continue
				}
				got, clean := merged(c.base, c.ours, c.theirs)
				if clean && gitClean && got != want {
					if want, gitClean, err = gitMergeCommits(git, t.TempDir(), c); err != nil {
						t.Error(err)
						continue
					}
				}
				mu.Lock()
				switch {
				case clean && gitClean && got == want:
					equal++
				case clean && gitClean:
					differ++
					t.Errorf("%s: another text than git's\n-- base\n%s\n-- ours\n%s\n-- theirs\n%s", c.from, head(c.base), head(c.ours), head(c.theirs))
				case clean:
					cleanHere++
				case gitClean:
					cleanThere++
				default:
					both++
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range triples {
		work <- c
	}
	close(work)
	wait.Wait()
	t.Logf("%d triples: %d clean and equal, %d clean and different, %d clean where git conflicts, %d conflicts where git is clean, %d conflicts of both",
		len(triples), equal, differ, cleanHere, cleanThere, both)
	if equal < len(triples)/5 || both == 0 {
		t.Error("these triples say nothing")
	}
	if few := 5 + len(triples)/100; cleanThere > few || cleanHere > few {
		t.Errorf("more than %d are a conflict for one of the two alone", few)
	}
}

func head(s string) string { return s[:min(len(s), 2000)] }

func gitMerge(git, dir string, c triple) (text string, clean bool, err error) {
	var names []string
	for _, f := range []struct{ name, text string }{{"ours", c.ours}, {"base", c.base}, {"theirs", c.theirs}} {
		name := filepath.Join(dir, f.name)
		if err := os.WriteFile(name, []byte(f.text), 0o644); err != nil {
			return "", false, err
		}
		names = append(names, name)
	}
	cmd := exec.Command(git, append([]string{"-c", "core.attributesFile=" + os.DevNull, "merge-file", "-p", "--diff3"}, names...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		return "", false, nil
	}
	return string(out), err == nil, err
}

// gitMergeCommits is what git merge makes of it.
func gitMergeCommits(git, dir string, c triple) (text string, clean bool, err error) {
	run := func(args ...string) string {
		if err != nil {
			return ""
		}
		cmd := exec.Command(git, append([]string{"-c", "core.attributesFile=" + os.DevNull, "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = dir
		var out []byte
		if out, err = cmd.Output(); err != nil {
			err = fmt.Errorf("git %s: %w", args[0], err)
		}
		return string(out)
	}
	commit := func(text string, parents ...string) string {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o644)
		}
		run("add", "file")
		args := []string{"commit-tree", "-m", "a version", strings.TrimSpace(run("write-tree"))}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return strings.TrimSpace(run(args...))
	}
	run("init", "--quiet")
	base := commit(c.base)
	ours, theirs := commit(c.ours, base), commit(c.theirs, base)
	tree := strings.TrimSpace(run("merge-tree", "--write-tree", ours, theirs))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", false, nil
	}
	text = run("cat-file", "blob", tree+":file")
	return text, err == nil, err
}

// ofHistory makes triples of versions of this project's own files. A quarter are what a revert does: the
// newest version, and one step that is taken back.
func ofHistory(t *testing.T, git string, random *rand.Rand, n int) []triple {
	run := func(input string, args ...string) []byte {
		cmd := exec.Command(git, args...)
		cmd.Dir = filepath.Join("..", "..")
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			return nil
		}
		return out
	}
	// Per path the blobs that it was, oldest first.
	versions := map[string][]string{}
	var paths []string
	for line := range strings.Lines(string(run("", "log", "--reverse", "--format=", "--raw", "--no-abbrev", "--no-renames", "-m", "--first-parent", "--", "*.go", "*.md", "*.txt", "Makefile"))) {
		meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 5 || strings.Trim(fields[3], "0") == "" {
			continue
		}
		if versions[path] == nil {
			paths = append(paths, path)
		}
		versions[path] = append(versions[path], fields[3])
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return len(versions[p]) < 3 })
	if len(paths) == 0 {
		return nil
	}
	type choice struct {
		path               string
		base, ours, theirs string
	}
	var chosen []choice
	var wanted []string
	for range n {
		path := paths[random.IntN(len(paths))]
		v := versions[path]
		c := choice{path: path}
		if random.IntN(4) == 0 {
			k := 1 + random.IntN(len(v)-1)
			c.base, c.ours, c.theirs = v[k], v[len(v)-1], v[k-1]
		} else {
			near := func(i int) int { return min(max(i+random.IntN(9)-4, 0), len(v)-1) }
			k := random.IntN(len(v))
			c.base, c.ours, c.theirs = v[k], v[near(k)], v[near(k)]
		}
		chosen = append(chosen, c)
		wanted = append(wanted, c.base, c.ours, c.theirs)
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	texts := map[string]string{}
	out := run(strings.Join(wanted, "\n")+"\n", "cat-file", "--batch")
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		var id, kind string
		var size int
		if k, err := fmt.Sscan(string(line), &id, &kind, &size); k != 3 || err != nil {
			t.Logf("git cat-file says %q", line)
			return nil // a shallow or partial history
		}
		texts[id], out = string(rest[:size]), rest[size+1:]
	}
	var triples []triple
	for _, c := range chosen {
		triples = append(triples, triple{c.path, texts[c.base], texts[c.ours], texts[c.theirs]})
	}
	return triples
}

// ofSources makes triples of files of the Go library, which two edit.
func ofSources(t *testing.T, random *rand.Rand, n int) []triple {
	root := filepath.Join(build.Default.GOROOT, "src")
	var files []string
	for _, dir := range []string{"bufio", "bytes", "encoding", "fmt", "go", "net/http", "os", "sort", "strings", "text"} {
		filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
				if info, err := d.Info(); err == nil && info.Size() < 60_000 {
					files = append(files, path)
				}
			}
			return nil
		})
	}
	if len(files) < 50 {
		t.Log("no sources of Go here")
		return nil
	}
	var out []triple
	for range n {
		file := files[random.IntN(len(files))]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := Lines(string(text))
		// A part of it, so that the two meet.
		from := random.IntN(len(lines))
		lines = lines[from:min(len(lines), from+20+random.IntN(400))]
		side := func() string { return strings.Join(edit(random, lines, 1+random.IntN(4)), "") }
		out = append(out, triple{file, strings.Join(lines, ""), side(), side()})
	}
	return out
}

// ededit does what people do: deletes, changes, moves and adds a few lines.
func edit(random *rand.Rand, lines []string, times int) []string {
	out := slices.Clone(lines)
	for range times {
		if len(out) == 0 {
			return out
		}
		at := random.IntN(len(out))
		end := min(len(out), at+1+random.IntN(1+random.IntN(12)))
		some := slices.Clone(out[at:end])
		switch random.IntN(6) {
		case 0:
			out = slices.Delete(out, at, end)
		case 1:
			for i := at; i < end; i++ {
				out[i] = "\t" + out[i]
			}
		case 2: // a copy goes nowhere: which of two twins is the new one has no answer
			some[0] = strings.TrimRight(some[0], "\n") + " {\n"
			out = slices.Insert(out, at, some[0], "\n", "}\n")
		case 3:
			out = slices.Delete(out, at, end)
			out = slices.Insert(out, random.IntN(len(out)+1), some...)
		case 4:
			out[at] = strings.TrimSuffix(out[at], "\n") + " // changed\n"
		case 5:
			for i := range some {
				some[i] = fmt.Sprintf("\tx%d := %d\n", i, random.Uint32())
			}
			out = slices.Insert(out, at, some...)
		}
	}
	return out
}
