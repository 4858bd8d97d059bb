package settings

import (
	"strings"
	"testing"
)

func TestIsTest(t *testing.T) {
	s, _ := Load(Options{})
	for _, command := range []string{
		"go test ./...", "go test -race -count=1 ./engine", "cargo test", "cargo -q test", "cargo +nightly test", "npm test", "npm --silent test", "npm run test", "npm run test:unit", "pnpm test", "yarn test", "bun test", "deno test -A", "node --test",
		"vitest run", "jest --ci", "pytest -q tests", "python3 -m pytest", "python3.12 -m unittest discover", "tox -e py312", "mvn -q test", "gradlew test", "gradle check", "dotnet test", "ctest", "make test", "make -j4 check",
		"bundle exec rspec spec/a_spec.rb", "rspec", "rake test", "phpunit", "swift test", "mix test", "uv run pytest",
	} {
		if !s.IsTest(strings.Fields(command)) {
			t.Errorf("%s is no test command", command)
		}
	}
	for _, command := range []string{
		"", "go", "go build ./...", "go vet test", "go test -c", "go test -list .", "cargo test --no-run", "cargo build", "npm install test", "npm run build", "npm run tests", "make", "make -n test", "make testdata", "make build test", "pytest --collect-only", "python3 test.py", "jest --version", "echo go test", "grep pytest", "rake db:migrate", "mvn package", "ctest -N", "deno run test",
	} {
		if s.IsTest(strings.Fields(command)) {
			t.Errorf("%s is a test command", command)
		}
	}
	s.GreenCommands = []string{"./ci *.sh", "[", ""}
	if s.IsTest([]string{"go", "test"}) || !s.IsTest([]string{"./ci", "-v", "all.sh", "x"}) || s.IsTest([]string{"["}) {
		t.Error("patterns of one's own")
	}
}
