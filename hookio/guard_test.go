package hookio

import (
	"strings"
	"testing"
)

var testGuarded = Guarded{Root: "/srv/p", Home: "/home/u", Protected: []Protected{{Dir: "/srv/p/.agent/rewind"}, {Dir: "/home/u/.rewind"}}}

func survives(g Guarded) Guarded {
	g.Protected = []Protected{{Dir: "/srv/p/.agent/rewind", Survives: true}, {Dir: "/home/u/.rewind"}}
	return g
}

func TestGuardCommands(t *testing.T) {
	for _, c := range []struct {
		script string
		always bool // also where the store has a mirror
	}{
		{"rm -rf .agent/rewind", true}, {"rm -rf .agent/rewind/objects", true}, {"rm .agent/rewind/head", true}, {"rm -rf ./.agent/../.agent/rewind/", true}, {`rm -rf "/srv/p/.agent/rewind"`, true},
		{"env -C .agent/rewind rm format", true}, {"env --chdir=.agent rm -rf rewind", true}, {"sudo -D .agent/rewind rm format", true}, {"env -C sub true; rm -rf .agent/rewind", true}, {"env -C /tmp echo x >.agent/rewind/format", true},
		{"cd .agent && rm -rf rewind", true}, {"cd .agent/rewind; rm -rf *", true}, {"rm -rf .agent/*", true}, {"rm -rf .agent/rew?nd", true}, {"rm -rf .agent/{rewind,other}", true}, {"rm -rf $CLAUDE_PROJECT_DIR/.agent/rewind", true},
		{`rm -rf "$PWD/.agent/rewind"`, true}, {`rm -rf "$(pwd)/.agent/rewind"`, true}, {"D=.agent/rewind; rm -rf $D", true}, {`cd "$X" && rm -rf .agent/rewind`, true}, {"rm -rf .AGENT/Rewind", true},
		{"sudo rm -rf .agent/rewind", true}, {"sh -c 'rm -rf .agent/rewind'", true}, {"echo x | xargs rm .agent/rewind/head", true}, {"find .agent/rewind -type f | xargs rm", true}, {"find .agent/rewind -delete", true}, {`find .agent/rewind -exec rm {} \;`, true},
		{"mv .agent/rewind /tmp/x", true}, {"mv x .agent/rewind/head", true}, {"cp x .agent/rewind/head", true}, {"cp -t .agent/rewind x", true}, {"echo '{}' > .agent/rewind/config.json", true}, {"echo x >> .agent/rewind/head", true}, {"tee .agent/rewind/x", true},
		{"sed -i s/a/b/ .agent/rewind/config.json", true}, {"truncate -s 0 .agent/rewind/objects/log-1.pack", true}, {"chmod 777 .agent/rewind", true}, {"ln -sf x .agent/rewind/head", true}, {"dd if=x of=.agent/rewind/head", true}, {"touch .agent/rewind/x", true},
		{"python3 -c \"import shutil; shutil.rmtree('.agent/rewind')\"", true}, {"node -e \"fs.rmSync('/srv/p/.agent/rewind')\"", true}, {"python3 <<EOF\nopen('.agent/rewind/head','w')\nEOF", true}, {"tar xf a.tar -C .agent/rewind", true},
		{"rm -rf ~/.rewind", true}, {"rm -rf $HOME/.rewind/vault", true}, {"echo x > ~/.rewind/config.json", true}, {"rm -rf ~", true}, {"rm -rf /", true}, {"rm -rf /home", true},
		{"rm -rf .agent", false}, {"rm -r -f .agent", false}, {"rm -rf .", false}, {"rm -rf /srv/p", false}, {"rm -rf .a*", false}, {"rm -rf .??*", false}, {"rm -rf {.agent,build}", false}, {"mv .agent old", false}, {"cd .. && rm -rf p", false}, {"rm -fr -- .agent", false},
		{"git clean -fdx", false}, {"git clean -xdf", false}, {"git clean -f -d -X", false}, {"git -C /srv/p clean -ffdx", false}, {"cd sub; git -C .. clean -fdx .", false}, {"git clean -fdx .agent", false}, {"git stash -a", true}, {"git stash push --all", true}, {"cd sub && git stash -a -m x", true},
		{"git stash -ua", true}, {"git stash save -a wip", true}, {"git stash --al", true}, {"git stash push -a -- .", true}, {"git stash push -a .agent", true}, {"git stash push -am x", true}, {"git -C /srv/p stash push -a -- :/", true},
		{`find . -type f -exec sed -i 's/\r$//' {} +`, true}, {"find . -type f ! -name format -exec sed -i s/a/Q/ {} \\;", true}, {"find . -exec perl -pi -e s/a/b/ {} +", true}, {"find /srv -type f -exec truncate -s 0 {} +", true}, {"find . -type f -print0 | xargs -0 sed -i s/a/b/", true}, {"find . -type f | grep -v .git | xargs sed -i s/a/b/", true},
		{"find . -delete", false}, {"find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +", false}, {"find . -not -path './.git/*' -delete", false}, {"find . -name '*.pack' -delete", false}, {"find . -mtime +30 -delete", false},
		{"find . -type f ! -name '*.go' -delete", false}, {"find . \\( -name .git -o -name src \\) -prune -o -exec rm -rf {} +", false}, {"find . -name node_modules -prune -o -type f -print0 | xargs -0 rm -f", false}, {"find . -path ./.agent -prune -o -delete", false}, {"find -iregex '.*\\.\\(pack\\|idx\\)' -delete", false},
		{"ls -A | xargs rm -rf", false}, {"ls -a1 | grep -v .git | xargs rm -rf", false}, {"ls -A | xargs rm -rf $(echo -v)", false}, {"(cd /srv/p; ls -A) | xargs rm -rf", false}, {"rm -r $(ls -A)", false}, {"rm -rf `ls -a`", false}, {"cd .agent; rm -rf $(ls)", true}, {"rsync -a --delete /tmp/empty/ ./", false}, {"rsync -a --delete-excluded /tmp/empty/ /srv/p", false}, {"find . -maxdepth 1 ! -name . | xargs rm -rf", false}, {"find . -maxdepth 1 -name '.*' -exec sudo rm -r {} +", false},
		{"python3 -c \"import shutil; shutil.rmtree('.agent')\"", false}, {`node -e 'fs.rmSync(".agent", {recursive: true})'`, false}, {`find . -exec rm -rf {} +`, false}, {"find /srv/p -type f -delete", false},
		{"rewind restore last", true}, {"/usr/local/bin/rewind undo", true}, {"rewind undo 2", true}, {"rewind redo", true}, {"rewind --quiet redo 2", true}, {"rewind undo-restore --to 3", true}, {"rewind undo-restore", true}, {"rewind redo-restore", true}, {"rewind back 2", true}, {"rewind gc --keep 1", true}, {"rewind config guard false", true}, {"rewind config --tier minimal", true}, {"rewind config --unset guard", true}, {"rewind config --register-hooks", true}, {"rewind config -- guard false", true}, {"echo guard false | xargs rewind config", true}, {"rewind config $X", true}, {"rewind --root /x jump 3", true},
		{"rewind forget -- a", true}, {"rewind restore 1 -- -n", true}, {"rewind forget -y --text -n", true}, {"rewind gc -n --dry-run=false", true}, {"rewind restore -n=false 1", true},
		{"rewind run -- rm -rf .agent", false}, {"rewind run --name x rm -rf .agent/rewind", true}, {"rewind run --yes -- make", true}, {"rewind run -qy make", true}, {"rewind run -- sudo rewind undo", true}, {"rewind run -- sh -c 'rm -rf .agent'", false},
		{"xargs rm -rf <<< .agent/rewind", true}, {"xargs rm <<E\na .agent/rewind/head\nE", true}, {"rewind restore last -- --dry-run", true}, {"rewind deinit --yes", true}, {"rewind stores rm 1234", true}, {"rewind forget --text x", true}, {"rewind redo", true}, {"rewind revert prompt~1", true}, {"rewind ui", true},
		{`echo '{"prompt":"/rewind:undo"}' | rewind hook claude`, true}, {"rewind --root /x stores --json rm y", true}, {"rewind chat 2", true}, {"rewind init --adopt x", true}, {"cd /tmp && rewind repair", true}, {"ls && sudo -u x rewind --quiet restore 1", true}, {"$(rewind undo)", true}, {"smart-checkpoint restore", true}, {"X=1 rewind unpin x", true},
		{"rewind bisect --run 'rm -rf /srv/p/.agent/rewind'", true}, {"rewind bisect --run 'cd /srv/p && rewind undo'", true}, {"rewind bisect --good 3 -- rewind undo", true}, {"rewind import .", true}, {`rewind diff 3 --tool="rewind undo"`, true}, {`rewind diff --tool='rewind forget --yes -- a'`, true}, {"rewind import --git -n", true},
		{"$(which rewind) undo", true}, {"`which rewind` undo", true}, {`"$(command -v rewind)" restore last`, true}, {"R=$(which rewind); $R gc", true}, {"sudo $(type -P rewind) undo", true},
		{`python3 -c "os.system('rewind undo')"`, true}, {`python3 -c 'import subprocess; subprocess.run(["/usr/bin/rewind", "--root", "/x", "restore", "last"])'`, true}, {"python3 <<'E'\nimport os\nos.system('rewind back 2')\nE", true},
		{`node -e "require('child_process').execSync('rewind gc --keep 1')"`, true}, {"perl -e 'system(\"rewind\", \"undo\")'", true}, {"ruby -e '`rewind undo`'", true}, {"echo undo | xargs rewind", true},
	} {
		e := Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Bash", Class: Shell, Command: c.script}}
		r := Guard(&e, testGuarded)
		if r == nil {
			t.Errorf("%q is let through", c.script)
			continue
		}
		if !strings.HasPrefix(r.Reason, "rewind: ") || strings.ContainsAny(r.Reason, "\n\x1b") {
			t.Errorf("%q: %q", c.script, r.Reason)
		}
		if got := Guard(&e, survives(testGuarded)) != nil; got != c.always {
			t.Errorf("%q with a mirror: refused %v", c.script, got)
		}
	}
	for _, s := range []string{
		"", "env -C sub rm format", "env -C .agent/rewind cat format >x", "env -C .agent/rewind true; rm format", "ls -la .agent/rewind", "cat .agent/rewind/config.json", "du -sh .agent", "grep -r x .agent/rewind", "find .agent/rewind -name x", "cp .agent/rewind/config.json /tmp/x", "cp -r .agent/rewind /tmp/backup", "tar czf /tmp/a.tgz .agent/rewind", "wc -l < .agent/rewind/config.json", "diff .agent/rewind/a b > out",
		"rewind config", "rewind config tier", "rewind config --json guard", "rewind config --global retention.maxSize",
		"find . -name '*.go' -exec sed -i s/a/b/ {} +", "find . -path ./.agent -prune -o -type f -exec sed -i s/a/b/ {} +", "find . -type f -not -path './.agent/*' | xargs sed -i s/a/b/", "find src -type f -exec sed -i s/a/b/ {} +", "find . -type f -exec sed -n s/a/b/p {} +", "find . -type f -exec chmod 644 {} +", "grep -rl foo . | xargs sed -i s/foo/bar/", "find . -type f -exec sed s/a/b/ {} +",
		"find . -empty -delete", "find . -type d -empty -delete", "find . -path ./.agent -prune -o -type f -exec rm {} +", "find . -maxdepth 1 -type f -delete", "find . ! -path './.agent/*' -type f -delete", "find . -type d -name __pycache__ -exec rm -rf {} +", "find . -type f -size 0 -delete", "find . -not -name '*.pack' -name '*.tmp' -mtime +3 -delete",
		"find . -mindepth 1 -maxdepth 1 ! -name .git ! -name .agent -exec rm -rf {} +", "find . -regex '.*\\.py[co]' -delete", "find . -name 'a[0-9]*' -delete", "ls | xargs rm -rf", "ls -A | grep -v .agent | xargs rm -rf", "ls -A | grep tmp | xargs rm -rf", "ls -A build | xargs rm -rf", "rm -r $(ls)", "rm $(ls -A)", "rsync -a --delete src/ /tmp/x", "rsync -a --delete --exclude .agent /tmp/x/ .", "rsync -an --delete /tmp/x/ .", "rsync -a /tmp/x/ .", "rsync -a --delete . host:p",
		"find . -type f -exec grep -q x {} \\; -name '*.tmp' -delete", "find src -delete", "ls -A .. | head -3", "python3 -c \"import shutil; shutil.rmtree('build')\"",
		"rewind", "rewind list", "rewind save before", "rewind show last --files", "rewind diff", "rewind status --json", "rewind restore last --dry-run", "rewind restore 1 --git --dry-run", "rewind restore 1 --git -n", "rewind undo --git -n", "rewind restore 1 --git=exact -n", "rewind gc --dry-run", "rewind restore --help", "rewind export last -o x.tgz", "rewind pin last", "rewind init", "rewind verify", "echo rewind undo", "git log --grep 'rewind restore'",
		"rm -rf build", "rm -rf *", "rm x.agent", "rm -rf sub/.agent", "rm -rf .agents", "rm -rf .agent-old/rewind", "rm .agent", "git clean -fd", "git clean -n -x", "git clean -fdx -e .agent", "git clean -fdx sub", "cd sub && git clean -fdx", "git stash", "git stash -u", "git stash pop", "git stash list -a", "git stash -m a", "git stash push -ma", "git stash push -m -a", "git stash push -a -- src", "git stash push -u -- .", "cd /srv/q && git stash -a",
		"rewind restore 1 -n", "rewind restore -yn 1", "rewind undo -nq", "rewind gc -n", "xargs rm -rf <<< build",
		"$(which rewind) list", "$(which python3) undo", "which rewind undo", `python3 -c "os.system('rewind list')"`, `python3 -c "print('rewind undo')"`, "python3 rewind.py undo", "echo list | xargs rewind", "command -v rewind",
		"rewind import -n .", "rewind diff --tool=meld 3", "rewind diff -- --tool=undo", "rewind checkout 3 /tmp/x", "rewind bisect --run 'make undo'", "rewind bisect --good 4 -- rm -rf .agent",
		"rewind attempts", "rewind attempts prompt~2 --json", "rewind compare attempt~1 attempt~2 -p", "rewind compare 3 now -- restore", "rewind blame a.go", "rewind blame -L 1,+3 undo", "rewind stores", "rewind stores --json", "rewind history -p src/x", "rewind grep undo -- restore", "rewind grep -e restore", "rewind hook generic", "rewind hook --help", "rewind deinit --help", "rewind undo --dry-run",
		"rewind run -- make", "rewind run make test", "rewind run -- npm install -y", "rewind run -- git clean -fdx sub", "rewind watch",
		"rewind undo 2 -n", "rewind redo --dry-run", "rewind undo-restore --to 2 -n", "rewind log",

		"find . -name '*.pyc' -delete", "find build -delete", `find . -name x -exec rm {} \;`, "find . -name '*.o' | xargs rm", "mv a b", "mv /srv/p /srv/q", "cd .. && mv p q", "chmod -R u+w .", "sed -i s/a/b/ src/x", "echo x > agent/rewind", "python3 -c \"print(open('.agent/rewind/config.json').read())\"", "rm -rf ~/.cache", "rm -rf /srv/other",
		"npm install rewind", "rewind-tape undo", "./scripts/rewind.sh undo", "cd $X && rm -rf y", "rm -rf \"$TMP\"", "cat .agent/rewind/x | tee out",
	} {
		e := Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Bash", Class: Shell, Command: s}}
		if r := Guard(&e, testGuarded); r != nil {
			t.Errorf("%q: %s", s, r.Reason)
		}
	}
}

