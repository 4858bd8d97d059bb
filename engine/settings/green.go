package settings

import (
	"path"
	"slices"
	"strings"
)

// testCommands are what runs tests in the common ecosystems. The setting green.commands replaces the whole list.
var testCommands = []string{
	"go test", "gotestsum",
	"cargo test", "cargo t", "cargo +* test", "cargo nextest run",
	"npm test", "npm t", "npm run test", "npm run test:*", "pnpm test", "pnpm run test", "pnpm run test:*", "yarn test", "yarn run test", "yarn run test:*", "bun test", "bun run test", "bun run test:*", "node --test", "deno test", "deno task test",
	"vitest", "jest", "mocha", "ava", "playwright test", "pnpm exec vitest", "pnpm exec jest", "pnpm vitest", "pnpm jest", "yarn vitest", "yarn jest",
	"pytest", "py.test", "tox", "nox", "python* -m pytest", "python* -m unittest", "python* manage.py test", "uv run pytest", "poetry run pytest", "pdm run pytest", "hatch test",
	"mvn test", "mvn verify", "mvn clean test", "mvn clean verify", "mvnw test", "mvnw verify", "mvnw clean test", "mvnw clean verify", "gradle test", "gradle check", "gradlew test", "gradlew check", "sbt test",
	"dotnet test",
	"ctest", "make test", "make check", "gmake test", "gmake check", "ninja test", "meson test", "bazel test", "just test", "task test",
	"rspec", "bundle exec rspec", "rake test", "rake spec", "bundle exec rake test", "bundle exec rake spec", "rails test", "bundle exec rails test",
	"phpunit", "pest", "composer test", "composer run test", "php artisan test",
	"swift test", "xcodebuild test",
	"mix test", "rebar3 eunit", "rebar3 ct", "dart test", "flutter test", "zig build test", "stack test", "cabal test",
}

// noTests are options with which such a command runs no test, some of them of one program.
var noTests = []string{"--help", "--version", "--collect-only", "--co", "--no-run", "--dry-run", "--just-print", "--list", "--list-tests", "--listTests", "go -c", "go -list", "make -n", "gmake -n", "ctest -N"}

// IsTest reports whether a command, its words, is one of the setting green.commands: the words of a pattern come at its
// beginning, one after the other, with no other words than options between.
func (s *Settings) IsTest(command []string) bool {
	for _, word := range command {
		if slices.Contains(noTests, word) || slices.Contains(noTests, command[0]+" "+word) {
			return false
		}
	}
	return slices.ContainsFunc(s.GreenCommands, func(pattern string) bool { return begins(command, strings.Fields(pattern)) })
}

func begins(command, pattern []string) bool {
	at := 0
	for _, word := range command {
		if at == len(pattern) {
			break
		}
		if ok, err := path.Match(pattern[at], word); ok && err == nil {
			at++
		} else if !strings.HasPrefix(word, "-") || at == 0 {
			return false
		}
	}
	return at == len(pattern) && at > 0
}
