package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// An S3 server on this machine: versitygw, from a module of its own, with a directory on the disk.
const (
	s3Bucket = "bench"
	s3Key    = "bench"
	s3Secret = "benchbench"
)

// s3 is the server, and the proxy before it that counts.
type s3 struct {
	*measure.Proxy
	server *exec.Cmd
}

// startServer builds and starts the server. Whoever wants it closes it.
func (b *bench) startServer() (*s3, error) {
	if _, err := b.goTool("bench/server", "build", "-o", b.program("versitygw"), "github.com/versity/versitygw/cmd/versitygw"); err != nil {
		return nil, err
	}
	root := filepath.Join(b.dir, "s3")
	if err := os.MkdirAll(filepath.Join(root, s3Bucket), 0o755); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	s := &s3{server: exec.Command(b.program("versitygw"), "--quiet", "--access", s3Key, "--secret", s3Secret, "--port", address, "posix", root)}
	if err := s.server.Start(); err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			break
		}
		if tries == 200 {
			s.close()
			return nil, fmt.Errorf("the S3 server does not answer: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if s.Proxy, err = measure.NewProxy(&url.URL{Scheme: "http", Host: address}); err != nil {
		s.close()
	}
	return s, err
}

func (s *s3) close() {
	if s.Proxy != nil {
		s.Proxy.Close()
	}
	s.server.Process.Kill()
	s.server.Wait() // it was killed
}

// command is one that may reach the server.
func (s *s3) command(dir string, arg ...string) measure.Command {
	return measure.Command{Args: arg, Dir: dir, Env: []string{"AWS_ACCESS_KEY_ID=" + s3Key, "AWS_SECRET_ACCESS_KEY=" + s3Secret,
		"AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1"}}
}

// ours is the URL of a remote.
func (s *s3) ours(prefix string) string {
	return "s3://" + s3Bucket + "/" + prefix + "?endpoint=" + s.URL
}

// counted has the proxy count what a subject sends in its runs, not in what comes before them.
func (s *s3) counted(role report.Role, t measure.Turn) *subject {
	traffic, before := &measure.Traffic{}, t.Before
	t.Before = func(round int) error {
		s.Count(&measure.Traffic{})
		if before != nil {
			if err := before(round); err != nil {
				return err
			}
		}
		s.Count(traffic)
		return nil
	}
	return &subject{role: role, traffic: traffic, Turn: t}
}

// remotePart measures pushes and clones beside backups of others, on one server.
func (b *bench) remotePart() error {
	if err := b.remoteStart(); err != nil {
		return err
	}
	s, err := b.startServer()
	if err != nil {
		return err
	}
	defer s.close()
	b.findKopia()
	names := []string{"goroot", "kernel"}
	if b.short {
		names = []string{"made10k"}
	}
	err = b.forTrees(names, func(p *project) error {
		if err := b.ensureSaved(p); err != nil {
			return err
		}
		if err := b.firstPush(s, p); err != nil || p.name == "kernel" {
			return err
		}
		if err := b.pushes(s, p); err != nil {
			return err
		}
		return b.fromRemote(s, p)
	})
	if err != nil {
		return err
	}
	return b.manySegments(s)
}

// script is a shell script that finds rewind as $0 and what it is about as $1.
func (b *bench) script(s *s3, dir, script, about string) measure.Command {
	return s.command(dir, "sh", "-ec", script, b.rewind, about)
}

// pushRounds is how often the first push is measured, each time to a place of its own.
const pushRounds = 3

func prefixOf(p *project, round int) string { return fmt.Sprintf("%s-%d", p.name, round) }

// firstPush sends all that there is. restic reads, cuts and compresses, too, which a save has done here.
func (b *bench) firstPush(s *s3, p *project) error {
	ours := s.counted(report.Ours, measure.Turn{Name: "rewind push", Before: func(round int) error {
		forget := ""
		if round > 0 {
			forget = `"$0" remote remove origin --quiet; `
		}
		return b.do(b.script(s, p.root, forget+`"$0" remote add origin "$1" --manual --quiet >/dev/null`, s.ours(prefixOf(p, round))))
	}, Command: func(int) measure.Command { return s.command(p.root, b.rewind, "push", "--quiet") }})
	subjects := []*subject{ours}
	for _, peer := range b.remotePeers(s) {
		subjects = append(subjects, s.counted(report.Peer, measure.Turn{Name: peer.name,
			Before:  func(round int) error { return b.doAll(peer.begin(p, prefixOf(p, round))) },
			Command: func(round int) measure.Command { return peer.backup(p, prefixOf(p, round)) }}))
	}
	line, err := b.compare(comparison{what: "first push of what was saved", tree: p.title, rounds: pushRounds, subjects: subjects})
	if err != nil {
		return err
	}
	if ours := line.Find(report.Ours); ours != nil && ours.Requests != nil && p.name == "kernel" {
		line.Budgets = append(line.Budgets, report.Budget{What: "≤ 20 requests", Got: *ours.Requests, Limit: 20, Unit: "requests"})
	}
	line.Notes = append(line.Notes, "restic and kopia read, cut and compress the tree in this time, which the save before the push has done.")
	return nil
}

