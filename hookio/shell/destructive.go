package shell

import (
	"path"
	"slices"
	"strings"
)

// Destructive says what in a shell command line, run in the directory cwd, can destroy what is in files or in a
// repository: "rm", "git reset", "> out.txt". "" means that nothing was recognised. It errs
// on the side of naming something: a checkpoint too many costs little.
//
// aliases is asked for subcommands that are not git's own; nil: aliases are not followed.
func Destructive(script, cwd string, aliases Aliases) (what string) {
	w := &walker{cwd: cwd, variables: map[string]string{}, aliases: aliases}
	w.visit = func(inv *Invocation) {
		if what == "" {
			what = inv.destroys()
		}
	}
	w.run(script)
	if what == "" && w.overflow() {
		return "a long command"
	}
	return what
}

func (inv *Invocation) destroys() string {
	for _, r := range inv.Redirects {
		if r.truncates() {
			if r.Target.Dynamic {
				return r.Op
			}
			return r.Op + " " + Clip(r.Target.Text)
		}
	}
	name := inv.Name
	if strings.Contains(name, "\x00") {
		return "a program that is not known"
	}
	if strings.HasPrefix(name, "git-") || name == "git" {
		return inv.gitDestroys()
	}
	if inv.handlesHooks() {
		return name + " with an agent's settings"
	}
	switch name {
	case "python", "python3", "python2", "node", "nodejs", "deno", "bun", "php", "lua":
		if inv.scripted() {
			return name + " script"
		}
	case "rm", "unlink", "rmdir", "shred", "truncate", "mv", "cp", "install", "rsync", "dd", "patch", "ed", "ex", "trash", "trash-put", "rimraf", "del", "erase", "rd", "sponge",
		"remove-item", "ri", "clear-content", "set-content", "out-file", "move-item", "copy-item", "rename-item", "rename", "unzip", "ln":
		return name
	case "find", "fd", "fdfind":
		for _, a := range inv.Args {
			if a.Text == "-delete" || a.Text == "-fprint" || a.Text == "-fprintf" || a.Text == "-fls" {
				return "find " + a.Text
			}
		}
	case "sed", "perl", "ruby":
		if inv.inPlace() {
			return name + " -i"
		}
		if name != "sed" && inv.scripted() {
			return name + " script"
		}
	case "awk", "gawk":
		if inv.HasWord("inplace") {
			return name + " -i inplace"
		}
	case "tee":
		if !inv.HasFlag('a', "--append") {
			return name
		}
	case "tar", "bsdtar":
		if inv.Unpacks() {
			return "tar -x"
		}
	case "gofmt", "goimports", "prettier", "black", "ruff", "eslint", "rustfmt", "clang-format":
		if inv.HasFlag('w', "--write", "--fix") || inv.HasWord("format") || name == "black" || name == "rustfmt" {
			return name
		}
	case "jj":
		if at := inv.subcommand(jjValued); at < len(inv.Args) && loses(jjLosses, inv.Args[at].Text, inv.Args[at+1:]) {
			return "jj " + inv.Args[at].Text
		}
	case "svn", "hg":
		if sub := inv.firstOperand(); sub == "revert" || sub == "update" || sub == "purge" || sub == "clean" {
			return name + " " + sub
		}
	case "make", "gmake", "ninja", "cargo", "gradle", "gradlew", "mvn", "npm", "yarn", "pnpm":
		for _, a := range inv.Args {
			if strings.Contains(a.Text, "clean") {
				return name + " " + Clip(a.Text)
			}
		}
	}
	return ""
}

// readers are programs that change none of the files that they are given.
var readers = []string{"cat", "less", "more", "head", "tail", "grep", "rg", "jq", "wc", "ls", "stat", "file", "diff", "cmp", "echo", "printf", "test", "[", "bat", "du", "cksum", "sha256sum", "md5sum", "sort", "git", "rewind", "cd"}

