package lives

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

var (
	seedFlag = flag.Uint64("life", 0, "play only the life of this seed")
	keepFlag = flag.Bool("keep-life", false, "leave the directory of a life that fails")
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

// many plays n lives, several at once: they wait more than they work.
func many(t *testing.T, n int, one func(i int)) {
	t.Helper()
	var all sync.WaitGroup
	next := make(chan int)
	for range min(n, 8*runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

func TestLives(t *testing.T) {
	dir := scratch(t)
	start := time.Now()
	var mu sync.Mutex
	hooks, took := 0, time.Duration(0)
	many(t, 16, func(i int) {
		m := manner{Tier: "balanced", Sessions: 2, Person: true, Paths: 8, Shell: 6 * time.Second, Shells: 0.4, Turns: 3, Interval: 30 * time.Second, Hard: i%2 == 1}
		s := draw(uint64(i+1), m)
		l, err := newLife(filepath.Join(dir, strconv.Itoa(i)), "", s)
		if err == nil {
			err = l.play()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, s)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		hooks += l.hooks
		took += l.hookTime
	})
	fmt.Println(hooks, took/time.Duration(hooks), time.Since(start))
}
