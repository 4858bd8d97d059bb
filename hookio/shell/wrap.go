package shell

import (
	"strings"
)

// wrappers run the command in their arguments. The value lists the options that
// take an argument; operands are skipped before the command.
var wrappers = map[string]struct {
	valued   string // " -u --user … " with spaces around each
	operands int
}{
	"sudo":    {" -u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir --chroot ", 0},
	"doas":    {" -u -C ", 0},
	"env":     {" -u -C -S --unset --chdir --split-string ", 0},
	"nice":    {" -n --adjustment ", 0},
	"ionice":  {" -c -n --class --classdata ", 0},
	"timeout": {" -s -k --signal --kill-after ", 1},
	"stdbuf":  {" -i -o -e ", 0},
	"nohup":   {}, "setsid": {}, "command": {}, "builtin": {}, "exec": {" -a ", 0}, "time": {" -f -o ", 0}, "busybox": {}, "chronic": {}, "unbuffer": {},
	"xargs":    {" -a -d -E -I -L -n -P -s --arg-file --delimiter --replace --max-lines --max-args --max-procs --max-chars ", 0},
	"parallel": {" -j -N -I -a --jobs ", 0},
	"flock":    {" -w -E --timeout ", 1},
	"watch":    {" -n --interval ", 0},
	"npx":      {" -p --package ", 0}, "bunx": {},
}

// unwrap returns the words of the command inside, if inv is a wrapper.
func (w *walker) unwrap(inv *Invocation) (rest []Word, wrapped bool) {
	wrapper, ok := wrappers[inv.Name]
	if !ok {
		return nil, false
	}
	args := inv.Args
	operands := wrapper.operands
	for len(args) > 0 {
		a := args[0].Text
		if strings.HasPrefix(a, "-") && a != "-" {
			word := args[0]
			args = args[1:]
			if a == "--" {
				break
			}
			if dir, ok := strings.CutPrefix(a, "--chdir="); ok && strings.Contains(wrapper.valued, " --chdir ") {
				word.Text = dir
				w.chdir(inv, word)
			} else if dir, ok := strings.CutPrefix(a, "-C"); ok && dir != "" && inv.Name == "env" {
				word.Text = dir
				w.chdir(inv, word)
			}
			if strings.Contains(wrapper.valued, " "+a+" ") && len(args) > 0 {
				if inv.Name == "env" && (a == "-S" || a == "--split-string") {
					w.run(args[0].Text)
				}
				if a == "--chdir" || inv.Name == "env" && a == "-C" || inv.Name == "sudo" && a == "-D" {
					w.chdir(inv, args[0])
				}
				args = args[1:]
			}
			continue
		}
		if name, value, isAssignment := assignment(args[0]); isAssignment && (inv.Name == "env" || inv.Name == "sudo" || inv.Name == "doas") {
			if name == "GIT_DIR" {
				inv.gitDir = value
			}
			args = args[1:]
			continue
		}
		if operands > 0 {
			operands--
			args = args[1:]
			continue
		}
		break
	}
	if inv.Name == "xargs" || inv.Name == "parallel" {
		inv.ByXargs = true
	}
	if len(args) == 0 && !inv.ByXargs { // "exec > file" and "env" alone
		return nil, true
	}
	return args, true
}

// nested follows what an invocation runs in turn: scripts in arguments, find
// -exec, and cd, which changes where the next one runs.
func (w *walker) nested(inv *Invocation) {
	switch inv.Name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		w.shell(inv)
	case "eval":
		parts := make([]string, len(inv.Args))
		for i, a := range inv.Args {
			parts[i] = a.Text
		}
		w.run(strings.Join(parts, " "))
	case "trap":
		if len(inv.Args) > 1 {
			w.subshell(inv.Args[0].Text)
		}
	case "cd", "pushd":
		w.cd(inv.Args)
	case "popd":
		w.cwd = ""
	case "export", "declare", "local", "readonly", "typeset":
		for _, a := range inv.Args {
			if name, value, ok := assignment(a); ok {
				w.assign(name, w.atHome(value, a), a.Dynamic)
			}
		}
	case "unset", "read":
		for _, a := range inv.Args {
			delete(w.variables, a.Text)
		}
	case "for", "select":
		if len(inv.Args) > 2 && inv.Args[1].Text == "in" {
			value := inv.Args[2].Text
			if inv.Args[2].Pattern != "" {
				value = patternMark + inv.Args[2].Pattern
			}
			w.assign(inv.Args[0].Text, value, inv.Args[2].Dynamic)
		} else if len(inv.Args) > 0 {
			delete(w.variables, inv.Args[0].Text)
		}
	case "git":
		w.alias(inv)
	case "find", "fd", "fdfind":
		w.find(inv)
	case "rewind":
		if rest := Inner(inv.Args); len(rest) > 0 {
			inner := *inv
			w.resolve(&inner, rest)
		}
		w.bisect(inv)
		w.difftool(inv)
	case "ssh", "docker", "podman", "kubectl":
		// Another machine's files.
	}
}

// Inner are the words of the command that rewind run runs; nil where it is another command.
func Inner(args []Word) []Word {
	named := false // the word run has come
	for i := 0; i < len(args); i++ {
		switch a := args[i].Text; {
		case a == "--" && named:
			return args[i+1:]
		case a == "--":
			return nil
		case a == "--root" || a == "--session" || a == "--name":
			i++
		case strings.HasPrefix(a, "-"):
		case named:
			return args[i:]
		case a == "run":
			named = true
		default:
			return nil
		}
	}
	return nil
}

// bisect runs what our own command of that name is given: in a scratch directory, so that relative paths are none
// of the project's.
func (w *walker) bisect(inv *Invocation) {
	if len(inv.Args) == 0 || inv.Args[0].Text != "bisect" {
		return
	}
	script := ""
	for i, a := range inv.Args {
		if line, ok := strings.CutPrefix(a.Text, "--run="); ok {
			script = line
		} else if a.Text == "--run" && i+1 < len(inv.Args) {
			script = inv.Args[i+1].Text
		} else if a.Text == "--" {
			var words []string
			for _, word := range inv.Args[i+1:] {
				words = append(words, word.Text)
			}
			script = strings.Join(words, " ")
			break
		}
	}
	w.enter()
	w.cwd = ""
	w.run(script)
	w.leave()
}

// difftool visits the command line with which our diff shows the two sides.
func (w *walker) difftool(inv *Invocation) {
	for i, a := range inv.Args {
		if a.Text == "--" || i == 0 && a.Text != "diff" && !strings.HasPrefix(a.Text, "-") {
			return
		}
		if tool, ok := strings.CutPrefix(a.Text, "--tool="); ok {
			w.subshell(tool)
		}
	}
	if tool, ok := w.variables["REWIND_DIFFTOOL"]; ok {
		w.subshell(tool)
	}
}
