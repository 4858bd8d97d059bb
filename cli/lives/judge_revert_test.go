package lives

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
)

// target is what is to be taken back.
type target struct {
	name string
	args []string
	is   func(*work) bool // nil is what was there before the life
}

// targets are the sessions, turns and calls that are taken back in a life.
func (l *life) targets() []target {
	random := rand.New(rand.NewPCG(l.Seed, 77))
	const session = "A"
	id := l.sessions[session]
	all := []target{{"session " + session, []string{"--session", id}, func(w *work) bool { return w != nil && w.Session == session }}}
	var prompts, calls []string
	for _, e := range l.Events {
		if e.By.Session == session && e.Kind == onPrompt {
			prompts = append(prompts, e.By.Prompt)
		}
		if e.By.Session == session && e.Kind == onPre && e.Tool != "Task" {
			calls = append(calls, e.By.Call)
		}
	}
	if len(prompts) > 0 && l.Manner.Tier != "minimal" { // which has no checkpoints of prompts
		n := random.IntN(len(prompts))
		prompt := prompts[len(prompts)-1-n]
		all = append(all, target{"turn " + prompt, []string{fmt.Sprintf("prompt~%d", n+1), "--session", id}, func(w *work) bool { return w != nil && w.Prompt == prompt }})
	}
	if len(calls) > 0 {
		call := calls[random.IntN(len(calls))]
		all = append(all, target{"call " + call, []string{"--tool", call}, func(w *work) bool { return w != nil && w.Call == call }})
	}
	return all
}

// plan is what a revert says it does.
type plan struct {
	Create, Replace, Delete, Mode, Skip []struct{ Path, Reason string }
	Merged, Shared                      []struct{ Path, Reason string }
	Kept                                []keptPart
	Shell                               []struct{ Paths []struct{ Path string } }
	raw                                 map[string]any
}

// keptPart is what a revert leaves: lines of a file as it is afterwards, or all of it.
type keptPart struct {
	Path     string
	From, To int
}

// keeps reports whether it says that a line of a file stays as a part of a conflict.
func (p *plan) keeps(path string, line int) bool {
	return slices.ContainsFunc(p.Kept, func(k keptPart) bool { return k.Path == path && k.From <= line && line <= k.To })
}

