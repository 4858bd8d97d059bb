package lives

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "play the lives of this seed alone")
	mannerFlag = flag.Int("manner", -1, "play lives of this manner alone, by its place in the list")
	livesFlag  = flag.Int("lives", 0, "how many lives of each manner")
	forFlag    = flag.Duration("for", 0, "begin no life after this time; 0: play all of them")
	shrinkFlag = flag.Int("shrink", 6, "how many of the lives that fail are cut down")
)

// TestMain is the program too, for what a hook leaves to a detached process: the home of a life is
// beside its project.
func TestMain(m *testing.M) {
	if args := os.Args; len(args) > 3 && args[1] == "hook" {
		env := account.Environment()
		env.Home = filepath.Join(filepath.Dir(args[3]), "home")
		os.Exit(cli.Main(args, env, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Unsetenv("GOGC") // of make test, as the next one: the programs that tests start have none
	os.Unsetenv("GOMEMLIMIT")
	os.Exit(m.Run())
}

// TestLives plays a few lives of every manner, in seconds.
func TestLives(t *testing.T) {
	n := 2
	if testing.Short() {
		n = 1
	}
	play(t, "", n, 1, failedOnce...)
}

// failedOnce are lives that have failed in longer runs.
var failedOnce = []job{
	{14, 2_000_010}, {14, 2_000_033}, // a file is moved, and another made under its old name
	{11, 2_000_024},                // a line comes and goes between two looks
	{14, 2_000_026},                // a revert makes what an earlier one had made
	{14, 2_000_028},                // a file that is removed has a conflict
	{4, 2_000_139}, {4, 2_000_203}, // a file is moved, and what another makes under its old name is told as a change of it
	{14, 2_000_041},                // a restore goes back behind the line that is looked for
	{9, 2_000_157}, {9, 2_000_303}, // a revert brings a file back of which another took the place
	{9, 2_000_324},                  // a revert takes most of a file out that it moves back
	{9, 2_000_232},                  // a restore moves a file back, and it is removed later
	{9, 2_000_354},                  // a file is removed, and lines of it before that, between two looks
	{4, 2_000_529},                  // a move that nobody saw goes under another
	{14, 2_000_344},                 // two files that a revert moved, and the same revert again
	{9, 2_000_543}, {14, 2_000_543}, // the same revert again, where others took a name that the first one left
	{9, 4}, {14, 4}, // a removed file comes back with a line that may be the target's own
}

// job is a life to play.
type job struct {
	manner int
	seed   uint64
}

// TestLivesOfTheProgram plays lives with the program as it is built, a process for each hook.
func TestLivesOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	play(t, builtProgram(t), 1, 1_000_000)
}

// builtProgram builds the program.
func builtProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rewind")
	if out, err := exec.Command("go", "build", "-o", program, "../rewind").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// TestSoakLives plays 10,000 lives, and prints the table of docs/CERTAINTY.md.
func TestSoakLives(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	play(t, "", 10_000/len(manners()), 2_000_000)
}

// manners are all that lives differ in: the tier, who is there, how long commands run.
func manners() (all []manner) {
	intervals := map[string]time.Duration{"minimal": 0, "balanced": 30 * time.Second, "aggressive": 15 * time.Second}
	for _, tier := range []string{"minimal", "balanced", "aggressive"} {
		for sessions := 1; sessions <= 2; sessions++ {
			for _, person := range []bool{false, true} {
				all = append(all, manner{Tier: tier, Sessions: sessions, Person: person, Paths: 12, Shell: 6 * time.Second, Shells: 0.5, Turns: 3, Interval: intervals[tier]})
			}
		}
		hard := manner{Tier: tier, Sessions: 2, Person: true, Paths: 5, Shell: 3 * time.Second, Shells: 0.4, Turns: 3, Interval: intervals[tier], Hard: true, Restores: true}
		all = append(all, hard)
	}
	return all
}

// found is what lives of one manner have shown.
type found struct {
	*tally
	score
	lives, hooks int
	hookTime     time.Duration
}

// play plays n lives of each manner from a seed on, and some more, several at once: they wait more than they work.
func play(t *testing.T, program string, n int, seed uint64, more ...job) {
	if *livesFlag > 0 {
		n = *livesFlag
	}
	if *seedFlag > 0 {
		n, seed = 1, *seedFlag
	}
	dir := scratch(t)
	var mu sync.Mutex
	all := make([]found, len(manners()))
	failed := 0
	var players sync.WaitGroup
	jobs := make(chan job)
	for range 6 * runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for j := range jobs {
				s := draw(j.seed, manners()[j.manner])
				f, err := live(dir, program, s)
				mu.Lock()
				if f != nil {
					all[j.manner].merge(f)
				}
				if err != nil {
					failed++
				}
				first := failed <= *shrinkFlag
				mu.Unlock()
				switch {
				case err == nil:
				case first:
					report(t, dir, program, s, err)
				default:
					t.Errorf("seed %d, %s: %v", s.Seed, s.Manner, err)
				}
			}
		})
	}
	began := time.Now()
	if *seedFlag == 0 {
		for _, j := range more {
			jobs <- j
		}
	}
	for i := range n {
		if *forFlag > 0 && time.Since(began) > *forFlag {
			break
		}
		for m := range all {
			if *mannerFlag < 0 || m == *mannerFlag {
				jobs <- job{m, seed + uint64(i)}
			}
		}
	}
	close(jobs)
	players.Wait()
	if failed > 0 {
		t.Errorf("%d lives failed", failed)
	}
	t.Logf("%d lives failed; %s\n%s", failed, time.Since(began).Round(time.Second), table(all))
}

