package shell

import (
	"cmp"
	"slices"
	"strings"
)

// Options of git and jj, before the subcommand, whose value is the next word.
const (
	gitValued = "-C -c --git-dir --work-tree --namespace --config-env --attr-source --super-prefix"
	jjValued  = "-R --repository --at-operation --at-op --config --config-toml --config-file --color"
)

// subcommand is where among the arguments the subcommand is, len(args) for none.
func (inv *Invocation) subcommand(valued string) int {
	for i := 0; i < len(inv.Args); i++ {
		switch a := inv.Args[i].Text; {
		case contains(valued, a):
			i++
		case strings.HasPrefix(a, "-"):
		default:
			return i
		}
	}
	return len(inv.Args)
}

// Git splits git's arguments: the directory of -C, the subcommand and the rest.
func (inv *Invocation) Git() (dir, sub string, args []Word) {
	if program, ok := strings.CutPrefix(inv.Name, "git-"); ok { // git-filter-repo
		return inv.Dir, program, inv.Args
	}
	at := inv.subcommand(gitValued)
	dir = inv.Dir
	for i := 0; i+1 < at; i++ {
		if inv.Args[i].Text == "-C" {
			i++
			if dir = Absolute(dir, inv.Args[i].Text); inv.Args[i].Dynamic {
				dir = ""
			}
		}
	}
	if at == len(inv.Args) {
		return dir, "", nil
	}
	return dir, inv.Args[at].Text, inv.Args[at+1:]
}

// gitDestroys says which git command can lose something, "" for one that cannot.
func (inv *Invocation) gitDestroys() string {
	_, sub, args := inv.Git()
	if inv.ByXargs {
		args = append(slices.Clone(args), inv.Piped...)
	}
	switch {
	case sub == "" && inv.ByXargs, strings.ContainsAny(sub, "\x00{ "):
		return "a git command that is not known"
	case loses(gitLosses, sub, args):
		return "git " + sub
	}
	return ""
}

// Aliases finds what an alias of git stands for in the repository of a directory: the text of the setting alias.NAME,
// "" for none. dir is absolute, or "" where it is not known; it may be a git directory. name is in lower case.
type Aliases func(dir, name string) string

// alias follows a git command that is an alias to what it stands for, and keeps the aliases that a command line makes.
func (w *walker) alias(inv *Invocation) {
	if w.aliases == nil {
		return
	}
	dir, sub, args := inv.Git()
	if sub == "config" {
		w.defines(args)
	}
	at := inv.subcommand(gitValued)
	if at == len(inv.Args) || ownToGit(sub) {
		return
	}
	sub = strings.ToLower(sub)
	text, gitDir := w.made[sub], inv.gitDir
	gitDir = cmp.Or(gitDir, w.variables["GIT_DIR"])
	for i, a := range inv.Args[:at] {
		if value, ok := strings.CutPrefix(a.Text, "--git-dir="); ok {
			gitDir = value
		} else if i > 0 && inv.Args[i-1].Text == "--git-dir" {
			gitDir = a.Text
		} else if name, value, ok := strings.Cut(a.Text, "="); ok && i > 0 && inv.Args[i-1].Text == "-c" && strings.ToLower(name) == "alias."+sub {
			text = value
		}
	}
	if text == "" {
		if gitDir != "" {
			dir = Absolute(dir, gitDir)
		}
		text = w.aliases(dir, sub)
	}
	if all := quoteAll(args); len(text) > maxValueBytes || strings.Count(text, "$")*len(all) > maxShellBytes { // what its arguments would make of it
		w.work += maxShellWork + 1
	} else if script, ok := strings.CutPrefix(text, "!"); ok {
		w.subshell(positional(script, args))
	} else if text != "" {
		script := "git " + quoteAll(inv.Args[:at]) + " " + text + " " + all
		if gitDir != "" {
			script = "GIT_DIR=" + Quote(gitDir) + " " + script
		}
		w.subshell(script)
	}
}

// defines keeps the alias that git config sets with these arguments.
func (w *walker) defines(args []Word) {
	for i := 1; i < len(args); i++ {
		name, ok := strings.CutPrefix(strings.ToLower(args[i-1].Text), "alias.")
		if !ok || len(w.made) == 100 {
			continue
		}
		if w.made == nil {
			w.made = map[string]string{}
		}
		w.made[name] = args[i].Text
	}
}

// positional gives a script its arguments: those that it names are put in their places, and all behind it, as git does.
func positional(script string, args []Word) string {
	all := quoteAll(args)
	places := []string{`"$@"`, all, "$@", all, "$*", all}
	for i, a := range args[:min(len(args), 9)] {
		n := "$" + string(rune('1'+i))
		places = append(places, `"`+n+`"`, Quote(a.Text), n, Quote(a.Text))
	}
	return strings.NewReplacer(places...).Replace(script) + " " + all
}

func quoteAll(words []Word) string {
	quoted := make([]string, len(words))
	for i, a := range words {
		quoted[i] = Quote(a.Text)
	}
	return strings.Join(quoted, " ")
}

// Quote makes one word of s for a POSIX shell.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