func (p *plan) paths() []string {
	var all []string
	for _, list := range [][]struct{ Path, Reason string }{p.Create, p.Replace, p.Delete, p.Mode} {
		for _, c := range list {
			all = append(all, c.Path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// doubted are the paths of which it says that something stays.
func (p *plan) doubted() map[string]bool {
	all := map[string]bool{}
	for _, list := range [][]struct{ Path, Reason string }{p.Shared, p.Skip} {
		for _, c := range list {
			all[c.Path] = true
		}
	}
	for _, c := range p.Kept {
		all[c.Path] = true
	}
	return all
}

// commanded reports whether it says of a path that what others wrote while a command ran goes, too.
func (p *plan) commanded(path string) bool {
	for _, c := range p.Shell {
		if slices.ContainsFunc(c.Paths, func(named struct{ Path string }) bool { return named.Path == path }) {
			return true
		}
	}
	return false
}

func (l *life) revert(args ...string) (*plan, answer, error) {
	args = append(append([]string{"revert"}, args...), "--json")
	a := l.call("", args...)
	if a.code != 0 && a.code != 3 {
		return nil, a, fmt.Errorf("rewind %s: exit code %d: %s%s", strings.Join(args, " "), a.code, a.out, a.err)
	}
	p := &plan{raw: map[string]any{}}
	if err := json.Unmarshal([]byte(a.out), p); err != nil {
		return nil, a, err
	}
	return p, a, json.Unmarshal([]byte(a.out), &p.raw)
}

// score is what became of the lines that were taken back, and of the others.
type score struct {
	gone, left   int // lines of the target: taken back, and left with a word about it
	back, absent int // lines of others that it had deleted
	lost         int // lines of others that went with a command's, of whose path it was said "even if you wrote it"
	conflicts    int // reverts that refuse without --conflicts
	reverts      int
}

func (s *score) merge(o *score) {
	s.gone, s.left, s.back, s.absent = s.gone+o.gone, s.left+o.left, s.back+o.back, s.absent+o.absent
	s.lost, s.conflicts, s.reverts = s.lost+o.lost, s.conflicts+o.conflicts, s.reverts+o.reverts
}

func (s *score) String() string {
	return fmt.Sprintf("%d reverts, %d with conflicts; lines taken back %d, left and named %d; brought back %d, not %d; gone with a command's, and said so %d",
		s.reverts, s.conflicts, s.gone, s.left, s.back, s.absent, s.lost)
}

// reverted takes a target back, looks at every line, and takes that back again.
func (l *life) reverted(g target) (*score, error) {
	s := &score{reverts: 1}
	bad := &faults{about: "revert of " + g.name}
	before, err := l.tree()
	if err != nil {
		return nil, err
	}
	keep := append(slices.Clone(g.args), "--conflicts", "keep")
	dry, _, err := l.revert(append(slices.Clone(keep), "--dry-run")...)
	if err != nil {
		return nil, err
	}
	bad.unequal("a dry run", before, l)
	args := g.args
	if len(dry.Kept) > 0 {
		args = keep
		if refused := l.call("", append([]string{"revert", "--json"}, g.args...)...); refused.code != 8 {
			bad.add("it has conflicts, and is not refused: %d", refused.code)
		}
		s.conflicts++
		bad.unequal("a refusal", before, l)
	}
	done, _, err := l.revert(args...)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"create", "replace", "delete", "mode", "skip", "reverted", "merged", "kept", "conflicts", "shared", "shell", "next_to"} {
		if !reflect.DeepEqual(dry.raw[key], done.raw[key]) {
			bad.add("%s: the dry run said %v, and it did %v", key, dry.raw[key], done.raw[key])
		}
	}
	after, err := l.tree()
	if err != nil {
		return nil, err
	}
	if got, want := differing(before, after), done.paths(); !slices.Equal(got, want) {
		bad.add("it said that it changes %v, and changed %v", want, got)
	}
	l.judgeLines(g, done, after, s, bad)

	again, _, err := l.revert(args...)
	if err != nil {
		return nil, err
	}
	if got := again.paths(); len(got) > 0 {
		bad.add("done again, it changes %v", got)
	}
	bad.unequal("a second revert", after, l)
	if len(done.paths()) > 0 {
		if _, err := l.rewind("undo-restore", "--quiet"); err != nil {
			return nil, err
		}
	}
	bad.unequal("undo-restore", before, l)
	return s, bad.err()
}

// faults are what a revert did wrong.
type faults struct {
	about string
	list  []string
}

func (f *faults) add(format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

func (f *faults) unequal(what string, want map[string]string, l *life) {
	got, err := l.tree()
	if err != nil {
		f.add("%v", err)
	} else if d := differing(want, got); len(d) > 0 {
		f.add("after %s other files differ: %v", what, d)
	}
}

func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return fmt.Errorf("%s:\n  %s", f.about, strings.Join(f.list, "\n  "))
}

func differing(a, b map[string]string) []string {
	var out []string
	for p, text := range a {
		if other, ok := b[p]; !ok || other != text {
			out = append(out, p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// place is where a line stands.
type place struct {
	path string
	*line
}

// judgeLines looks at every line of the life.
func (l *life) judgeLines(g target, done *plan, after map[string]string, s *score, bad *faults) {
	doubted := done.doubted()
	result := map[string]string{} // text of a line: path
	number := map[string]int{}    // and the line's number
	for p, text := range after {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, t := range lines[1:] {
			number[t] = i + 1
			if was, twice := result[t]; twice && t != "" {
				bad.add("%q is in %s and in %s", t, was, p)
			}
			result[t] = p
		}
	}
	alive := map[string]place{}
	for p := range l.files {
		for _, ln := range l.now(p).lines {
			alive[ln.text] = place{p, ln}
		}
	}
	known := func(a answered) bool { return a.verdict >= during && a.verdict < wrong }
	for text, at := range alive {
		_, stays := result[text]
		switch {
		case g.is(at.born) && !stays:
			s.gone++
		case g.is(at.born) && (doubted[at.path] || l.moved(at) || !sure(l.births[at.line], at.born)):
			s.left++
		case g.is(at.born):
			bad.add("%s: %q is its own, and stays; nothing says so (%s)", at.path, text, said(l.births[at.line].Owner))
		case !stays && l.births[at.line].Owner == nil && done.commanded(at.path):
			s.lost++ // it came between two looks in which its file was also moved: the move's answer is the only one
		case !stays && known(l.births[at.line]):
			if !done.commanded(at.path) {
				bad.add("%s: %q is another's, and is gone, and it was not said that it may be (%s)", at.path, text, said(l.births[at.line].Owner))
			} else {
				s.lost++
			}
		case !stays:
			bad.add("%s: %q is another's, and is gone (%s)", at.path, text, said(l.births[at.line].Owner))
		}
	}
	dead := map[string]place{}
	for p, all := range l.files {
		for _, v := range all {
			for _, ln := range v.died {
				if _, lives := alive[ln.text]; !lives && ln.died == v.by {
					dead[ln.text] = place{p, ln}
				}
			}
		}
	}
	for text, p := range result {
		if _, ok := alive[text]; ok {
			continue
		}
		d, ok := dead[text]
		switch {
		case !ok:
			bad.add("%s: %q was never there", p, text)
		case !g.is(d.born) && g.is(d.died):
			s.back++
		case d.path != p && !l.lookedIn[d] && l.movedAway(p, d.line, g):
			s.back++ // the target took it from there, and nobody saw where to before it died
		case l.births[d.line].verdict == flagged && doubted[p]:
			s.left++ // whose it was is not known, and it was said so
		case g.is(d.born) && g.is(d.died) && !l.now(p).exists && done.keeps(p, number[text]):
			// It wrote the line, somebody changed what it wrote, and then it removed the whole file. The file comes back for
			// what others have in it; a conflict in it stays as it was in the end, with the target's own lines, and is named.
			s.left++
		case !known(l.deaths[d.line]) && !known(l.births[d.line]):
			bad.add("%s: %q is back, which %s took away (%s)", p, text, d.died, said(l.deaths[d.line].Owner))
		}
	}
	for text, d := range dead {
		if _, is := result[text]; is || g.is(d.born) || !g.is(d.died) {
			continue
		}
		if !l.looked[d.line] {
			continue // it came and went between two looks: it is nowhere
		}
		if known(l.births[d.line]) && done.commanded(d.path) {
			s.lost++ // it is taken for the target's own
			continue
		}
		s.absent++
		if sure(l.deaths[d.line], d.died) && !doubted[d.path] && l.plain(d.path) {
			bad.add("%s: %q, which it took away, is not back; nothing says so (%s)", d.path, text, said(l.deaths[d.line].Owner))
		}
	}
}

// sure reports whether an answer names the call that it was, and no other.
func sure(a answered, by *work) bool {
	return a.Owner != nil && a.verdict == exact && a.Class != attribution.Shared && a.By != nil && a.By.Call == by.Call && len(a.Also) == 0
}

// moved reports whether a line is where somebody has moved its file.
func (l *life) moved(at place) bool {
	for _, v := range l.files[at.path] {
		if slices.Contains(v.lines, at.line) {
			return !slices.Contains(v.born, at.line)
		}
	}
	return false
}

// movedAway reports whether the target's work moved the file of a line to another name.
func (l *life) movedAway(path string, ln *line, g target) bool {
	for i, v := range l.files[path] {
		if i > 0 && !v.exists && g.is(v.by) && slices.Contains(l.files[path][i-1].lines, ln) && !slices.Contains(v.died, ln) {
			return true
		}
	}
	return false
}

// plain reports whether a file was there all the time.
func (l *life) plain(path string) bool {
	for _, v := range l.files[path] {
		if !v.exists {
			return false
		}
	}
	return l.files[path][0].by == nil
}