// pushes: of what has everything already, and of a one-line edit with its save. The others have to look at the tree in both.
func (b *bench) pushes(s *s3, p *project) error {
	subjects := func(name, script string) []*subject {
		subjects := []*subject{s.counted(report.Ours, measure.Turn{Name: name,
			Command: func(int) measure.Command { return b.script(s, p.root, script, "") }})}
		for _, peer := range b.remotePeers(s) {
			subjects = append(subjects, s.counted(report.Peer, measure.Turn{Name: peer.name, Rounds: 5,
				Command: func(int) measure.Command { return peer.backup(p, prefixOf(p, pushRounds-1)) }}))
		}
		return subjects
	}
	rounds := b.pick(20, 5)
	line, err := b.compare(comparison{what: "push, nothing new", tree: p.title, rounds: rounds,
		subjects: subjects("rewind push", `"$0" push --quiet`)})
	if err != nil {
		return err
	}
	requests(line, 0)
	files, err := p.sources(rounds + 1)
	if err != nil {
		return err
	}
	line, err = b.compare(comparison{what: "save and push after a one-line edit", tree: p.title, rounds: rounds,
		each:     func(round int) error { return workload.Edit(files[round], b.seed+uint64(round)) },
		subjects: subjects("rewind save and push", `"$0" save --quiet; "$0" push --quiet`)})
	if err != nil {
		return err
	}
	requests(line, 1)
	if err := workload.Edit(files[rounds], b.seed+uint64(rounds)); err != nil {
		return err
	}
	var pushed struct{ Bytes int64 }
	if err := b.answer(b.script(s, p.root, `"$0" save --quiet; "$0" push --json`, ""), &pushed); err != nil {
		return err
	}
	line.Budgets = append(line.Budgets, report.Budget{What: "object ≤ 1.5 KB", Got: float64(pushed.Bytes), Limit: 1500, Unit: "bytes"})
	return nil
}

// requests adds a promise about the number of requests of a run.
func requests(l *report.Line, limit float64) {
	if ours := l.Find(report.Ours); ours != nil && ours.Requests != nil {
		l.Budgets = append(l.Budgets, report.Budget{What: fmt.Sprintf("≤ %g requests", limit), Got: *ours.Requests, Limit: limit, Unit: "requests"})
	}
}

// answer runs a command and reads its JSON.
func (b *bench) answer(c measure.Command, to any) error {
	var out bytes.Buffer
	c.Stdout = &out
	if err := b.do(c); err != nil {
		return err
	}
	return json.Unmarshal(out.Bytes(), to)
}

// keyFile writes the key of a project's remote where clone finds it.
func (b *bench) keyFile(s *s3, p *project) (string, error) {
	var key struct{ Key string }
	if err := b.answer(s.command(p.root, b.rewind, "remote", "key", "--json"), &key); err != nil {
		return "", err
	}
	file := p.in("remote.key")
	return file, os.WriteFile(file, []byte(key.Key+"\n"), 0o600)
}

// fromRemote makes the tree from what the remote has, in a directory that is empty.
func (b *bench) fromRemote(s *s3, p *project) error {
	key, err := b.keyFile(s, p)
	if err != nil {
		return err
	}
	target := p.in("cloned")
	empty := func(int) error { return b.settled(target) }
	ours := s.counted(report.Ours, measure.Turn{Name: "rewind clone and restore", Before: empty, Command: func(int) measure.Command {
		return b.script(s, p.beside, `"$0" clone "$1" cloned --key `+filepath.Base(key)+` --quiet; cd cloned; "$0" restore last --yes --quiet`, s.ours(prefixOf(p, pushRounds-1)))
	}})
	subjects := []*subject{ours}
	for _, peer := range b.remotePeers(s) {
		subjects = append(subjects, s.counted(report.Peer, measure.Turn{Name: peer.name, Before: empty,
			Command: func(int) measure.Command { return peer.restore(p, prefixOf(p, pushRounds-1), target) }}))
	}
	_, err = b.compare(comparison{what: "from the remote to a tree", tree: p.title, rounds: b.pick(5, 3), subjects: subjects})
	return err
}

// manySegments clones a log of 500 pushes of one save each.
func (b *bench) manySegments(s *s3) error {
	n := b.pick(500, 50)
	p := &project{name: "segments", root: filepath.Join(b.dir, "trees", "segments"), beside: filepath.Join(b.dir, "beside", "segments")}
	for _, d := range []string{p.root, p.beside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	url := s.ours(p.name)
	err := b.do(b.script(s, p.root, fmt.Sprintf(`"$0" init --quiet; "$0" remote add origin "$1" --manual --quiet >/dev/null
		i=0; while [ $i -lt %d ]; do echo "line $i" >>notes; "$0" save --quiet; "$0" push --quiet; i=$((i+1)); done`, n), url))
	if err != nil {
		return err
	}
	key, err := b.keyFile(s, p)
	if err != nil {
		return err
	}
	target := p.in("cloned")
	ours := s.counted(report.Ours, measure.Turn{Name: "rewind clone", Before: func(int) error { return b.settled(target) },
		Command: func(int) measure.Command {
			return s.command(p.beside, b.rewind, "clone", url, target, "--key", key, "--quiet")
		}})
	line, err := b.compare(comparison{what: fmt.Sprintf("clone of %d pushes", n), tree: "one file", rounds: b.pick(7, 3), subjects: []*subject{ours}})
	if err != nil {
		return err
	}
	budget(line, "≤ 500 ms", 500)
	return nil
}