// table is what docs/CERTAINTY.md has of a run.
func table(all []found) string {
	var b strings.Builder
	fmt.Fprint(&b, "| tier | sessions | you | lives | changes |")
	for v := range verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString(" per call |\n|---|---|---|--:|--:|" + strings.Repeat("--:|", int(verdicts)+1) + "\n")
	classes := newTally()
	reverts := &score{}
	lives, hooks, took := 0, 0, time.Duration(0)
	for i, m := range manners() {
		f := &all[i]
		if f.lives == 0 {
			continue
		}
		you, hard := "–", ""
		if m.Person {
			you = "yes"
		}
		if m.Hard {
			hard = ", hard"
		}
		fmt.Fprintf(&b, "| %s | %d%s | %s | %d | %d |", m.Tier, m.Sessions, hard, you, f.lives, sum(f.byClass[""]))
		shares(&b, f.byClass[""])
		fmt.Fprintf(&b, " %.0f %% |\n", share(&f.calls, exact))
		classes.merge(f.tally)
		reverts.merge(&f.score)
		lives, hooks, took = lives+f.lives, hooks+f.hooks, took+f.hookTime
	}
	b.WriteString("\n| answer | changes |")
	for v := range verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", int(verdicts)) + "\n")
	for _, c := range slices.Sorted(maps.Keys(classes.byClass)) {
		if c != "" {
			fmt.Fprintf(&b, "| `%s` | %d |", c, sum(classes.byClass[c]))
			shares(&b, classes.byClass[c])
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "\n%d lives; %s; %d changes that nobody could see; %d hooks of %s\n", lives, reverts, classes.unseen, hooks, (took / time.Duration(max(hooks, 1))).Round(10*time.Microsecond))
	return b.String()
}

func sum(counts *[verdicts]int) (n int) {
	if counts == nil {
		return 0
	}
	for _, c := range counts {
		n += c
	}
	return n
}

func share(counts *[verdicts]int, v verdict) float64 {
	if counts == nil {
		return 0
	}
	return 100 * float64(counts[v]) / float64(max(sum(counts), 1))
}

func shares(b *strings.Builder, counts *[verdicts]int) {
	for v := range verdicts {
		fmt.Fprintf(b, " %.1f %% |", share(counts, v))
	}
}

func (f *found) merge(o *found) {
	if f.tally == nil {
		f.tally = newTally()
	}
	f.tally.merge(o.tally)
	f.score.merge(&o.score)
	f.lives, f.hooks, f.hookTime = f.lives+o.lives, f.hooks+o.hooks, f.hookTime+o.hookTime
}

// report tells of a life that failed, cut down to what it takes.
func report(t *testing.T, dir, program string, s script, err error) {
	whole, about := err, about(err)
	small := shrink(s, time.Now().Add(20*time.Second), func(less script) bool {
		_, again := live(dir, program, less)
		if again == nil || !strings.HasPrefix(again.Error(), about) {
			return false
		}
		err = again
		return true
	})
	t.Errorf("%v\ncut down: %v\n%s", whole, err, small)
}

// about is what kind of fault an error tells of.
func about(err error) string {
	kind, _, _ := strings.Cut(err.Error(), ":")
	return kind
}

// live plays a life and judges it.
func live(dir, program string, s script) (*found, error) {
	own, err := os.MkdirTemp(dir, "life-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(own)
	l, err := newLife(own, program, s)
	if err != nil {
		return nil, err
	}
	if err := l.play(); err != nil {
		return nil, err
	}
	if _, err := l.rewind("save", "--quiet", "the end"); err != nil {
		return nil, err
	}
	f := &found{lives: 1, hooks: l.hooks, hookTime: l.hookTime}
	if err := l.recorded(); err != nil {
		return nil, err
	}
	if f.tally, err = l.attributed(); err != nil {
		return f, fmt.Errorf("%w\n  (the slowest hook took %s; what an edit's look does not find within a second is not recorded)", err, l.slowest.Round(time.Millisecond))
	}
	for _, g := range l.targets() {
		score, err := l.reverted(g)
		if err != nil {
			return f, err
		}
		f.score.merge(score)
	}
	return f, nil
}

// scratch is a directory in memory where the system has one: lives write much and keep nothing.
func scratch(t *testing.T) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && runtime.GOOS == "linux" {
		if dir, err := os.MkdirTemp("/dev/shm", "rewind-lives-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
