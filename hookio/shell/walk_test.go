package shell

import (
	"fmt"
	"strings"
	"testing"
)

// dump writes what walkShell finds, one invocation a line.
func dump(script, cwd string) string {
	var out []string
	overflow := Walk(script, cwd, map[string]string{"HOME": "/h"}, func(inv *Invocation) {
		var b strings.Builder
		fmt.Fprintf(&b, "%s", inv.Name)
		for _, a := range inv.Args {
			fmt.Fprintf(&b, " [%s]", a.Text)
		}
		for _, r := range inv.Redirects {
			fmt.Fprintf(&b, " %s(%s)", r.Op, r.Target.Text)
		}
		if cwd != "" && inv.Dir != cwd {
			fmt.Fprintf(&b, " in %s", inv.Dir)
		}
		out = append(out, b.String())
	})
	if overflow {
		out = append(out, "overflow")
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), "\x00", "?")
}

func TestWalkShell(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`ls -l 'a b' "c d" e\ f`, "ls [-l] [a b] [c d] [e f]"},
		{"a; b && c || d | e & f\ng", "a\nb\nc\nd\ne\nf\ng"},
		{`echo "a'b" 'c"d' $'e\n\x41\101\u00e9' ""`, "echo [a'b] [c\"d] [e\nAAé] []"},
		{`echo "$(rm x)" $(rm "y z") ` + "`rm w`", "rm [x]\nrm [y z]\nrm [w]\necho [?] [?] [?]"},
		{`echo "$HOME/a" ~/b ${HOME}/c ${HOME:-x}/d $UNKNOWN/e ~bob/f`, "echo [/h/a] [/h/b] [/h/c] [/h/d] [?/e] [?/f]"},
		{`a=1 b=2 cmd x`, "cmd [x]"},
		{`D=/tmp/x; rm -rf $D "$D/y" '$D'`, "rm [-rf] [/tmp/x] [/tmp/x/y] [$D]"},
		{`D=$(pwd); rm $D`, "pwd\nrm [?]"},
		{`export D=x; (D=y; rm $D); rm $D`, "export [D=x]\nrm [y]\nrm [x]"},
		{`if test -f x; then rm x; else mv y z; fi`, "test [-f] [x]\nrm [x]\nmv [y] [z]"},
		{`for f in a b; do rm $f; done`, "for [f] [in] [a] [b]\nrm [a]"},
		{`while read l; do rm "$l"; done < list`, "read [l]\nrm [?]\n <(list)"},
		{`case $x in a) rm a;; *) mv b c;; esac`, "case [?] [in] [a]\nrm [a]\n*\nmv [b] [c]"},
		{`f() { rm x; }; f`, "rm [x]\nf"},
		{`! time rm x`, "rm [x]"},
		{`sudo -u bob env A=1 nice -n 5 timeout -s 9 10 /bin/rm -f x`, "rm [-f] [x]"},
		{`\rm x; command rm y; "rm" z; 'r'm w`, "rm [x]\nrm [y]\nrm [z]\nrm [w]"},
		{`bash -lc 'rm a; sh -c "rm b"'`, "bash [-lc] [rm a; sh -c \"rm b\"]\nrm [a]\nsh [-c] [rm b]\nrm [b]"},
		{`bash -euo pipefail -c 'rm a'`, "bash [-euo] [pipefail] [-c] [rm a]\nrm [a]"},
		{`eval "rm $X" y`, "eval [rm ?] [y]\nrm [?] [y]"},
		{"bash <<'EOF'\nrm a\nEOF\nrm b", "bash <<(EOF)\nrm [a]\nrm [b]"},
		{"cat <<EOF > out\nrm $(rm c)\nEOF\nrm b", "rm [c]\ncat <<(EOF) >(out)\nrm [b]"},
		{"cat <<-A <<B\n\trm a\n\tA\nrm b\nB\nls", "cat <<-(A) <<(B)\nls"},
		{"cat <<EOF\nnever ends", "cat <<(EOF)"},
		{`find . -name '*.o' -exec rm -f {} \; -print`, "find [.] [-name] [*.o] [-exec] [rm] [-f] [{}] [;] [-print]\nrm [-f] [{}]"},
		{`find . | xargs -0 -n 1 rm -f`, "find [.]\nrm [-f]"},
		{`a 2>&1 >out 2>>err &>all <in`, "a >&(1) >(out) >>(err) &>(all) <(in)"},
		{`> file`, " >(file)"},
		{`echo a>b`, "echo [a] >(b)"},
		{`echo 2>b`, "echo >(b)"},
		{`diff <(sort a) <(rm b)`, "sort [a]\nrm [b]\ndiff [?] [?]"},
		{`tee >(rm x)`, "rm [x]\ntee [?]"},
		{`(( a > b )) && [[ $c > d ]] && rm x`, "rm [x]"},
		{`echo $((1 > 2)) $(( x ))`, "echo [?] [?]"},
		{`# rm x` + "\nls # rm y", "ls"},
		{`echo a#b`, "echo [a#b]"},
		{"echo a \\\n b", "echo [a] [b]"},
		{`arr=(rm "x y") ; ls`, "ls"},
		{`echo {a,b}.txt "*" *`, "echo [{a,b}.txt] [*] [*]"},
		{`${x:-$(rm y)}`, "rm [y]\n?"},
		{`echo "unclosed $(rm x`, "rm [x]\necho [unclosed ?]"},
		{`echo 'unclosed`, "echo [unclosed]"},
		{``, ""},
		{`)`, ""},
		{`a ) b`, "a\nb"},
		{`;;&&||`, ""},
		{`"C:\bin\RM.EXE" x`, "rm [x]"},
		{strings.Repeat("$(", 50), "overflow"},
		{strings.Repeat("a;", 6000), strings.Repeat("a\n", 5000) + "overflow"},
		{strings.Repeat("x", maxShellBytes+1), "overflow"},
	} {
		if got := dump(c.script, ""); got != c.want {
			t.Errorf("%.200q\n got %.300q\nwant %.300q", c.script, got, c.want)
		}
	}
}

