#!/usr/bin/env bash
# Makes a release: static programs for six platforms in archives, .deb and .rpm,
# get.sh, and SHA256SUMS over all. The same commit gives the same bytes; an .rpm
# has the name of the machine in it, too.
#
#   docs/dist.sh [--short] [--twice] [OUT]
#
# OUT (default dist) is made anew. --short: only this machine's platform, no .deb
# and .rpm. --twice: builds again elsewhere, and fails where a byte differs.
# VERSION and SOURCE_DATE_EPOCH are the commit's where they are not set. Needs Go,
# GNU tar, gzip and zip; without network nfpm must be in the module cache.
set -euo pipefail
cd "$(dirname "$0")/.."

nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.41.3
platforms='linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64'
short=no twice=no out=dist
while [ $# -gt 0 ]; do
	case $1 in
	--short) short=yes platforms=$(go env GOHOSTOS)/$(go env GOHOSTARCH) ;;
	--twice) twice=yes ;;
	-*) echo "dist: error: unknown flag $1" >&2 && exit 2 ;;
	*) out=$1 ;;
	esac
	shift
done
case $out in '' | . | .. | / | */.. | */.) echo "dist: error: OUT is made anew: it cannot be ${out:-empty}" >&2 && exit 2 ;; esac

if [ -z "${VERSION:-}" ]; then
	VERSION=$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null) ||
		VERSION=0.0.0-$(git rev-list --count HEAD)-g$(git describe --always --dirty --exclude '*')
fi
VERSION=${VERSION#v}
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export VERSION SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C CGO_ENABLED=0

module=$(go list -m)
work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-dist.XXXXXX")
trap 'rm -rf "$work"' EXIT

build() { # build OS ARCH FILE
	GOOS=$1 GOARCH=$2 go build -tags nethttpomithttp2 -trimpath -buildvcs=false \
		-ldflags "-s -w -buildid= -X $module/cli/app.Version=$VERSION" -o "$3" ./cli/rewind
}

rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/rewind"
mkdir -p "$work/share/completions"
"$work/rewind" man --quiet "$work/share/man"
for shell in bash zsh fish; do "$work/rewind" completion "$shell" >"$work/share/completions/rewind.$shell"; done

for platform in $platforms; do
	os=${platform%/*} arch=${platform#*/}
	name=rewind-$os-$arch
	echo "-- $name $VERSION"
	mkdir "$work/$name"
	case $os in
	windows) build "$os" "$arch" "$work/$name/rewind.exe" ;;
	*)
		build "$os" "$arch" "$work/$name/rewind"
		cp install.sh "$work/$name"
		;;
	esac
	cp -R README.md LICENSE docs/CHANGELOG.md "$work/share/completions" "$work/share/man" "$work/$name"
	find "$work/$name" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
	(cd "$work/$name" && for f in rewind rewind.exe install.sh; do [ ! -e $f ] || chmod 755 $f; done)
	find "$work/$name" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	case $os in
	windows) (cd "$work" && find "$name" | sort | zip -q -9 -X -@ "$out/$name.zip") ;;
	*) tar -C "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9 -n >"$out/$name.tar.gz" ;;
	esac
done

if [ "$short" = no ]; then
	gzip -9 -n "$work"/share/man/*.1
	for arch in amd64 arm64; do
		# A package's version has no hyphen in it.
		sed -e "s|@ARCH@|$arch|g; s|@VERSION@|${VERSION//-/+}|; s|@WORK@|$work|; s|@MTIME@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)|" docs/nfpm.yaml >"$work/nfpm.yaml"
		for format in deb rpm; do
			env -u CGO_ENABLED go run "$nfpm" package -f "$work/nfpm.yaml" -p "$format" -t "$out/rewind-linux-$arch.$format" >/dev/null
			echo "-- rewind-linux-$arch.$format"
		done
	done
fi
cp docs/get.sh "$out"
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" . && chmod 644 SHA256SUMS)

if [ "$twice" = yes ]; then
	mkdir "$work/elsewhere"
	git ls-files -z | tar --null -T - -cf - | tar -C "$work/elsewhere" -xf -
	again=()
	[ "$short" = no ] || again=(--short)
	"$work/elsewhere/docs/dist.sh" "${again[@]}" "$work/again" >/dev/null
	diff -r "$out" "$work/again"
	echo "A second build elsewhere has the same bytes."
fi
