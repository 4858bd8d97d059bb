package hookio

import (
	"path"
	"strings"
)

// invocation is a program that a command line runs, found behind sudo, env,
// xargs, find -exec, sh -c and the like.
type invocation struct {
	name      string // without directory and .exe, in lower case
	args      []word
	redirects []redirect
	cwd       string // "" where not known
	piped     []word // words of the commands before it in its pipeline
	byXargs   bool   // more arguments come from a pipe
	byFind    []word // where find runs it: the places that it searches
	findAll   bool   // that find has no condition on names
}

// shellWalk runs a script in mind: variables, cd and wrappers are followed as
// far as the text tells.
type shellWalk struct {
	cwd       string
	variables map[string]string
	visit     func(inv *invocation)

	state    shellState
	depth    int
	saved    []shellFrame
	pipeline int
	piped    []word
}

// maxPiped bounds the words kept of one pipeline.
const maxPiped = 200

type shellFrame struct {
	cwd       string
	variables map[string]string
}

// walkShell visits each program that script runs, from the working directory
// cwd, with HOME and PWD and what else is known in variables.
func walkShell(script, cwd string, variables map[string]string, visit func(*invocation)) (overflow bool) {
	w := &shellWalk{cwd: cwd, variables: variables, visit: visit}
	if w.variables == nil {
		w.variables = map[string]string{}
	}
	w.run(script)
	return w.state.overflow()
}

func (w *shellWalk) run(script string) {
	if w.depth >= maxShellDepth {
		w.state.commands = maxShellCommands + 1
		return
	}
	w.depth++
	parseShell(script, w.depth, &w.state, w)
	w.depth--
}

func (w *shellWalk) variable(name string) (string, bool) {
	if name == "PWD" && w.cwd != "" {
		return w.cwd, true
	}
	v, ok := w.variables[name]
	return v, ok
}

func (w *shellWalk) enter() {
	kept := make(map[string]string, len(w.variables))
	for k, v := range w.variables {
		kept[k] = v
	}
	w.saved = append(w.saved, shellFrame{w.cwd, kept})
}

func (w *shellWalk) leave() {
	last := w.saved[len(w.saved)-1]
	w.saved = w.saved[:len(w.saved)-1]
	w.cwd, w.variables = last.cwd, last.variables
}

func (w *shellWalk) command(c command) {
	if c.pipeline != w.pipeline {
		w.pipeline, w.piped = c.pipeline, nil
	}
	words := c.words
	for len(words) > 0 {
		name, value, ok := assignment(words[0])
		if !ok {
			break
		}
		if len(words) == 1 && len(c.redirects) == 0 || w.onlyAssignments(words) {
			w.assign(name, value, words[0].dynamic)
		}
		words = words[1:]
	}
	inv := &invocation{redirects: c.redirects, cwd: w.cwd, piped: w.piped}
	w.resolve(inv, words)
	if len(w.piped) < maxPiped {
		w.piped = append(w.piped, c.words...)
	}
}

func (w *shellWalk) onlyAssignments(words []word) bool {
	for _, x := range words {
		if _, _, ok := assignment(x); !ok {
			return false
		}
	}
	return true
}

func (w *shellWalk) assign(name, value string, dynamic bool) {
	if dynamic || len(value) > maxFieldBytes || len(w.variables) > 100 {
		delete(w.variables, name)
		return
	}
	w.variables[name] = value
}

func assignment(x word) (name, value string, ok bool) {
	name, value, ok = strings.Cut(x.text, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", "", false
	}
	for i := 0; i < len(name); i++ {
		if !isNameByte(name[i]) {
			return "", "", false
		}
	}
	return name, value, true
}

// resolve peels wrappers off until the program is found, and visits it.
func (w *shellWalk) resolve(inv *invocation, words []word) {
	for {
		if len(words) == 0 {
			if len(inv.redirects) > 0 {
				inv.name, inv.args = "", nil
				w.visit(inv)
			}
			return
		}
		inv.name, inv.args = programName(words[0].text), words[1:]
		rest, wrapped := w.unwrap(inv)
		if !wrapped {
			break
		}
		words = rest
	}
	w.visit(inv)
	w.nested(inv)
}

