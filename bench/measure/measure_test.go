package measure

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	ascending := make(Spread, 200)
	for i := range ascending {
		ascending[i] = time.Duration(i + 1)
	}
	if p99 := ascending.P99(); p99 != 198 {
		t.Errorf("P99 of 1 to 200 is %d", p99)
	}
	ms := func(n ...int) (s Spread) {
		for _, v := range n {
			s = append(s, time.Duration(v))
		}
		return s
	}
	for _, c := range []struct {
		s                Spread
		min, median, p90 int
	}{
		{nil, 0, 0, 0},
		{ms(5), 5, 5, 5},
		{ms(9, 1), 1, 9, 9},
		{ms(3, 1, 2), 1, 2, 3},
		{ms(10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 1, 6, 9},
		{ms(1, 1, 1, 1, 1, 1, 1, 1, 1, 99, 1), 1, 1, 1},
	} {
		before := slices.Clone(c.s)
		if c.s.Min() != time.Duration(c.min) || c.s.Median() != time.Duration(c.median) || c.s.P90() != time.Duration(c.p90) {
			t.Errorf("%v: %d %d %d", c.s, c.s.Min(), c.s.Median(), c.s.P90())
		}
		if !slices.Equal(before, c.s) {
			t.Error("the samples were put in another order")
		}
	}
}

func TestParseCalls(t *testing.T) {
	const table = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 52.99    0.656124        3792       173         2 futex
 17.19    0.212798          14     15076        10 newfstatat
  0.01    0.000003           3         1           fdatasync
  0.00    0.000000           0         2           fsync
  0.00    0.000000           0       701           tgkill
------ ----------- ----------- --------- --------- ------------------
100.00    1.238281          55     22251       123 total
`
	if got, want := parseCalls(table), (Calls{Total: 15079, Fsyncs: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parseCalls("strace: attach: Operation not permitted\n"); got != (Calls{}) {
		t.Errorf("from nothing: %+v", got)
	}
}

// runner has a launch of its own, built for the test.
func runner(t *testing.T) *Runner {
	t.Helper()
	dir := t.TempDir()
	launch := filepath.Join(dir, "launch")
	if out, err := exec.Command("go", "build", "-o", launch, "../launch").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return &Runner{Launch: launch, Tmp: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	r, ctx := runner(t), context.Background()
	u, err := r.Run(ctx, Command{Args: []string{"sh", "-c", "read x; test $x = hello"}, Stdin: "hello\n"})
	if err != nil || u.Wall <= 0 || u.Exit != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	var exit *ExitError
	if _, err := r.Run(ctx, Command{Args: []string{"sh", "-c", "echo why >&2; exit 3"}}); !errors.As(err, &exit) || exit.Exit != 3 || exit.Stderr != "why" {
		t.Errorf("a failure: %v", err)
	}
	if u, err := r.Run(ctx, Command{Args: []string{"sh", "-c", "exit 3"}, Exits: []int{3}}); err != nil || u.Exit != 3 {
		t.Errorf("an exit code that is fine: %+v, %v", u, err)
	}
	if _, err := r.Run(ctx, Command{Args: []string{"no-such-program-here"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a missing program: %v", err)
	}
}

func TestAlternate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	r := runner(t)
	var order []string
	turn := func(name, script string, rounds int) *Turn {
		return &Turn{Name: name, Rounds: rounds, Before: func(int) error { order = append(order, name); return nil },
			Command: func(int) Command { return Command{Args: []string{"sh", "-c", script}} }}
	}
	a, b, bad, once := turn("a", "true", 0), turn("b", "true", 0), turn("bad", "exit 1", 0), turn("once", "true", 1)
	if err := r.Alternate(context.Background(), 3, nil, a, b, bad, once); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "bad", "once", "b", "a", "a", "b"}; !slices.Equal(order, want) {
		t.Errorf("the order was %v, not %v", order, want)
	}
	if len(a.Times) != 3 || len(b.Times) != 3 || len(bad.Times) != 0 || len(once.Times) != 1 {
		t.Errorf("%d %d %d %d samples", len(a.Times), len(b.Times), len(bad.Times), len(once.Times))
	}
	if bad.Err == nil || a.Err != nil {
		t.Errorf("errors: %v, %v", bad.Err, a.Err)
	}
}

func TestAllocated(t *testing.T) {
	dir := t.TempDir()
	empty, err := Allocated(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err := Allocated(dir)
	if err != nil || one < empty+100_000 {
		t.Fatalf("%d after %d, %v", one, empty, err)
	}
	if err := os.Link(file, filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	if two, err := Allocated(dir); err != nil || two != one {
		t.Errorf("a second name counts: %d after %d, %v", two, one, err)
	}
}
