#!/bin/sh
# Installs rewind for this account: the program, its tier, and the agents' hooks.
# At a terminal it asks; without one it does what the flags say.
set -eu

tiers() {
	cat <<'EOF'
A tier says how often agents' hooks take checkpoints:
  minimal     when a session starts
  balanced    also before each prompt, before edits and shell commands, and when
              the agent stops; half a minute apart, small edits left out
  aggressive  also after shell commands and when a subagent or the session ends;
              15 seconds apart, hardly an edit left out
EOF
}

usage() {
	cat <<'EOF'
usage: ./install.sh [--prefix DIR] [--binary FILE] [--tier T] [--auto-init yes|no]
                    [--hooks yes|no] [--agent A] [--yes] [T]
       ./install.sh --uninstall [--prefix DIR] [--yes]

  --prefix DIR      the program goes to DIR/bin, manual pages and completions
                    to DIR/share (default ~/.local)
  --binary FILE     install this program instead of building one; in an unpacked
                    archive it is the one beside this script
  --tier T          how often to take checkpoints: minimal (when a session starts),
                    balanced (also at prompts, before edits and shell commands) or
                    aggressive (also after shell commands, more of them)
  --auto-init A     yes: initialise a project when an agent's session starts in it
  --hooks A         yes: register the hooks with the agents of this account
  --agent A         register them with this agent only, as rewind config names it
  --uninstall       remove the hooks, the program, its manual pages and
                    completions; checkpoints are kept
  --yes             ask nothing; use the flags, or else balanced, no, yes
EOF
}

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install: error: %s\n' "$1" >&2
	if [ $# -gt 1 ]; then printf 'install: hint: %s\n' "$2" >&2; fi
	exit 1
}
wrong() {
	printf 'install: error: %s\n' "$1" >&2
	usage >&2
	exit 2
}

prefix='' binary='' tier='' auto_init='' hooks='' agent='' uninstall=no ask=yes
while [ $# -gt 0 ]; do
	case $1 in
	--prefix | --binary | --tier | --auto-init | --hooks | --agent)
		[ $# -ge 2 ] || wrong "$1 needs a value"
		case $1 in
		--prefix) prefix=$2 ;;
		--binary) binary=$2 ;;
		--tier) tier=$2 ;;
		--auto-init) auto_init=$2 ;;
		--hooks) hooks=$2 ;;
		--agent) agent=$2 ;;
		esac
		shift 2
		;;
	--uninstall) uninstall=yes && shift ;;
	--yes) ask=no && shift ;;
	-h | --help) usage && exit 0 ;;
	minimal | balanced | aggressive) # as the older installer was called
		[ -z "$tier" ] || wrong "there is one tier, not $tier and $1"
		tier=$1 && shift
		;;
	*) wrong "unknown argument $1" ;;
	esac
done
case $tier in '' | minimal | balanced | aggressive) ;; *) wrong "unknown tier $tier" ;; esac
case $auto_init in '' | yes | no) ;; *) wrong "--auto-init must be yes or no" ;; esac
case $hooks in '' | yes | no) ;; *) wrong "--hooks must be yes or no" ;; esac
case $agent in *[!a-z]*) wrong "unknown agent $agent" ;; esac
if [ ! -t 0 ] || [ ! -t 1 ]; then ask=no; fi

if [ -z "${HOME:-}" ] || [ ! -d "$HOME" ]; then fail "HOME is not a directory" "export HOME=/your/home"; fi
[ -n "$prefix" ] || prefix=$HOME/.local
case $prefix in /*) ;; *) prefix=$(pwd)/$prefix ;; esac
bin=$prefix/bin
program=$bin/rewind
here=$(cd "$(dirname "$0")" && pwd -P)
home=$(cd "$HOME" && pwd -P)

# question TEXT DEFAULT: prints the answer.
question() {
	printf '%s [%s] ' "$1" "$2" >&2
	IFS= read -r reply || reply=''
	printf '%s' "${reply:-$2}"
}

# agreed TEXT DEFAULT: true for yes.
agreed() {
	case $(question "$1" "$2") in y | Y | yes | Yes | YES) return 0 ;; *) return 1 ;; esac
}

# holds DIR FILE: true if FILE is in DIR, or is DIR.
holds() {
	case $2/ in "$1"/*) return 0 ;; *) return 1 ;; esac
}

# older FILE: the directory of an installation of the tool that went before, if
# FILE is a link into one. A directory in which the account's own things are too
# is none.
older() {
	[ -L "$1" ] || return 1
	target=$(readlink "$1")
	case $target in /*) ;; *) target=$(dirname "$1")/$target ;; esac
	dir=$(cd "$(dirname "$target")" 2>/dev/null && pwd -P) || return 1
	until [ "$dir" = / ] || holds "$dir" "$home" || holds "$dir" "$(cd "$bin" && pwd -P)"; do
		for file in "$dir"/smart-checkpoint* "$dir"/*/smart-checkpoint*; do
			if [ -e "$file" ]; then
				printf '%s' "$dir"
				return 0
			fi
		done
		dir=$(dirname "$dir")
	done
	return 1
}

# The directories in which man and the shells look.
man=$prefix/share/man/man1
completions() { # completions SHELL: its file
	case $1 in
	bash) printf '%s' "$prefix/share/bash-completion/completions/rewind" ;;
	zsh) printf '%s' "$prefix/share/zsh/site-functions/_rewind" ;;
	fish) printf '%s' "$prefix/share/fish/vendor_completions.d/rewind.fish" ;;
	esac
}

