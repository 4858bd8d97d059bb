#!/usr/bin/env bash
# The main job on a copy of this project's own source: save, break it with shell commands, look, put everything back, undo
# that, export. Uses a temporary directory and HOME.
set -euo pipefail
rewind=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-demo-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
mkdir -p "$HOME" "$work/project"
cd "$work/project"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
note() { printf '\n# %s\n' "$*"; }

for part in cas cli engine hookio manifest docs go.mod; do cp -R "$source/$part" .; done
ln -s ../cas engine/link
mkdir empty

note "A copy of rewind's own source, without git: $(find . -type f | wc -l | tr -d ' ') files. Make a store and the first checkpoint."
say "$rewind" init
note "An agent cleans up with shell commands, which no edit tool notices."
sed -i.bak 's/return nil/return err/' engine/restore/undo.go && rm engine/restore/undo.go.bak
rm -r docs engine/treeio empty
echo 'left over' >cas/tmp.log
say "$rewind" save -m "after the agent"
say "$rewind" list
say "$rewind" diff prev last --stat -- engine/restore/undo.go cas
note "Everything back as it was before; then undo that, too."
say "$rewind" restore prev
diff -r "$source/engine" engine -x link -x testdata && test -L engine/link && test -d empty && test -d docs && ! test -e cas/tmp.log
say "$rewind" undo
test ! -e docs && test ! -e engine/treeio && test -e cas/tmp.log
note "Even the store can be deleted: the next command rebuilds it from its mirror."
rm -rf .agent cas
say "$rewind" undo
test -e cas/tmp.log
note "An archive of the first checkpoint."
"$rewind" export prev >"$work/snap.tar.gz"
tar -tzf "$work/snap.tar.gz" | tail -n 3
say "$rewind" verify --read-data
note "Done. rewind --help shows the rest."
