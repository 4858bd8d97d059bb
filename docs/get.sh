#!/bin/sh
# Downloads a release of rewind, checks it against its checksum, and installs it:
#
#   curl -fsSL https://github.com/rewind-cli/rewind/releases/latest/download/get.sh | sh
#   curl -fsSL …/get.sh | sh -s -- --prefix /opt/rewind --hooks no
#
# Arguments go to install.sh (--help lists them). REWIND_VERSION=v1.2.3 is another
# release than the latest one, REWIND_BASE_URL another place of the files.
set -eu

fail() {
	printf 'get: error: %s\n' "$1" >&2
	if [ $# -gt 1 ]; then printf 'get: hint: %s\n' "$2" >&2; fi
	exit 1
}

# All of it is read before any of it runs: a download that breaks off does nothing.
main() {
	releases=https://github.com/rewind-cli/rewind/releases
	if [ -n "${REWIND_VERSION:-}" ]; then
		base=${REWIND_BASE_URL:-$releases/download/$REWIND_VERSION}
	else
		base=${REWIND_BASE_URL:-$releases/latest/download}
	fi
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no program for $(uname -s)" "on Windows, take the .zip from $releases" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no program for $(uname -m)" "build it: go install github.com/rewind-cli/rewind/cli/rewind@latest" ;;
	esac
	name=rewind-$os-$arch

	if command -v curl >/dev/null 2>&1; then
		download() { curl -fsSL --retry 2 -o "$2" "$1"; }
	elif command -v wget >/dev/null 2>&1; then
		download() { wget -q -O "$2" "$1"; }
	else
		fail "curl or wget is needed"
	fi
	if command -v sha256sum >/dev/null 2>&1; then
		sum() { sha256sum "$1"; }
	elif command -v shasum >/dev/null 2>&1; then
		sum() { shasum -a 256 "$1"; }
	else
		fail "sha256sum or shasum is needed: nothing is installed unchecked"
	fi

	work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-get.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	printf 'Downloading %s ...\n' "$base/$name.tar.gz"
	download "$base/SHA256SUMS" "$work/SHA256SUMS" || fail "$base/SHA256SUMS could not be downloaded"
	download "$base/$name.tar.gz" "$work/$name.tar.gz" || fail "$base/$name.tar.gz could not be downloaded"
	want=$(awk -v f="$name.tar.gz" '$2 == f || $2 == "*" f { print $1 }' "$work/SHA256SUMS")
	case $want in *[!0-9a-f]* | '') fail "SHA256SUMS has no checksum of $name.tar.gz: nothing was installed" ;; esac
	got=$(sum "$work/$name.tar.gz")
	got=${got%% *}
	if [ "$got" != "$want" ]; then
		fail "$name.tar.gz is not what SHA256SUMS says: nothing was installed" "it has $got instead of $want; try again, or report it"
	fi
	tar -xzf "$work/$name.tar.gz" -C "$work" || fail "$name.tar.gz could not be unpacked"
	# The questions are answered at the terminal: standard input is this script.
	if [ -t 1 ] && (: </dev/tty) 2>/dev/null; then
		sh "$work/$name/install.sh" --binary "$work/$name/rewind" "$@" </dev/tty
	else
		sh "$work/$name/install.sh" --binary "$work/$name/rewind" "$@"
	fi
}

main "$@"
