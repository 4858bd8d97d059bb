#!/usr/bin/env bash
# The main job on a sample: save, break things with shell commands, look, put
# everything back, undo that, export. Uses a temporary directory and HOME.
set -euo pipefail
rewind=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-demo-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
mkdir -p "$HOME" "$work/project/src" "$work/project/docs"
cd "$work/project"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
note() { printf '\n# %s\n' "$*"; }

for i in 1 2 3 4 5; do printf 'package src\n\nfunc F%d() int { return %d }\n' "$i" "$i" >"src/f$i.go"; done
echo '# sample' >docs/readme.md
ln -s ../src docs/link
mkdir empty

note "A project without git. Make a store and the first checkpoint."
say "$rewind" init
note "An agent edits with shell commands: nothing an edit tool would notice."
sed -i 's/return 3/return 33/' src/f3.go
rm -r docs
echo 'left over' >src/tmp.log
say "$rewind" save "after the agent"
say "$rewind" list
say "$rewind" diff prev last --stat
note "Everything back as it was before; then undo that too."
say "$rewind" restore prev
test -L docs/link && test -d empty && ! test -e src/tmp.log && grep -q 'return 3 ' src/f3.go
say "$rewind" undo-restore
test ! -e docs && grep -q 'return 33' src/f3.go
note "Even the store can go: its mirror brings it back."
rm -rf .agent src
say "$rewind" undo
grep -q 'return 33' src/f3.go
note "An archive of the first checkpoint, for anybody."
"$rewind" export prev >"$work/snap.tar.gz"
say tar -tzf "$work/snap.tar.gz"
say "$rewind" verify --read-data
note "Done. rewind --help shows the rest."
