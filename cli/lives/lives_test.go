package lives

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "play the lives of this seed alone")
	livesFlag = flag.Int("lives", 0, "how many lives of each manner")
)

// TestMain is the program too, for what a hook leaves to a detached process: the home of a life is
// beside its project.
func TestMain(m *testing.M) {
	if args := os.Args; len(args) > 3 && args[1] == "hook" {
		env := account.Environment()
		env.Home = filepath.Join(filepath.Dir(args[3]), "home")
		os.Exit(cli.Main(args, env, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// TestLives plays a few lives of every manner, in seconds.
func TestLives(t *testing.T) {
	n := 6
	if testing.Short() {
		n = 1
	}
	play(t, "", n, 1)
}

// TestLivesOfTheProgram plays lives with the program as it is built, a process for each hook.
func TestLivesOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	program := filepath.Join(t.TempDir(), "rewind")
	if out, err := exec.Command("go", "build", "-o", program, "../rewind").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	play(t, program, 1, 1_000_000)
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

// play plays n lives of each manner, several at once: they wait more than they work.
func play(t *testing.T, program string, n int, seed uint64) {
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
	type job struct{ manner, life int }
	jobs := make(chan job)
	for range 6 * runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for j := range jobs {
				s := draw(seed+uint64(j.life), manners()[j.manner])
				f, err := live(dir, program, s)
				mu.Lock()
				if f != nil {
					all[j.manner].merge(f)
				}
				if err != nil {
					failed++
				}
				first := failed <= 3
				mu.Unlock()
				if err != nil && first {
					report(t, dir, program, s, err)
				}
			}
		})
	}
	for i := range n {
		for m := range all {
			jobs <- job{m, i}
		}
	}
	close(jobs)
	players.Wait()
	if failed > 0 {
		t.Errorf("%d lives failed", failed)
	}
	var b strings.Builder
	for i, m := range manners() {
		fmt.Fprintf(&b, "%s: %d lives, %d hooks of %s\n%s  %s\n", m, all[i].lives, all[i].hooks, (all[i].hookTime / time.Duration(max(all[i].hooks, 1))).Round(10*time.Microsecond), all[i].tally, &all[i].score)
	}
	t.Log("\n" + b.String())
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
	if err := l.recorded(); err != nil && os.Getenv("NOREC") == "" {
		return nil, err
	}
	if f.tally, err = l.attributed(); err != nil {
		return f, err
	}
	for _, g := range l.targets() {
		if os.Getenv("NOREV") != "" {
			break
		}
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
