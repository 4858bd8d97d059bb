#!/bin/sh
# ask TEXT [COMMAND] sends a prompt as Claude Code does: its hook, then its transcript; COMMAND is what
# the agent runs for it, between the hooks of a tool.
# Pages' blocks that need a conversation have some before them.
set -eu
session=5db0d5f6-0000-4000-8000-000000000001
file=$HOME/.claude/projects/-p/$session.jsonl
mkdir -p "$(dirname "$file")"
[ -e "$file" ] || : >"$file"
lines=$(wc -l <"$file")
n=$((lines / 2 + 1))
id() { printf '00000000-0000-4000-8000-%06d%06d' "$1" "$2"; }
printf '{"hook_event_name":"UserPromptSubmit","session_id":"%s","transcript_path":"%s","cwd":"%s","prompt_id":"p%s","prompt":"%s"}' \
	"$session" "$file" "$PWD" "$n" "$1" | rewind hook claude
parent=null
if [ "$n" -gt 1 ]; then parent="\"$(id $((n - 1)) 1)\""; fi
now=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
entry() {
	printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","message":{"role":"%s","content":"%s"},"uuid":"%s","timestamp":"%s","promptId":"p%s","cwd":"%s","sessionId":"%s","version":"2.1.329"}\n' \
		"$1" "$2" "$2" "$3" "$4" "$now" "$n" "$PWD" "$session" >>"$file"
}
entry "$parent" user "$1" "$(id "$n" 0)"
entry "\"$(id "$n" 0)\"" assistant "Done." "$(id "$n" 1)"
[ $# -lt 2 ] && exit
hook() {
	printf '{"hook_event_name":"%s","session_id":"%s","transcript_path":"%s","cwd":"%s","prompt_id":"p%s","tool_name":"Bash","tool_use_id":"toolu_%s","tool_input":{"command":"%s"}}' \
		"$1" "$session" "$file" "$PWD" "$n" "$n" "$2" | rewind hook claude
}
hook PreToolUse "$2"
sleep 0.02
sh -c "$2"
sleep 0.02
hook PostToolUse "$2"
