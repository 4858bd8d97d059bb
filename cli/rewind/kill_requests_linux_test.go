//go:build amd64 || arm64

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/s3server"
	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// TestRemoteKilledAtEachRequest: a command that talks to an S3 server is killed at one of its requests: before the server has done it, after that,
// or when half of what was sent or asked for has come. What is left is judged as where the place is a directory. make soak kills at each request,
// else at some.
func TestRemoteKilledAtEachRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program, most := build(t), 3
	if os.Getenv("REWIND_SOAK") != "" {
		most = 1 << 20
	}
	for name, args := range remoteCommands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &remoteWorld{world: setUp(t, program, scenario{name: name, prepare: func(*world) {}}), server: s3server.New(t)}
			r.begin(args)
			objects := r.server.Keep()
			requests, wrong := r.killedAt(0, "")
			if requests == 0 || wrong != "" {
				t.Fatalf("without a fault: %d requests, %s", requests, wrong)
			}
			drops := []string{"before", "after", "torn"}
			points := requests * len(drops)
			step := max(1, points/most)
			for n := points % step; n < points && !t.Failed(); n += step {
				r.reset()
				objects()
				request, drop := 1+n/len(drops), drops[n%len(drops)]
				v := &verdict{world: r.world, when: fmt.Sprintf("killed at request %d (%s)", request, drop)}
				if got, wrong := r.killedAt(request, drop); wrong != "" && got >= request {
					v.wrong("%s", wrong)
				}
				r.judge(v)
				v.tell(&tracee.Result{})
			}
			t.Logf("%d requests", requests)
		})
	}
}

// killedAt runs the command, and kills it at a request, counted from 1; 0: not at all. It returns how many requests came, and how it ended otherwise
// than it should.
func (r *remoteWorld) killedAt(n int, drop string) (requests int, wrong string) {
	var process atomic.Pointer[os.Process]
	before := len(r.server.Requests())
	r.server.Change(func() {
		r.server.Fail = func(at int, _ *http.Request) s3server.Failure {
			if at-before != n {
				return s3server.Failure{}
			}
			return s3server.Failure{Drop: drop, Then: func() {
				for process.Load() == nil {
					runtime.Gosched()
				}
				_ = process.Load().Kill()
			}}
		}
	})
	cmd := exec.Command(r.program, r.args...)
	cmd.Dir, cmd.Env = r.project, r.env()
	must(r.T, cmd.Start())
	process.Store(cmd.Process)
	err := cmd.Wait()
	r.server.Change(func() { r.server.Fail = nil })
	requests = len(r.server.Requests()) - before
	if code := cmd.ProcessState.ExitCode(); n == 0 && code != 0 || n > 0 && code >= 0 {
		wrong = fmt.Sprintf("exit code %d, %v", code, err)
	}
	return requests, wrong
}
