package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every hook pays for what packages do before main. What the page alone brings in must cost next to nothing of that,
// and what is ours too: tables are laid out by the compiler, all else is made when it is first wanted.
func TestStartCostsNothingForThePage(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("counting coverage does")
	}
	deps := func(packages ...string) map[string]bool {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for name := range strings.FieldsSeq(string(out)) {
			all[name] = true
		}
		return all
	}
	page, rest := deps("../web"), deps("../../engine/...", "../../hookio/...")
	program := filepath.Join(t.TempDir(), "rewind")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "hook", "claude")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader("{}")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &trace)
	}
	all, ofPage, ours := 0, 0, 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		words := strings.Fields(lines.Text()) // init PACKAGE @1.2 ms, 0.3 ms clock, 456 bytes, 7 allocs
		if len(words) != 11 || words[0] != "init" || words[10] != "allocs" {
			continue
		}
		name := words[1]
		n, err := strconv.Atoi(words[9])
		if err != nil {
			t.Fatal(lines.Text())
		}
		all += n
		if strings.Contains(name, "/rewind/") {
			ours += n
		}
		if strings.Contains(name, "/rewind/cli") && n > 0 || page[name] && !rest[name] {
			ofPage += n
			if n > 0 {
				t.Log(lines.Text())
			}
		}
	}
	t.Logf("%d allocations before main: %d for the page, %d of ours", all, ofPage, ours)
	if all < 100 {
		t.Fatal("that is no trace of the program's start")
	}
	if ofPage*50 > all {
		t.Errorf("the page costs every hook %d of %d allocations", ofPage, all)
	}
	if ours*20 > all {
		t.Errorf("what is ours costs every hook %d of %d allocations", ours, all)
	}
}