func TestGuardTools(t *testing.T) {
	call := func(kind EventKind, class Class, name string, files ...string) Event {
		return Event{Kind: kind, Cwd: "/srv/p", Tool: Tool{Name: name, Class: class, Files: files}}
	}
	for _, c := range []struct {
		e       Event
		refused bool
	}{
		{call(PreTool, Edit, "Write", "/srv/p/.agent/rewind/config.json"), true},
		{call(PreTool, Edit, "Write", "/srv/p/~/.rewind/config.json"), true}, // as it is read from ~/.rewind
		{call(PreTool, Edit, "Edit", ".agent/rewind/head"), true},
		{call(PreTool, Edit, "Edit", "/srv/p/src/../.agent/rewind/head"), true},
		{call(PreTool, Edit, "ApplyPatch", "/srv/p/a", "/home/u/.rewind/tiers/balanced.json"), true},
		{call(PreTool, MCP, "mcp__fs__write_file", "/srv/p/.agent/rewind/head"), true},
		{call(PreTool, MCP, "mcp__fs__read_file", "/srv/p/.agent/rewind/head"), false},
		{call(PreTool, Read, "Read", "/srv/p/.agent/rewind/head"), false},
		{call(PreTool, Edit, "Edit", "/srv/p/.agent/notes.md"), false},
		{call(PreTool, Edit, "Edit", "/srv/p/.agent/rewind-notes.md"), false},
		{call(PreTool, Edit, "Edit", "/srv/p/src/a.go"), false},
		{call(PostTool, Edit, "Edit", "/srv/p/.agent/rewind/head"), false},
		{Event{Kind: PostTool, Tool: Tool{Class: Shell, Command: "rewind undo"}}, false},
		{Event{Kind: Prompt, Prompt: "rewind undo"}, false},
		{Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Class: MCP, Name: "mcp__term__run", Command: "rewind undo"}}, true},
	} {
		if r := Guard(&c.e, testGuarded); (r != nil) != c.refused {
			t.Errorf("%+v: %v", c.e.Tool, r)
		}
	}
	e := call(PreTool, Edit, "Edit", "/srv/p/.agent/rewind/head")
	if r := Guard(&e, Guarded{Root: "/srv/p"}); r != nil {
		t.Errorf("nothing protected: %v", r)
	}
}