func programName(s string) string {
	s = strings.ToLower(path.Base(strings.ReplaceAll(s, `\`, "/")))
	return strings.TrimSuffix(s, ".exe")
}

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
}

// unwrap returns the words of the command inside, if inv is a wrapper.
func (w *shellWalk) unwrap(inv *invocation) (rest []word, wrapped bool) {
	wrapper, ok := wrappers[inv.name]
	if !ok {
		return nil, false
	}
	args := inv.args
	operands := wrapper.operands
	for len(args) > 0 {
		a := args[0].text
		if strings.HasPrefix(a, "-") && a != "-" {
			args = args[1:]
			if a == "--" {
				break
			}
			if strings.Contains(wrapper.valued, " "+a+" ") && len(args) > 0 {
				if inv.name == "env" && (a == "-S" || a == "--split-string") {
					w.run(args[0].text)
				}
				args = args[1:]
			}
			continue
		}
		if _, _, isAssignment := assignment(args[0]); isAssignment && (inv.name == "env" || inv.name == "sudo" || inv.name == "doas") {
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
	if inv.name == "xargs" || inv.name == "parallel" {
		inv.byXargs = true
	}
	if len(args) == 0 && !inv.byXargs { // "exec > file" and "env" alone
		return nil, true
	}
	return args, true
}

// nested follows what an invocation runs in turn: scripts in arguments, find
// -exec, and cd, which changes where the next one runs.
func (w *shellWalk) nested(inv *invocation) {
	switch inv.name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "fish":
		w.shell(inv)
	case "eval":
		parts := make([]string, len(inv.args))
		for i, a := range inv.args {
			parts[i] = a.text
		}
		w.run(strings.Join(parts, " "))
	case "trap":
		if len(inv.args) > 1 {
			w.subshell(inv.args[0].text)
		}
	case "cd", "pushd":
		w.cd(inv.args)
	case "popd":
		w.cwd = ""
	case "export", "declare", "local", "readonly", "typeset":
		for _, a := range inv.args {
			if name, value, ok := assignment(a); ok {
				w.assign(name, value, a.dynamic)
			}
		}
	case "unset", "read":
		for _, a := range inv.args {
			delete(w.variables, a.text)
		}
	case "for", "select":
		if len(inv.args) > 2 && inv.args[1].text == "in" {
			w.assign(inv.args[0].text, inv.args[2].text, inv.args[2].dynamic)
		} else if len(inv.args) > 0 {
			delete(w.variables, inv.args[0].text)
		}
	case "find", "fd", "fdfind":
		w.find(inv)
	case "ssh", "docker", "podman", "kubectl":
		// Another machine's files.
	}
}

func (w *shellWalk) subshell(script string) {
	w.enter()
	w.run(script)
	w.leave()
}

// shell runs sh -c's script, or the here-document that it reads.
func (w *shellWalk) shell(inv *invocation) {
	for i := 0; i < len(inv.args); i++ {
		a := inv.args[i]
		if !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") {
			return // a script file
		}
		if !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") {
			if i+1 < len(inv.args) {
				w.subshell(inv.args[i+1].text)
			}
			return
		}
		if !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, "o") {
			i++ // the option's name
		}
	}
	for _, r := range inv.redirects {
		if r.op == "<<" || r.op == "<<-" {
			w.subshell(r.body)
		}
		if r.op == "<<<" {
			w.subshell(r.target.text)
		}
	}
}

func (w *shellWalk) cd(args []word) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) > 1 {
		args = args[1:]
	}
	if len(args) == 0 {
		w.cwd = w.variables["HOME"]
		return
	}
	if args[0].dynamic || args[0].text == "-" {
		w.cwd = ""
		return
	}
	w.cwd = absolute(w.cwd, args[0].text)
}

// absolute joins by text; "" where dir is not known and p is relative.
func absolute(dir, p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if path.IsAbs(p) || len(p) > 2 && p[1] == ':' && p[2] == '/' {
		return path.Clean(p)
	}
	if dir == "" {
		return ""
	}
	return path.Join(strings.ReplaceAll(dir, `\`, "/"), p)
}

// find visits the commands after -exec and its relatives.
func (w *shellWalk) find(inv *invocation) {
	if w.depth >= maxShellDepth {
		w.state.commands = maxShellCommands + 1
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	places, all := findPlaces(inv.args)
	args := inv.args
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			inner := &invocation{cwd: inv.cwd, piped: inv.piped, byFind: places, findAll: all}
			if w.state.commands++; end > i+1 && !w.state.overflow() {
				w.resolve(inner, args[i+1:end])
			}
			i = end
		}
	}
}

// findPlaces gives find's starting points; all says that nothing restricts the
// names that it finds.
func findPlaces(args []word) (places []word, all bool) {
	i := 0
	for i < len(args) && (args[i].text == "-H" || args[i].text == "-L" || args[i].text == "-P") {
		i++
	}
	for i < len(args) && !strings.HasPrefix(args[i].text, "-") && args[i].text != "(" && args[i].text != "!" {
		places = append(places, args[i])
		i++
	}
	if len(places) == 0 {
		places = []word{{text: "."}}
	}
	all = true
	for ; i < len(args); i++ {
		switch args[i].text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-newer", "-mtime", "-mmin", "-ctime", "-atime", "-size", "-empty", "-maxdepth", "-user", "-perm":
			all = false
		}
	}
	return places, all
}
