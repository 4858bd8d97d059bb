package gitrestore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNoProgramOfTheRepositoryRuns puts a program wherever a repository can name one.
func TestNoProgramOfTheRepositoryRuns(t *testing.T) {
	b := started(t)
	b.git("branch", "gone")
	b.stash("a", "stashed")
	b.commit("b", "lost")
	b.write("a", "staged")
	b.git("add", "a")
	s := b.save()
	b.git("branch", "-D", "gone")
	b.git("reset", "-q", "--hard", "HEAD~1")
	b.git("stash", "clear")
	b.forget()

	ran := filepath.Join(b.home, "ran")
	program := filepath.Join(b.home, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+ran+"\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(b.dir, ".git", "hooks")
	for _, hook := range []string{"reference-transaction", "post-index-change", "pre-auto-gc", "post-checkout", "post-commit", "pre-commit", "post-rewrite", "update", "post-update", "fsmonitor-watchman", "sendemail-validate"} {
		if err := os.Symlink(program, filepath.Join(hooks, hook)); err != nil {
			t.Fatal(err)
		}
	}
	for _, config := range []string{
		"core.hooksPath " + hooks, "core.fsmonitor " + program, "core.sshCommand " + program, "core.gitProxy " + program, "core.askPass " + program, "core.pager " + program,
		"core.editor " + program, "core.alternateRefsCommand " + program, "credential.helper !" + program, "diff.external " + program, "diff.x.textconv " + program,
		"diff.x.command " + program, "filter.x.clean " + program, "filter.x.smudge " + program, "filter.x.process " + program, "filter.x.required true", "gpg.program " + program,
		"commit.gpgSign true", "tag.gpgSign true", "uploadpack.packObjectsHook " + program, "merge.x.driver " + program, "trace2.normalTarget |" + program, "alias.update-ref !" + program,
		"alias.rev-list !" + program, "pager.rev-list " + program, "remote.origin.url ext::" + program, "remote.origin.promisor true", "remote.origin.uploadpack " + program, "protocol.ext.allow always",
		"extensions.partialClone origin", "core.repositoryFormatVersion 1", "gc.auto 1", "maintenance.auto true", "sequence.editor " + program, "interactive.diffFilter " + program,
	} {
		key, value, _ := strings.Cut(config, " ")
		b.git("config", key, value)
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".gitattributes"), []byte("* filter=x diff=x merge=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(ran); err != nil { // git config may have run the hooks
		t.Fatal(err)
	}
	for _, mode := range []Mode{Missing, Exact} {
		p := b.plan(s, b.target(), mode)
		if len(p.Refusals) > 0 {
			t.Fatal(p.Refusals)
		}
		if _, err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(ran); err == nil {
			t.Fatalf("ran: %s", data)
		}
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".git", "config"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if b.git("rev-parse", "gone") == "" || b.git("stash", "list") == "" {
		t.Error("nothing returned")
	}
}

func TestAnotherGitIsAtWork(t *testing.T) {
	b := started(t)
	b.git("branch", "gone")
	b.stash("a", "stashed")
	s := b.save()
	b.git("branch", "-D", "gone")
	b.git("stash", "clear")
	for _, name := range []string{"HEAD", "packed-refs", "refs/heads/gone", "refs/stash"} {
		lock := filepath.Join(b.dir, ".git", filepath.FromSlash(name)+".lock")
		if err := os.WriteFile(lock, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if p := b.plan(s, b.target(), Missing); len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0], lock) {
			t.Errorf("%s: refusals %q", name, p.Refusals)
		}
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
	p := b.plan(s, b.target(), Missing)
	b.git("branch", "gone", "HEAD~1")
	if _, err := p.Apply(t.Context()); err == nil {
		t.Error("a reference was moved that another git made meanwhile")
	}
	b.restore(s, b.target(), Missing)
}

func TestThousandReferences(t *testing.T) {
	b := started(t)
	var input strings.Builder
	id := b.git("rev-parse", "HEAD")
	for i := range 1000 {
		fmt.Fprintf(&input, "create refs/heads/many/%d %s\n", i, id)
	}
	file := filepath.Join(b.home, "input")
	if err := os.WriteFile(file, []byte(input.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	many := func() { b.at(b.dir, "-c", "alias.many=!git update-ref --stdin <"+file, "many") }
	many()
	s, was := b.save(), b.look(b.dir)
	for _, name := range []string{"refs/heads/many", "logs/refs/heads/many"} {
		if err := os.RemoveAll(filepath.Join(b.dir, ".git", filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	p := b.plan(s, b.target(), Missing)
	planned := time.Since(start)
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("planned in %v, all in %v", planned, time.Since(start))
	if len(p.Lines) != 1001 {
		t.Errorf("%d lines", len(p.Lines))
	}
	b.same(was, b.look(b.dir), "refs")
}
