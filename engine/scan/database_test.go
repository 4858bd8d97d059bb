package scan

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/problem"
)

const (
	testDatabase = "SQLite format 3\x00"
	testWAL      = "\x37\x7f\x06\x82"
	testJournal  = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
)

// state writes a database and its write-ahead log, both of one state.
func (p *project) state(n int) {
	p.write("app.db", fmt.Sprint(testDatabase, "state ", n))
	p.write("app.db-wal", fmt.Sprint(testWAL, "state ", n))
}

// once calls do when one of the project's files is read the first time.
func (p *project) once(name string, do func()) {
	var called atomic.Bool
	p.sink.during = func(_ *os.File, read string) {
		if read == name && called.CompareAndSwap(false, true) {
			do()
		}
	}
}

func (p *project) wantState(r *Result, n int) {
	p.t.Helper()
	db, wal := p.sink.content(p.t, r.Root, "app.db"), p.sink.content(p.t, r.Root, "app.db-wal")
	if want := fmt.Sprint("state ", n); !strings.HasSuffix(db, want) || !strings.HasSuffix(wal, want) {
		p.t.Fatalf("captured %q with %q, want both of state %d", db, wal, n)
	}
	if len(r.Problems) != 0 {
		p.t.Fatalf("problems %v", r.Problems)
	}
}

// TestDatabaseWithItsLog: a database and its log are captured as they were at one moment, though both are written anew between the
// readings of the two, whichever was read first, and though the database was not read at all.
func TestDatabaseWithItsLog(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, name := range []string{"app.db", "app.db-wal"} {
			t.Run(fmt.Sprint(name, workers), func(t *testing.T) {
				both(t, func(t *testing.T, p *project) {
					p.opts.Workers = workers
					p.state(1)
					time.Sleep(openAge + 50*time.Millisecond)
					p.once(name, func() { p.state(2) })
					p.wantState(p.scan(), 2)

					p.sink.during = nil
					time.Sleep(openAge + 50*time.Millisecond)
					p.wantState(p.scan(), 2)
					p.write("app.db-wal", testWAL+"more of state 2")
					time.Sleep(openAge + 50*time.Millisecond)
					p.once("app.db-wal", func() { p.state(3) }) // the database is as the stat cache has it
					p.wantState(p.scan(), 3)
				})
			})
		}
	}
}

// TestDatabaseInATransaction: a rollback journal that comes after its directory was listed is waited for, and one that stays
// makes the database torn; the next scan, which sees both, has both.
func TestDatabaseInATransaction(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("app.db", testDatabase+"before")
		time.Sleep(openAge + 50*time.Millisecond)
		begin := func() {
			p.write("app.db-journal", testJournal+"before")
			p.write("app.db", testDatabase+"half")
		}
		p.once("app.db", func() {
			begin()
			time.AfterFunc(40*time.Millisecond, func() {
				p.write("app.db", testDatabase+"after")
				_ = os.Remove(p.path("app.db-journal"))
			})
		})
		if r := p.scan(); p.sink.content(t, r.Root, "app.db") != testDatabase+"after" || len(r.Problems) != 0 {
			t.Errorf("captured %q, problems %v", p.sink.content(t, r.Root, "app.db"), r.Problems)
		}

		time.Sleep(openAge + 50*time.Millisecond)
		p.write("app.db", testDatabase+"next")
		time.Sleep(openAge + 50*time.Millisecond)
		p.once("app.db", begin)
		if r := p.scan(); len(r.Problems) != 1 || r.Problems[0] != problem.Read("app.db", "torn", true) {
			t.Errorf("problems of a database in a transaction: %v", r.Problems)
		}
		p.sink.during = nil
		time.Sleep(openAge + 50*time.Millisecond)
		r := p.scan()
		if got := p.sink.content(t, r.Root, "app.db-journal"); len(r.Problems) != 0 || got != testJournal+"before" {
			t.Errorf("the next scan has %q, problems %v", got, r.Problems)
		}
	})
}

// TestDatabaseWithoutRest: a log that changes whenever the database was read ends as a torn database, in bounded time.
func TestDatabaseWithoutRest(t *testing.T) {
	p := newProject(t)
	p.state(0)
	time.Sleep(openAge + 50*time.Millisecond)
	var n atomic.Int64
	p.sink.during = func(_ *os.File, read string) { p.state(int(n.Add(1))) }
	r := p.scan()
	if len(r.Problems) == 0 || r.Problems[0] != problem.Read("app.db", "torn", true) {
		t.Errorf("problems %v", r.Problems)
	}
	if n.Load() > 20 {
		t.Errorf("%d readings", n.Load())
	}
}

// TestNoDatabase: files of such names that SQLite did not make, and a log that a rule leaves out, are no reason to wait or to read twice.
func TestNoDatabase(t *testing.T) {
	p := newProject(t)
	p.write("notes", "text")
	p.write("notes-journal", "text")
	p.write("-wal", testWAL)
	p.write("orphan-wal", testWAL)
	p.write("db", testDatabase)
	p.write("db-wal", testWAL)
	p.write(".gitignore", "db-wal\n")
	time.Sleep(openAge + 50*time.Millisecond)
	p.once("db", func() { p.write("db-wal", testWAL+"more") })
	r := p.scan()
	for _, found := range r.Problems {
		if found.Path != "db-wal" { // ignored
			t.Errorf("problem %v", found)
		}
	}
	if len(p.sink.reads) != 6 {
		t.Errorf("read %q", p.sink.reads)
	}
}
