package shell

import (
	"strings"
	"testing"
)

func TestSucceeded(t *testing.T) {
	for script, want := range map[string]string{
		"go test ./...":                         "go test ./...",
		"cd a && go test ./... 2>&1":            "cd a|go test ./...",
		"cd a; go test":                         "go test",
		"make build\ngo test\n":                 "go test",
		"go test && npm test":                   "go test|npm test",
		"go test && \\\n npm test":              "go test|npm test",
		"go vet &&\nnpm test # both":            "go vet|npm test",
		"A=1 env B=2 timeout 60 go test -run X": "go test -run X",
		"time go test":                          "go test",
		"npx vitest run":                        "vitest run",
		"go test > log":                         "go test",
		"cat x | go test":                       "go test",
		"go test | tail":                        "tail",
		"set -o pipefail; go test | tail":       "go test|tail",
		"set -euo pipefail\ngo test 2>&1 | tee l | tail\necho done": "set -euo pipefail|go test|tee l|tail|echo done",
		"set -e; go test; echo done":                                "set -e|go test|echo done",
		"set -e; go test && true; echo done":                        "set -e|echo done",
		"set -e; set +e; go test; echo done":                        "echo done",
		"set -o pipefail; set +o pipefail; go test | tail":          "tail",
		"go test; echo done":                                        "echo done",
		"go test; A=1":                                              "",
		`cd "$(git rev-parse --show-toplevel || pwd)" && go test`:   "cd \x00|go test",
		"go test || true":                                           "-",
		"[[ -f x ]] || go test":                                     "-",
		"go test; [[ -f x ]]":                                       "-",
		"go test &":                                                 "-",
		"go test & wait":                                            "-",
		"(go test)":                                                 "-",
		"(cd a && go test) || exit 0":                               "-",
		"if go test; then echo ok; fi":                              "-",
		"for i in 1 2; do go test; done":                            "-",
		"! go test":                                                 "-",
		"{ go test; } | tail":                                       "-",
		"f() { go test; }; f":                                       "-",
		"go test && grep -c FAIL log":                               "-",
		"set -o pipefail; go test | grep -v ok":                     "-",
		"exit 0; go test":                                           "-",
		"trap 'exit 0' EXIT; go test":                               "-",
		"sh -c 'go test'":                                           "sh -c go test",
		"echo go test":                                              "echo go test",
		"cat <<EOF\ngo test\nEOF":                                   "cat",
		"":                                                          "-",
		"case x in y) go test;; esac":                               "-",
		"while true; do go test && break; done":                     "-",
		strings.Repeat("a;", 6000) + "go test":                      "-",
	} {
		var all []string
		got := Succeeded(script)
		for _, c := range got {
			all = append(all, strings.Join(c, " "))
		}
		text := strings.Join(all, "|")
		if got == nil {
			text = "-"
		}
		if text != want {
			t.Errorf("%.60q: %q, want %q", script, text, want)
		}
	}
}
