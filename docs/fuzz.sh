#!/usr/bin/env bash
# Runs every fuzz target of the project for the given time (20s) or number of runs (2000x) each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-20s}
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "-- $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$package"
	done
done
