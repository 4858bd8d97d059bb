#!/usr/bin/env bash
# Runs every fuzz target of the project for the given time (20s) or number of runs (2000x) each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-20s}
work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-fuzz.XXXXXX")
trap 'rm -rf "$work"' EXIT
format='{{.ImportPath}}|{{.Dir}}|{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}'
go list -f "$format" ./... >"$work/packages"
while IFS='|' read -r package dir files; do
	[ -n "$files" ] || continue
	targets=$(cd "$dir" && grep -hoE '^func Fuzz[A-Za-z0-9_]*' $files | cut -d' ' -f2) || continue
	go test -c -fuzz . -o "$work/test" "$package" # once for all targets of the package
	for target in $targets; do
		echo "-- $package $target"
		(cd "$dir" && "$work/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x \
			-test.fuzzcachedir "$(go env GOCACHE)/fuzz/$package" </dev/null)
	done
done <"$work/packages"
