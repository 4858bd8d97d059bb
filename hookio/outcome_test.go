package hookio

import (
	"fmt"
	"strings"
	"testing"
)

// disk is what the guard asks of the files around: here a table. A file keeps the hooks that its text names.
type disk struct {
	files map[string]string
	links map[string]string
	asked int // how often something was read, or compared
}

func (d *disk) Files() []string {
	return []string{"/home/u/.claude/settings.json", "/srv/p/.claude/settings.json", "/srv/p/.claude/settings.local.json", "/home/u/.codex/config.toml", "/opt/rewind"}
}

func (d *disk) Named(file string, last bool) (named []string) {
	if to, ok := d.links[file]; ok && last {
		file = to
	}
	for _, f := range d.Files() {
		if f == file {
			named = append(named, f)
		}
	}
	return named
}

func (d *disk) Read(file string) []byte {
	d.asked++
	if text, ok := d.files[file]; ok {
		return []byte(text)
	}
	return nil
}

func (d *disk) Lost(after map[string][]byte) string {
	d.asked++
	has := func(text, what string) bool { return strings.Contains(text, what) }
	for _, f := range d.Files() {
		now, before := string(after[f]), d.files[f]
		if _, changed := after[f]; !changed {
			continue
		}
		if f == "/opt/rewind" || has(now, `"disableAllHooks": true`) || has(before, line) && !has(now, `"Stop": "`+line+`"`) {
			return "hooks of " + f
		}
	}
	return ""
}

const line = "'/opt/rewind' hook claude"

func newDisk() *disk {
	settings := fmt.Sprintf("{\n  \"theme\": \"dark\",\n  \"Stop\": \"%s\"\n}\n", line)
	return &disk{
		files: map[string]string{
			"/home/u/.claude/settings.json": settings, "/srv/p/.claude/settings.json": settings, "/srv/p/.claude/settings.local.json": "{\n  \"a\": 1\n}\n", "/opt/rewind": "ELF",
			"/tmp/good.json": strings.Replace(settings, "dark", "light", 1), "/tmp/bad.json": "{}", "/tmp/tree/settings.json": "{}", "/home/u/.codex/config.toml": "",
			"/srv/p/fix.sh": "#!/bin/sh\nset -e\necho fixing # all of it\nsed -i /rewind/d ~/.claude/settings.json\n", "/srv/p/undo.sh": "cd /srv/p\nrewind undo\n", "/srv/p/all.sh": "bash ./fix.sh\n", "/srv/p/again.sh": "sh again.sh\n",
			"/srv/p/ok.sh": "make\nsed -i s/dark/light/ ~/.claude/settings.json\n", "/srv/p/branch.sh": "if [ \"$1\" = off ]; then\nrm ~/.claude/settings.json\nfi\n", "/srv/p/func.sh": "off() {\nrm ~/.claude/settings.json\n}\n", "/tmp/fix.sh": "rm -r .claude\n",
			"/tmp/bad.diff":  "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -3,2 +3,2 @@\n-  \"Stop\": \"" + line + "\"\n+  \"Stop\": \"\"\n }\n",
			"/tmp/good.diff": "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1,2 +1,2 @@\n {\n-  \"theme\": \"dark\",\n+  \"theme\": \"light\",\n",
		},
		links: map[string]string{"/srv/p/link.json": "/home/u/.claude/settings.json"},
	}
}