// Some clients' shell tools take the directory to run in beside the command.
func TestGuardTakesTheCallsDirectory(t *testing.T) {
	for _, input := range []string{
		`"dir_path": "/home/u/.rewind"`, `"directory": "/home/u/.rewind"`, `"workdir": "/home/u/.rewind"`,
		`"dir_path": ".agent/rewind"`, `"working_directory": "../p/.agent/rewind/"`,
	} {
		e := decodeAs(strings.NewReader(`{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/p", "tool_name": "Bash", "tool_input": {"command": "rm -rf vault", `+input+`}}`), "claude", "", func(string) string { return "" })
		if Guard(&e, testGuarded) == nil {
			t.Errorf("%s: let through in %q", input, e.CommandDir())
		}
	}
}

// What the links of a path lead to is asked of the program around: it is here a table.
func TestGuardLinks(t *testing.T) {
	links := []struct{ from, to string }{{"/srv/p/ag", "/srv/p/.agent"}, {"/srv/p/st", "/srv/p/.agent/rewind"}, {"/srv/p/hd", "/srv/p/.agent/rewind/head"}, {"/way", "/srv/p"}, {"/srv/p/out", "/srv/q"}}
	g := survives(testGuarded)
	g.Resolve = func(path string, last bool) string {
		for _, l := range links {
			if rest, ok := strings.CutPrefix(path, l.from); ok && (rest == "" && last || strings.HasPrefix(rest, "/")) {
				return l.to + rest
			}
		}
		return path
	}
	for script, refused := range map[string]bool{
		"rm -rf ag/rewind": true, "echo x > st/head": true, "cd st && rm -rf objects": true, "cd st && rm -rf *": true, "rm -rf ag/*": true, "rm -rf ag/rew?nd": true, "echo x > hd": true,
		"tee st/a/b/c": true, "mv ag/rewind x": true, "cp a st/head": true, "xargs rm -rf <<< ag/rewind": true, "xargs rm <<E\na st/head\nE": true, "echo ag/rewind | xargs rm -rf": true,
		"rm -rf /way/.agent/rewind": true, "find st -delete": true, "chmod 0 st": true,
		"rm ag": false, "rm -rf st hd": false, "unlink hd": false, "mv st old": false, "cat st/head": false, "ls ag/rewind": false, "rm -rf out/*": false, "echo x > out/x": false, "rm -rf /way/build": false,
	} {
		r := Guard(&Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Bash", Class: Shell, Command: script}}, g)
		if (r != nil) != refused {
			t.Errorf("%q: %v", script, r)
		}
	}
	for file, refused := range map[string]bool{"st/head": true, "hd": true, "/way/.agent/rewind/head": true, "ag/notes.md": false, "out/x": false} {
		r := Guard(&Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Edit", Class: Edit, Files: []string{file}}}, g)
		if (r != nil) != refused {
			t.Errorf("edit of %s: %v", file, r)
		}
	}
}
