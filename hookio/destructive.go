package hookio

import "strings"

// Destructive says what in a shell command line can destroy what is in files:
// "rm", "git reset", "> out.txt". "" means that nothing was recognised. It errs
// on the side of naming something: a checkpoint too many costs little.
func Destructive(script string) (what string) {
	overflow := walkShell(script, "", nil, func(inv *invocation) {
		if what == "" {
			what = inv.destroys()
		}
	})
	if what == "" && overflow {
		return "a long command"
	}
	return what
}

func (inv *invocation) destroys() string {
	for _, r := range inv.redirects {
		if r.truncates() {
			if r.target.dynamic {
				return r.op
			}
			return r.op + " " + clip(r.target.text)
		}
	}
	name := inv.name
	switch name {
	case "rm", "unlink", "rmdir", "shred", "truncate", "mv", "cp", "install", "rsync", "dd", "patch", "ed", "ex", "trash", "rimraf", "del", "erase", "rd", "sponge",
		"remove-item", "ri", "clear-content", "set-content", "out-file", "move-item", "copy-item", "rename-item", "rename", "unzip", "ln":
		return name
	case "git":
		return inv.gitDestroys()
	case "find", "fd", "fdfind":
		for _, a := range inv.args {
			if a.text == "-delete" || a.text == "-fprint" || a.text == "-fprintf" || a.text == "-fls" {
				return "find " + a.text
			}
		}
	case "sed", "perl", "ruby":
		if inv.inPlace() {
			return name + " -i"
		}
	case "awk", "gawk":
		if inv.hasWord("inplace") {
			return name + " -i inplace"
		}
	case "tee":
		if !inv.hasFlag('a', "--append") {
			return name
		}
	case "tar", "bsdtar":
		if inv.hasFlag('x', "--extract", "--get") || len(inv.args) > 0 && !strings.HasPrefix(inv.args[0].text, "-") && strings.Contains(inv.args[0].text, "x") {
			return "tar -x"
		}
	case "gofmt", "goimports", "prettier", "black", "ruff", "eslint", "rustfmt", "clang-format":
		if inv.hasFlag('w', "--write", "--fix") || inv.hasWord("format") || name == "black" || name == "rustfmt" {
			return name
		}
	case "svn", "hg", "jj":
		if sub := inv.firstOperand(); sub == "revert" || sub == "update" || sub == "restore" || sub == "abandon" || sub == "purge" || sub == "clean" {
			return name + " " + sub
		}
	case "make", "gmake", "ninja", "cargo", "gradle", "gradlew", "mvn", "npm", "yarn", "pnpm":
		for _, a := range inv.args {
			if strings.Contains(a.text, "clean") {
				return name + " " + clip(a.text)
			}
		}
	}
	return ""
}

func clip(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// truncates reports whether a redirection empties a file.
func (r redirect) truncates() bool {
	switch r.op {
	case ">", ">|", "&>":
	case ">&":
		if isDigits(strings.TrimSuffix(r.target.text, "-")) || r.target.text == "-" {
			return false
		}
	default:
		return false
	}
	return !isDevice(r.target.text)
}

func isDevice(file string) bool {
	return file == "/dev/null" || file == "/dev/stdout" || file == "/dev/stderr" || file == "/dev/tty" || strings.HasPrefix(file, "/dev/fd/") ||
		strings.EqualFold(file, "nul") || file == "$null"
}

// git splits git's arguments: the directory of -C, the subcommand and the rest.
func (inv *invocation) git() (dir, sub string, args []word) {
	dir = inv.cwd
	for i := 0; i < len(inv.args); i++ {
		a := inv.args[i]
		switch {
		case a.text == "-C" && i+1 < len(inv.args):
			i++
			if dir = absolute(dir, inv.args[i].text); inv.args[i].dynamic {
				dir = ""
			}
		case a.text == "-c" || a.text == "--git-dir" || a.text == "--work-tree" || a.text == "--namespace" || a.text == "--config-env":
			i++
		case strings.HasPrefix(a.text, "-"):
		default:
			return dir, a.text, inv.args[i+1:]
		}
	}
	return dir, "", nil
}

func (inv *invocation) gitDestroys() string {
	_, sub, args := inv.git()
	g := &invocation{args: args}
	what := "git " + sub
	switch sub {
	case "clean":
		if g.hasFlag('n', "--dry-run") {
			return ""
		}
		return what
	case "stash":
		switch g.firstOperand() {
		case "list", "show", "create", "store":
			return ""
		}
		return what
	case "worktree", "submodule":
		switch g.firstOperand() {
		case "remove", "move", "update", "deinit", "foreach", "sync":
			return what
		}
		return ""
	case "reset", "checkout", "restore", "switch", "rm", "mv", "merge", "rebase", "pull", "revert", "cherry-pick", "am", "apply", "read-tree", "checkout-index",
		"filter-branch", "filter-repo", "bisect", "sparse-checkout", "subtree":
		return what
	}
	return ""
}

// hasFlag looks for a short option, also among several in one word, or one of
// the long ones, with or without a value. It stops at "--".
func (inv *invocation) hasFlag(short byte, long ...string) bool {
	for _, a := range inv.args {
		switch {
		case a.text == "--":
			return false
		case strings.HasPrefix(a.text, "--"):
			name, _, _ := strings.Cut(a.text, "=")
			for _, l := range long {
				if name == l {
					return true
				}
			}
		case len(a.text) > 1 && a.text[0] == '-' && short != 0 && strings.IndexByte(a.text, short) > 0:
			return true
		}
	}
	return false
}

func (inv *invocation) hasWord(s string) bool {
	for _, a := range inv.args {
		if a.text == s {
			return true
		}
	}
	return false
}

// inPlace recognises -i of sed, perl and ruby, with a suffix and among other
// options (-pi, -ni.bak, --in-place=…).
func (inv *invocation) inPlace() bool {
	for _, a := range inv.args {
		t := a.text
		switch {
		case t == "--":
			return false
		case strings.HasPrefix(t, "--"):
			if strings.HasPrefix(t, "--in-place") || strings.HasPrefix(t, "--in_place") {
				return true
			}
		case strings.HasPrefix(t, "-"):
			for i := 1; i < len(t); i++ {
				if t[i] == 'i' {
					return true
				}
				if t[i] == 'e' || t[i] == 'f' || t[i] == 'M' || t[i] == 'I' || t[i] == '.' { // the rest is an argument
					break
				}
			}
		}
	}
	return false
}

func (inv *invocation) firstOperand() string {
	for _, a := range inv.args {
		if !strings.HasPrefix(a.text, "-") {
			return a.text
		}
	}
	return ""
}