// handlesHooks reports whether a program of which nothing is known is given a file in which
// agents' hooks are: what it does to them cannot be seen.
func (inv *Invocation) handlesHooks() bool {
	return !slices.Contains(readers, inv.Name) && (inv.Name != "sed" || inv.inPlace()) && slices.ContainsFunc(inv.Args, func(a Word) bool {
		base := path.Base(a.Text)
		return base == "settings.json" || base == "settings.local.json" || base == "hooks.json"
	})
}

// Texts are the arguments and the here-documents, which an interpreter may run.
func (inv *Invocation) Texts() (texts []string) {
	for _, a := range inv.Args {
		texts = append(texts, a.Text)
	}
	for _, r := range inv.Redirects {
		texts = append(texts, r.Body)
	}
	return texts
}

// scripted reports whether an interpreter is given a script on the command line, or in a
// here-document, that could change files or run programs.
func (inv *Invocation) scripted() bool {
	return slices.ContainsFunc(inv.Texts(), func(text string) bool {
		return !strings.HasPrefix(text, "-") && strings.ContainsAny(text, " (;'\"") &&
			slices.ContainsFunc(changing, func(verb string) bool { return strings.Contains(text, verb) })
	})
}

// changing are words of such scripts.
var changing = []string{"open", "write", "unlink", "remove", "rename", "rmtree", "rmdir", "rmSync", "rm_r", "truncate", "delete", "copy", "move", "replace", "system", "popen", "subprocess", "exec", "spawn", "call"}

func Clip(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// truncates reports whether a redirection empties a file.
func (r redirect) truncates() bool {
	switch r.Op {
	case ">", ">|", "&>":
	case ">&":
		if AllDigits(strings.TrimSuffix(r.Target.Text, "-")) || r.Target.Text == "-" {
			return false
		}
	default:
		return false
	}
	return !isDevice(r.Target.Text)
}

func isDevice(file string) bool {
	return file == "/dev/null" || file == "/dev/stdout" || file == "/dev/stderr" || file == "/dev/tty" || strings.HasPrefix(file, "/dev/fd/") ||
		strings.EqualFold(file, "nul") || file == "$null"
}

// HasFlag looks for a short option, also among several in one word, or one of
// the long ones, with or without a value. It stops at "--".
func (inv *Invocation) HasFlag(short byte, long ...string) bool {
	for _, a := range inv.Args {
		switch {
		case a.Text == "--":
			return false
		case strings.HasPrefix(a.Text, "--"):
			if name, _, _ := strings.Cut(a.Text, "="); slices.Contains(long, name) {
				return true
			}
		case len(a.Text) > 1 && a.Text[0] == '-' && short != 0 && strings.IndexByte(a.Text, short) > 0:
			return true
		}
	}
	return false
}

// Unpacks reports whether tar or unzip writes the files of an archive.
func (inv *Invocation) Unpacks() bool {
	if inv.Name == "unzip" {
		return !inv.HasFlag('l') && !inv.HasFlag('t') && !inv.HasFlag('p') && !inv.HasFlag('v')
	}
	return inv.HasFlag('x', "--extract", "--get") || len(inv.Args) > 0 && !strings.HasPrefix(inv.Args[0].Text, "-") && strings.Contains(inv.Args[0].Text, "x")
}

func (inv *Invocation) HasWord(s string) bool {
	return slices.ContainsFunc(inv.Args, func(a Word) bool { return a.Text == s })
}

// inPlace recognises -i of sed, perl and ruby, with a suffix and among other
// options (-pi, -ni.bak, --in-place=…).
func (inv *Invocation) inPlace() bool {
	for _, a := range inv.Args {
		t := a.Text
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

func (inv *Invocation) firstOperand() string {
	for _, a := range inv.Args {
		if !strings.HasPrefix(a.Text, "-") {
			return a.Text
		}
	}
	return ""
}