// TestGuardSettings plays what would switch our hooks off, and what keeps them, in the words of every kind of tool.
func TestGuardSettings(t *testing.T) {
	const user, project, local = "/home/u/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"
	bash := func(command string) *Event {
		return &Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Bash", Class: Shell, Command: command}}
	}
	call := func(tool, input string) *Event {
		e := decodeAs(strings.NewReader(`{"hook_event_name":"PreToolUse","cwd":"/srv/p","tool_name":"`+tool+`","tool_input":`+input+`}`), Claude, "", noEnv)
		return &e
	}
	judge := func(e *Event, refused bool) {
		t.Helper()
		g := testGuarded
		g.Registered = newDisk()
		if r := Guard(e, g); (r != nil) != refused {
			t.Errorf("%s %q %q: refused %v", e.Tool.Name, e.Tool.Command, e.Tool.Files, r)
		} else if r != nil && (!strings.HasPrefix(r.Reason, "rewind: ") || strings.ContainsAny(r.Reason, "\n\x00")) {
			t.Errorf("%q", r.Reason)
		}
	}
	for _, s := range []string{
		"sed -i '/rewind/d' ~/.claude/settings.json", `sed -i 's/"Stop"/"StopX"/' .claude/settings.json`, "perl -pi -e 's/rewind//' .claude/settings.json", "sed -i '3d' .claude/settings.json", "sed -i '2,$d' ~/.claude/settings.json",
		`sed -i 's/{/{ "disableAllHooks": true,/' .claude/settings.local.json`, "sed -i -f /tmp/x .claude/settings.json", "ruby -pi -e 'gsub(/x/,1)' .claude/settings.json",
		"rm .claude/settings.json", "rm -rf .claude", "rm -rf ~/.claude", "rm -rf ~", "rm ~/.claude/*.json", "rm -rf ~/.c*", "mv ~/.claude/settings.json /tmp", "mv .claude old", "echo '{}' > ~/.claude/settings.json", "cp /tmp/x .claude/settings.json", "cp /tmp/bad.json .claude/settings.json",
		"cp /tmp/tree/settings.json .claude/", "cp -r /tmp/tree/. ~/.claude", "cp -r /tmp/tree ~/.claude/", "install -m 600 /tmp/bad.json ~/.claude/settings.json", "rsync -a /tmp/tree/ ~/.claude/", "ln -sf /dev/null ~/.claude/settings.json", "mv /tmp/bad.json .claude/settings.json", "cp -t .claude /tmp/tree/settings.json",
		"jq 'del(.hooks)' .claude/settings.json > /tmp/x && mv /tmp/x .claude/settings.json", "echo '{}' | tee .claude/settings.json", "echo x | tee -a .claude/settings.json", "truncate -s 0 .claude/settings.json", "cd .claude && rm settings.json", "cd ~/.claude; > settings.json", ": > .claude/settings.json",
		`echo '{"disableAllHooks": true}' > .claude/settings.local.json`, "cat > .claude/settings.json <<'E'\n{}\nE", `printf '%s' '{"disableAllHooks": true}' > .claude/settings.local.json`, "cp ~/.claude/settings.json /tmp/b; echo '{}' > ~/.claude/settings.json", "dd if=/dev/null of=.claude/settings.json",
		"chmod 000 ~/.claude/settings.json", "chmod u-r .claude/settings.json", "find ~/.claude -name 'settings*' -delete", "find .claude -type f -exec rm {} +", "echo .claude/settings.json | xargs rm", "echo '{}' > link.json", "DIR=$(pwd); rm $DIR/.claude/settings.json", "sponge .claude/settings.json < x",
		`python3 -c "open('.claude/settings.json','w').write('{}')"`, "cd ~/.claude && python3 - <<E\nopen('settings.json','w')\nE", `node -e "fs.writeFileSync(home+'/.claude/settings.json','{}')"`, "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch\nE",
		"sudo cp /tmp/bad.json /opt/rewind", "rm /opt/rewind", "mv /opt/rewind /opt/r", "echo x > /opt/rewind", "chmod -x /opt/rewind", "ln -sf /bin/true /opt/rewind", "rm -rf /opt", "mv /opt /o",
		"curl -so ~/.claude/settings.json http://x", "curl --output=.claude/settings.json http://x", "curl -fsSLo .claude/settings.json http://x", "Invoke-WebRequest http://x -OutFile .claude/settings.json", "wget -O .claude/settings.json http://x", "go build -o /opt/rewind ./x", "gcc -o/opt/rewind x.c", "strip /opt/rewind", "cp /bin/true $(which rewind)", "cat /bin/true > `command -v rewind`",
		"gawk -i inplace 1 .claude/settings.json", "yq -i 'del(.hooks)' ~/.claude/settings.json", "json -I -f .claude/settings.json -e x", "patch .claude/settings.json < x", "patch -p1 < /tmp/bad.diff", "git apply /tmp/bad.diff", "patch -p1 <<'E'\n--- a/.claude/settings.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-{\nE",
		"ln -sfn /dev/null ~/.claude/settings.json", "ln -snf /tmp/bad.json ~/.claude/settings.json", "cd ~/.claude && git checkout .", "cd ~/.claude && git reset --hard", "git -C ~ checkout HEAD -- .claude", "cd ~/.claude && git stash", "git -C ~ stash push", "git -C ~/.claude switch old", "git -C /home/u/.claude restore .", "cd ~/.claude && git clean -fd",
		"export S=~/.claude/settings.json; sed -i /rewind/d $S", "declare -x D=~/.claude; rm -r $D", "tar -C ~/.claude -xf old.tar", "cd ~/.claude && tar xzf /tmp/x.tgz", "unzip -o x.zip -d ~/.claude", "tar xf x.tar -C .claude",
		"git checkout -- .claude/settings.json", "git -C ~ restore .claude/settings.json", "F=~/.claude/settings.json; rm $F", "for f in ~/.claude/*.json; do rm \"$f\"; done", "for f in .c*/s*; do echo > $f; done", "chmod -R 000 ~/.claude",
		"claude plugin disable rewind@rewind", "gemini hooks disable-all", "codex features disable hooks", "pi remove npm:pi-rewind-checkpoints", "qwen hooks disable x",
		"claude config set disableAllHooks true", "claude config set -g disableAllHooks true",
		"sh fix.sh", "bash -x ./fix.sh now", "./fix.sh", ". ./fix.sh", "cd src; source ../fix.sh", "sh all.sh", "sh /tmp/fix.sh", "bash undo.sh", "cat > new.sh <<'E'\nrm .claude/settings.json\nE\nsh new.sh", "echo 'rm -r ~/.claude' > x.sh && chmod +x x.sh && ./x.sh",
		"rsync -a --delete /tmp/empty/ ~/.claude/", "rsync -a --delete-after ./src/. .claude", "tar -C ~ -xf x.tar .claude/settings.json", "tar xf x.tar -C /home/u ./.claude", "cd ~ && tar xf x.tar .claude",
	} {
		judge(bash(s), true)
	}
	for _, s := range []string{
		"ln -sfn /tmp/good.json ~/.claude/settings.json", "git checkout .", "git reset --hard", "git stash", "cd ~/.claude && git status", "cd ~/.claude && git stash list", "git -C ~/.claude checkout -b x", "git -C ~/.claude checkout -- commands", "cd ~/.claude; git checkout HEAD -- commands/x.md", "git -C ~/.claude reset -q", "git -C ~/.claude clean -nd", "git -C ~/.claude/plugins checkout .", "git -C ~/.claude restore --staged .",
		"tar -C ~ -xf x.tar", "tar -C /opt -xf x.tar", "tar -C ~/.claude -cf /tmp/x.tar .", "tar xf x.tar", "unzip -l x.zip -d ~/.claude", "export S=~/.claude/other.json; rm $S",
		"cat .claude/settings.json", "sed -i 's/dark/light/' .claude/settings.json", "perl -pi -e 's/dark/light/' ~/.claude/settings.json", "cp .claude/settings.json /tmp", "jq . .claude/settings.json > out", "rm .claude/settings.local.json", "sed '/rewind/d' .claude/settings.json > /tmp/x",
		"rm -rf .claude/commands", "echo '{}' > .claude/other.json", "chmod 600 .claude/settings.json", "chmod 755 /opt/rewind", "rm settings.json", "grep rewind .claude/settings.json", "cp /tmp/good.json .claude/settings.json", "mv /tmp/good.json ~/.claude/settings.json", "cp -n /tmp/bad.json .claude/settings.json",
		"cp ~/.claude/settings.json /tmp/b; echo '{}' > ~/.claude/settings.json; cp /tmp/b ~/.claude/settings.json", "cat /tmp/good.json > .claude/settings.json", "echo '{\"a\": 2}' > .claude/settings.local.json", "touch .claude/settings.json", "mv .claude/settings.json x && mv x .claude/settings.json",
		`python3 -c "print(open('.claude/settings.json').read())"`, "python3 -c \"open('other.json','w')\"", "find . -name '*.pyc' -delete", "find ~/.claude -name '*.log' -exec rm {} +", "/opt/rewind list", "cp /opt/rewind /tmp", "curl -o out.json http://x", "curl -fsSLo out.json http://x", "echo x | tee -a notes", "go build -o rewind .", "rm -rf $TMP/rewind", "for f in src/*; do rm $f; done", "for f in ~/.claude/*; do cat $f; done", "git apply /tmp/good.diff", "patch -p1 < /tmp/good.diff", "git checkout -- src", "git checkout main", "yq .hooks .claude/settings.json", "awk 1 .claude/settings.json", "chmod -R u+w ~/.claude", "grep -o Stop .claude/settings.json", "rm link.json", "pi remove x", "gemini hooks list", "claude plugin disable other", "npx prettier -w src",
		"claude config set disableAllHooks false", "claude config get disableAllHooks", "claude config set theme dark", "sh ok.sh", "sh branch.sh", "sh func.sh", "sh again.sh", "sh missing.sh", "sh $X.sh", "./node_modules/x.sh", "cat fix.sh", "sh -n fix.sh", "bash -n ./fix.sh", "echo fix.sh | sh",
		"rsync -a --delete /tmp/empty ~/.claude/", "rsync -a --delete --exclude '*.json' /tmp/empty/ ~/.claude/", "rsync -an --delete /tmp/empty/ ~/.claude/", "rsync -a --delete host:x/ ~/.claude/", "rsync -a --delete $X/ ~/.claude/", "rsync -a /tmp/empty/ ~/.claude/", "rsync -a --delete /tmp/empty/ ~/.claude/commands/", "rsync -a --delete ~/.claude/ .claude/",
		"tar -C ~ -xf x.tar .claude/commands", "tar -C ~ -xf .claude/x.tar", "tar tf x.tar .claude/settings.json", "tar -C ~ -cf x.tar .claude", "tar -C ~ -xf x.tar --exclude .claude", "tar xf x.tar -C ../../home/u", "unzip -o x.zip -x .claude -d ~",
	} {
		judge(bash(s), false)
	}
	for _, c := range []struct {
		tool, file, input string
		refused           bool
	}{
		{"Edit", user, `"old_string":"` + line + `","new_string":""`, true},
		{"Edit", user, `"old_string":"e","new_string":"x","replace_all":true`, true},
		{"Edit", user, `"old_string":"\"Stop\"","new_string":"\"StopX\""`, true},
		{"Edit", "/srv/p/" + local, `"old_string":"{","new_string":"{\"disableAllHooks\": true,"`, true},
		{"Edit", user, `"old_string":"` + line + `","new_string":"` + line + `"`, false},
		{"Edit", user, `"old_string":"dark","new_string":"light"`, false},
		{"Edit", user, `"old_string":"\r\n  \"theme\": \"dark\",","new_string":""`, false},
		{"Edit", "/home/u/x/../.claude/settings.json", `"old_string":"` + line + `","new_string":""`, true},
		{"Edit", "link.json", `"old_string":"` + line + `","new_string":""`, true},
		{"Edit", user, `"old_string":"not there","new_string":""`, true},
		{"Write", user, `"content":"{}"`, true},
		{"Write", "/srv/p/" + local, `"content":"{\"disableAllHooks\": true}"`, true},
		{"Write", "/srv/p/" + local, `"content":"{\"theme\": true}"`, false},
		{"Write", user, `"content":"{ \"Stop\": \"` + line + `\"}"`, false},
		{"Write", "/opt/rewind", `"content":""`, true},
		{"MultiEdit", user, `"edits":[{"old_string":"dark","new_string":"b"},{"old_string":"` + line + `","new_string":""}]`, true},
		{"MultiEdit", user, `"edits":[{"old_string":"dark","new_string":"b"},{"old_string":"\"b\"","new_string":"c"}]`, false},
		{"NotebookEdit", user, `"new_source":"x"`, true},
		{"Write", "~/.claude/settings.json", `"content":"{}"`, true},
		{"replace", user, `"old_string":"Stop","new_string":"x","expected_replacements":1`, true},
		{"write_file", user, `"content":"{}"`, true},
		{"write_file", user, `"content":"{ \"Stop\": \"` + line + `\"}"`, false},
		{"create", project, `"file_text":"{}"`, true},
		{"str_replace_editor", project, `"old_str":"Stop","new_str":"x"`, true},
		{"str_replace_editor", project, `"old_str":"dark","new_str":"x"`, false},
		{"mcp__fs__write_file", project, `"content":"{}"`, true},
		{"mcp__fs__edit_file", project, `"edits":[{"oldText":"Stop","newText":"x"}]`, true},
		{"mcp__fs__edit_file", project, `"edits":[{"oldText":"dark","newText":"x"}]`, false},
		{"mcp__fs__read_text_file", project, `"x":1`, false},
		{"mcp__fs__delete_file", project, `"x":1`, true},
		{"mcp__serena__replace_regex", project, `"regex":"Stop","repl":"x"`, true},
		{"Write", "/srv/p/a.json", `"content":"{}"`, false},
	} {
		name := "file_path"
		judge(call(c.tool, `{"`+name+`":"`+c.file+`",`+c.input+`}`), c.refused)
	}
	for patch, refused := range map[string]bool{
		"*** Update File: .claude/settings.json\n@@\n   \"theme\": \"dark\",\n-  \"Stop\": \"" + line + "\"\n+  \"Stop\": \"\"\n }\n": true,
		"*** Update File: .claude/settings.json\n@@\n {\n-  \"theme\": \"dark\",\n+  \"theme\": \"light\",\n":                         false,
		"*** Delete File: .claude/settings.json\n":                                                     true,
		"*** Add File: .claude/settings.json\n+{}\n":                                                   true,
		"*** Add File: .claude/settings.local.json\n+{\"disableAllHooks\": true}\n":                    true,
		"*** Add File: a.json\n+{}\n":                                                                  false,
		"*** Update File: .claude/settings.json\n*** Move to: old.json\n@@\n-  \"theme\": \"dark\",\n": true,
		"*** Update File: src/a.go\n@@\n-a\n+b\n*** Delete File: /opt/rewind\n":                        true,
	} {
		whole := "*** Begin Patch\n" + patch + "*** End Patch\n"
		judge(call("apply_patch", fmt.Sprintf(`{"input":%q}`, whole)), refused)
		judge(call("apply_patch", fmt.Sprintf(`{"command":%q}`, whole)), refused)
		judge(bash("apply_patch <<'EOF'\n"+whole+"EOF"), refused)
	}
	for diff, refused := range map[string]bool{
		"--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1,2 +1,2 @@\n {\n-  \"theme\": \"dark\",\n+  \"theme\": \"light\",\n": false,
		"--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -3,2 +3,2 @@\n-  \"Stop\": \"" + line + "\"\n+  \"Stop\": \"\"\n }\n":  true,
		"--- a/.claude/settings.json\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-{\n-  \"theme\": \"dark\",\n":                                         true,
	} {
		judge(call("patch", fmt.Sprintf(`{"patch":%q}`, diff)), refused)
	}
	judge(call("mcp__fs__move_file", `{"source":"`+user+`","destination":"/tmp/x"}`), true)
	judge(call("mcp__fs__move_file", `{"source":"/tmp/bad.json","destination":"`+user+`"}`), true)
	judge(call("mcp__fs__move_file", `{"source":"/tmp/good.json","destination":"`+user+`"}`), false)
	judge(call("mcp__fs__copy_file", `{"source":"`+user+`","destination":"/tmp/x"}`), false)
}

// A call that touches none of these files costs nothing: no file is read, and nothing compared.
func TestGuardSettingsCost(t *testing.T) {
	for _, c := range []struct{ tool, input string }{
		{"Bash", `{"command":"npm test > log; cp a b; rm -rf build; sed -i s/a/b/ x; cat a > c; python3 -c \"open('x','w')\""}`},
		{"Edit", `{"file_path":"/srv/p/settings.json","old_string":"a","new_string":"b"}`},
		{"Write", `{"file_path":"/srv/p/a","content":"b"}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** Delete File: c\n*** End Patch\n"}`},
	} {
		d := newDisk()
		g := testGuarded
		g.Registered = d
		e := decodeAs(strings.NewReader(`{"hook_event_name":"PreToolUse","cwd":"/srv/p","tool_name":"`+c.tool+`","tool_input":`+c.input+`}`), Claude, "", noEnv)
		if r := Guard(&e, g); r != nil || d.asked != 0 {
			t.Errorf("%s %s: %v, asked %d times", c.tool, c.input, r, d.asked)
		}
	}
}