func TestWalkShellFollowsCd(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`cd a && rm x; cd ..; rm y`, "cd [a]\nrm [x] in /p/a\ncd [..] in /p/a\nrm [y]"},
		{`(cd a; rm x); rm y`, "cd [a]\nrm [x] in /p/a\nrm [y]"},
		{`cd /abs; rm x`, "cd [/abs]\nrm [x] in /abs"},
		{`cd; rm x`, "cd\nrm [x] in /h"},
		{`cd $X; rm x`, "cd [?]\nrm [x] in "},
		{`sh -c 'cd a; rm x'; rm y`, "sh [-c] [cd a; rm x]\ncd [a]\nrm [x] in /p/a\nrm [y]"},
		{`rm "$PWD/x"`, "rm [/p/x]"},
	} {
		if got := dump(c.script, "/p"); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.script, got, c.want)
		}
	}
}

func TestDestructive(t *testing.T) {
	for _, s := range []string{
		"rm x", "rm -rf build", "/bin/rm x", `\rm x`, "sudo rm x", "a && rm b", "a; rm b", "a | xargs rm", "find . | xargs -0 rm -f", "(rm x)", "{ rm x; }", "if true; then rm x; fi",
		"sh -c 'rm x'", `bash -lc "cd a && rm x"`, `ssh-agent bash -c x; eval 'rm x'`, "env -i PATH=/bin rm x", "VAR=1 rm x", "$(rm x)", "`rm x`", "echo $(rm x)", "timeout 5 rm x", "nohup rm x &",
		"unlink a", "rmdir d", "shred a", "truncate -s 0 a", "mv a b", "cp a b", "dd if=/dev/zero of=a",
		"git clean -fd", "git clean -fdx", "git reset --hard", "git -C sub reset --hard HEAD~1", "git -c a=b checkout -- .", "git checkout main", "git restore .", "git stash", "git stash push -u", "git stash pop", "git --no-pager stash drop",
		"git switch -f x", "git pull", "git rebase -i x", "git merge x", "git rm a", "git apply p", "git worktree remove w", "git submodule update",
		"find . -name x -delete", `find . -exec rm {} \;`, "find . -exec rm {} +", "find . -execdir sh -c 'rm x' ';'", "fd -x rm",
		"echo x > f", "echo x >| f", "make &> log", "make >& log", "> f", ": > f", "cat a b > c", "cat <<EOF > f\nx\nEOF", "echo x >$F", "echo x > \"$(date).log\"",
		"sed -i s/a/b/ f", "sed -i.bak s/a/b/ f", "sed -n -i p f", "sed -ni p f", "sed --in-place=.b s/a/b/ f", "perl -pi -e s/a/b/ f", "perl -i.bak -pe x f", "ruby -i -pe x f", "gawk -i inplace x f",
		"tee f < x", "rsync -a --delete a/ b/", "tar xzf a.tgz", "tar -xf a.tar", "unzip a.zip", "patch -p1 < d", "gofmt -w .", "npx prettier --write . ; prettier --write .", "make clean", "cargo clean", "trap 'rm x' EXIT",
		"while read f; do rm \"$f\"; done < l", "for f in *; do mv $f $f.bak; done", "bash <<EOF\nrm x\nEOF", "Remove-Item -Recurse x", "ls;\nrm\tx", "ls\r\nrm x", "busybox rm x", "f() { rm x; }; f",
		strings.Repeat("$(", 100), "svn revert -R .", "hg update -C",
		"$X undo", "$(cat tool) restore", `python3 -c "open('a','w')"`, "python3 <<EOF\nimport os; os.remove('a')\nEOF", `node -e "fs.rmSync('a')"`, "perl -e 'unlink q(a)'",
		"python3 fix.py ~/.claude/settings.json", "node x.js .factory/hooks.json", "./edit .claude/settings.local.json",
	} {
		if Destructive(s, "/p", nil) == "" {
			t.Errorf("%q is not recognised", s)
		}
	}
	for _, s := range []string{
		"", "ls -la", "cat f", "echo rm x", "echo 'rm x'", `grep "rm -rf" .`, "git status", "git diff > /dev/null", "git log", "git add . && git commit -m 'rm x'", "git stash list", "git stash show -p", "git clean -n", "git clean -fdxn", "git clean --dry-run -fdx",
		"git worktree list", "git fetch", "git push", "make", "make test", "go build ./... 2>&1", "npm test 2>/dev/null", "cmd > /dev/null 2>&1", "cmd &> /dev/null", "echo x >> f", "sort < f", "find . -name '*.rm'", "find . -type f -exec grep x {} +",
		"sed s/a/b/ f", "sed -n '1,5p' f", "sed -e s/i/x/ f", "perl -e 'print 1'", "python3 -c 'print(1)'", "python3 -V", "cat ~/.claude/settings.json", "jq . .claude/settings.json", "sed -n 1p .claude/settings.json", "perl -ne 'print if /i/' f", "tee -a f", "tar czf a.tgz d", "tar -tf a.tar", "python x.py", "rmx", "./rm.sh", "echo \"> f\"", "# rm x", "gofmt -l .", "[[ a > b ]]", "(( a > b ))", "echo $((a > b))", "awk '{print $1 > 2}' f", "cat <<EOF\nrm x\n> f\nEOF", "cat <<'EOF'\n$(rm x)\nEOF", "xargs -n1 echo", "printf '%s' a",
	} {
		if what := Destructive(s, "/p", nil); what != "" {
			t.Errorf("%q: %s", s, what)
		}
	}
	if got := Destructive("cd a && git -C b reset --hard", "/p", nil); got != "git reset" {
		t.Errorf("says %q", got)
	}
}

// Whatever the script, the walk ends, visits a bounded number of commands, and
// leaves its state as it was.
func FuzzShell(f *testing.F) {
	for _, s := range []string{
		"rm x", `a=b; (cd $a && rm "x $(y z)") > f 2>&1`, "cat <<A <<-'B'\nx\nA\n\ty\n\tB\nls", `find . -exec sh -c 'rm {}' \;`, "case x in a) b;; esac", `$'\x41\u00e9' ${a:-${b}} ~/x {a,b}`, "((((", "[[ ]] )) ;;", "<<", "<<<", "&>", "eval eval eval x", "arr=(a b", "\\", "a='eval $a; eval $a; eval $a'; eval $a", "find -exec find -exec find -exec rm",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		n := 0
		w := &walker{cwd: "/p", variables: map[string]string{"HOME": "/h"}}
		w.visit = func(inv *Invocation) { n++ }
		w.run(script)
		if len(w.saved) != 0 || w.depth != 0 {
			t.Fatalf("%d frames, depth %d left", len(w.saved), w.depth)
		}
		if n > maxShellCommands+1 {
			t.Fatalf("%d invocations", n)
		}
		Destructive(script, "/p", func(dir, name string) string { return "!git " + name + ";" + script })
	})
}