# forget_pages removes the manual pages that an installation wrote, older ones too.
forget_pages() {
	for page in "$man/rewind.1" "$man"/rewind-*.1; do
		if [ -f "$page" ] && head -n 1 "$page" | grep '^\.TH "REWIND.*"rewind"$' >/dev/null; then rm -f "$page"; fi
	done
}

if [ "$uninstall" = yes ]; then
	if [ -x "$program" ]; then
		if [ "$ask" = yes ] && ! agreed "Remove the hooks from the agents' settings and delete $program?" no; then
			say "Nothing was changed."
			exit 0
		fi
		"$program" config --unregister-hooks || fail "the hooks could not be removed" "fix the file named above, then try again"
		rm -f "$program"
		forget_pages
		for shell in bash zsh fish; do rm -f "$(completions "$shell")"; done
		say "Removed $program."
	else
		say "$program does not exist."
	fi
	for name in smart-checkpoint smart-checkpoint.sh; do
		if [ -L "$bin/$name" ] && [ "$(readlink "$bin/$name")" = rewind ]; then rm -f "$bin/$name"; fi
	done
	say "Checkpoints are kept: .agent/rewind in each project, and $HOME/.rewind."
	exit 0
fi

# 1. The program.
work=$(mktemp -d "${TMPDIR:-/tmp}/rewind-install.XXXXXX")
trap 'rm -rf "$work" "$bin/.rewind-$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ -z "$binary" ] && [ ! -f "$here/go.mod" ] && [ -f "$here/rewind" ]; then binary=$here/rewind; fi
if [ -z "$binary" ]; then
	command -v go >/dev/null 2>&1 || fail "Go is needed to build rewind" "see https://go.dev/doc/install, or use --binary FILE"
	[ -f "$here/go.mod" ] || fail "$here is not a checkout of rewind" "run install.sh from its checkout, or use --binary FILE"
	say "Building ..."
	(cd "$here" && CGO_ENABLED=0 go build -tags nethttpomithttp2 -trimpath -ldflags='-s -w' -o "$work/rewind" ./cli/rewind) || fail "the build failed"
	binary=$work/rewind
fi
case $binary in /*) ;; *) binary=$(pwd)/$binary ;; esac
[ -f "$binary" ] || fail "$binary is not a file"
case $("$binary" --version 2>/dev/null) in
"rewind "*) ;;
*) fail "$binary is not rewind, or does not run on this machine" ;;
esac
mkdir -p "$bin"
previous=''
for name in rewind smart-checkpoint smart-checkpoint.sh; do
	if found=$(older "$bin/$name"); then previous=$found; fi
done
cp "$binary" "$bin/.rewind-$$"
chmod 755 "$bin/.rewind-$$"
mv -f "$bin/.rewind-$$" "$program" # over a link, not through it
say "Installed $program."
forget_pages
if "$program" man --quiet "$man" 2>/dev/null; then
	for shell in bash zsh fish; do
		file=$(completions "$shell")
		if mkdir -p "$(dirname "$file")" && "$program" completion "$shell" >"$work/completion"; then cp "$work/completion" "$file"; fi
	done
	say "Manual pages and completions are in $prefix/share."
else
	say "The manual pages could not be written to $man."
fi
case ${SHELL:-} in
*/zsh) say "For zsh's completions, put this before compinit in ~/.zshrc: fpath+=($prefix/share/zsh/site-functions)" ;;
esac
if [ -n "$previous" ]; then
	for name in smart-checkpoint smart-checkpoint.sh; do
		if [ -L "$bin/$name" ]; then ln -sf rewind "$bin/$name"; fi
	done
	say "The links of the previous tool now point to it. That tool is in $previous."
	if holds "$home" "$previous" && ! holds "$previous" "$here" && [ "$ask" = yes ] &&
		agreed "Remove $previous? It contains no checkpoints." no; then
		rm -rf "$previous"
		say "Removed $previous."
	fi
fi
case :${PATH:-}: in
*":$bin:"*) ;;
*) say "$bin is not in your PATH: add it in your shell's profile. The hooks work without it." ;;
esac

# 2. Settings.
if [ "$ask" = yes ]; then
	if [ -z "$tier" ]; then tiers; fi
	while [ -z "$tier" ]; do
		tier=$(question "How often to take checkpoints: minimal, balanced or aggressive?" balanced)
		case $tier in minimal | balanced | aggressive) ;; *) tier='' ;; esac
	done
	if [ -z "$auto_init" ]; then
		auto_init=no
		if agreed "Initialise a project automatically when an agent's session starts in it?" no; then auto_init=yes; fi
	fi
fi
if [ -n "$tier" ]; then "$program" config --global tier "$tier"; fi
case $auto_init in
yes) "$program" config --global autoInit true ;;
no) "$program" config --global autoInit false ;;
esac

# 3. Hooks.
registered=no
for file in "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" "$HOME/.factory/hooks.json" "$HOME/.factory/settings.json"; do
	if [ -f "$file" ] && grep -E "rewind'? hook |smart-checkpoint" "$file" >/dev/null 2>&1; then registered=yes; fi
done
if [ -z "$hooks" ]; then
	hooks=yes
	if [ "$ask" = yes ]; then
		text="Register the hooks with the agents of this account?" default=yes
		if [ "$registered" = yes ]; then text="Hooks are already registered. Bring them up to date?"; fi
		if ! agreed "$text" "$default"; then hooks=no; fi
	fi
fi
if [ "$hooks" = yes ]; then
	set -- config --register-hooks
	if [ -n "$agent" ]; then set -- "$@" --agent "$agent"; fi
	"$program" "$@" || say "The hooks were not registered. Once that is fixed, run: $program config --register-hooks"
else
	say "No hooks were registered. To register them, run: $program config --register-hooks"
fi
say "Next, in a project: rewind init"
