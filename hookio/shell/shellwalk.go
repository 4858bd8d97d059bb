package shell

import (
	"path"
	"strings"
)

// invocation is a program that a command line runs, found behind sudo, env,
// xargs, find -exec, sh -c and the like.
type Invocation struct {
	Name      string // without directory and .exe, in lower case
	Program   Word   // the same as it is written
	Args      []Word
	Redirects []redirect
	Dir       string // "" where not known
	Piped     []Word // words of the commands before it in its pipeline
	ByXargs   bool   // more arguments come from a pipe
	ByFind    []Word // where find runs it: the places that it searches
	FindNames []Word // the arguments of that find
	FindAt    int    // and which of them is the -exec
}

// shellWalk runs a script in mind: variables, cd and wrappers are followed as
// far as the text tells.
type shellWalk struct {
	cwd       string
	variables map[string]string
	visit     func(inv *Invocation)

	state    shellState
	depth    int
	saved    []shellFrame
	pipeline int
	piped    []Word
}

// maxPiped bounds the words kept of one pipeline.
const maxPiped = 200

type shellFrame struct {
	cwd       string
	variables map[string]string
}

// patternMark begins the value of a variable that takes each path which a pattern matches.
const patternMark = "\x01"

// maxValueBytes bounds what a variable of a script is followed with.
const maxValueBytes = 64 << 10

// Walk visits each program that script runs, from the working directory
// cwd, with HOME and PWD and what else is known in variables.
func Walk(script, cwd string, variables map[string]string, visit func(*Invocation)) (overflow bool) {
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
		value = w.atHome(value, words[0])
		if len(words) == 1 && len(c.redirects) == 0 || w.onlyAssignments(words) {
			w.assign(name, value, words[0].Dynamic)
		}
		words = words[1:]
	}
	inv := &Invocation{Redirects: c.redirects, Dir: w.cwd, Piped: w.piped}
	w.resolve(inv, words)
	if len(w.piped) < maxPiped {
		w.piped = append(w.piped, c.words...)
	}
}

// atHome gives the value of an assignment with its ~ replaced.
func (w *shellWalk) atHome(value string, x Word) string {
	if home, known := w.variables["HOME"]; known && (value == "~" || strings.HasPrefix(value, "~/")) && !x.quoted {
		return home + value[1:]
	}
	return value
}

func (w *shellWalk) onlyAssignments(words []Word) bool {
	for _, x := range words {
		if _, _, ok := assignment(x); !ok {
			return false
		}
	}
	return true
}

func (w *shellWalk) assign(name, value string, dynamic bool) {
	if dynamic && Found(value) == "" || len(value) > maxValueBytes || len(w.variables) > 100 {
		delete(w.variables, name)
		return
	}
	w.variables[name] = value
}

// Found is the name of a program of whose path nothing else is known, as of $(which NAME); "" for any other text.
func Found(value string) string {
	if rest, ok := strings.CutPrefix(value, "\x00\x00/"); ok && !strings.Contains(rest, "\x00") {
		return rest
	}
	return ""
}

func assignment(x Word) (name, value string, ok bool) {
	name, value, ok = strings.Cut(x.Text, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", "", false
	}
	for i := 0; i < len(name); i++ {
		if !NameByte(name[i]) {
			return "", "", false
		}
	}
	return name, value, true
}

// resolve peels wrappers off until the program is found, and visits it.
func (w *shellWalk) resolve(inv *Invocation, words []Word) {
	cwd := w.cwd
	for {
		if len(words) == 0 {
			if len(inv.Redirects) > 0 {
				inv.Name, inv.Args = "", nil
				w.visit(inv)
			}
			w.cwd = cwd
			return
		}
		inv.Name, inv.Program, inv.Args = Program(words[0].Text), words[0], words[1:]
		rest, wrapped := w.unwrap(inv)
		if !wrapped {
			break
		}
		words = rest
	}
	w.visit(inv)
	elsewhere := w.cwd != cwd
	if w.nested(inv); elsewhere {
		w.cwd = cwd
	}
}

// chdir goes to the directory in which a wrapper runs its command. The shell has opened what it redirects before.
func (w *shellWalk) chdir(inv *Invocation, dir Word) {
	if len(inv.Redirects) > 0 {
		w.visit(&Invocation{Redirects: inv.Redirects, Dir: inv.Dir})
		inv.Redirects = nil
	}
	w.cd([]Word{dir})
	inv.Dir = w.cwd
}

func Program(s string) string {
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
func (w *shellWalk) unwrap(inv *Invocation) (rest []Word, wrapped bool) {
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
		if _, _, isAssignment := assignment(args[0]); isAssignment && (inv.Name == "env" || inv.Name == "sudo" || inv.Name == "doas") {
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
func (w *shellWalk) nested(inv *Invocation) {
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
func (w *shellWalk) bisect(inv *Invocation) {
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

// difftool runs what our diff is told to show the two sides with.
func (w *shellWalk) difftool(inv *Invocation) {
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

func (w *shellWalk) subshell(script string) {
	w.enter()
	w.run(script)
	w.leave()
}

// shell runs sh -c's script, or the here-document that it reads.
func (w *shellWalk) shell(inv *Invocation) {
	if operand, text := inv.shellOperand(); operand != nil {
		if text {
			w.subshell(operand.Text)
		}
		return
	}
	for _, r := range inv.Redirects {
		if r.Op == "<<" || r.Op == "<<-" {
			w.subshell(r.Body)
		}
		if r.Op == "<<<" {
			w.subshell(r.Target.Text)
		}
	}
}

// shellOperand is what a shell's arguments give it to run: a file, or the text of -c; nil for its standard input.
func (inv *Invocation) shellOperand() (operand *Word, text bool) {
	for i := 0; i < len(inv.Args); i++ {
		a := &inv.Args[i]
		if !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") {
			return a, false
		}
		if !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "c") {
			if i+1 < len(inv.Args) {
				return &inv.Args[i+1], true
			}
			return a, false
		}
		if !strings.HasPrefix(a.Text, "--") && strings.HasSuffix(a.Text, "o") {
			i++ // the option's name
		}
	}
	return nil, false
}

// Script is the file whose commands a shell runs here, nil where it runs none.
func (inv *Invocation) Script() *Word {
	switch inv.Name {
	case "sh", "bash", "zsh", "dash", "ksh", "ash":
		if file, text := inv.shellOperand(); file != nil && !text && !inv.HasFlag('n') {
			return file
		}
	case ".", "source":
		if len(inv.Args) > 0 {
			return &inv.Args[0]
		}
	default:
		if strings.HasSuffix(inv.Name, ".sh") && strings.Contains(inv.Program.Text, "/") {
			return &inv.Program
		}
	}
	return nil
}

func (w *shellWalk) cd(args []Word) {
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") && len(args[0].Text) > 1 {
		args = args[1:]
	}
	if len(args) == 0 {
		w.cwd = w.variables["HOME"]
		return
	}
	if args[0].Dynamic || args[0].Text == "-" {
		w.cwd = ""
		return
	}
	w.cwd = Absolute(w.cwd, args[0].Text)
}

// absolute joins by text; "" where dir is not known and p is relative.
func Absolute(dir, p string) string {
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
func (w *shellWalk) find(inv *Invocation) {
	if w.depth >= maxShellDepth {
		w.state.commands = maxShellCommands + 1
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	places := FindPlaces(inv.Args)
	args := inv.Args
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
			end := i + 1
			for end < len(args) && args[end].Text != ";" && args[end].Text != "+" {
				end++
			}
			inner := &Invocation{Dir: inv.Dir, Piped: inv.Piped, ByFind: places, FindNames: args, FindAt: i}
			if w.state.commands++; end > i+1 && !w.state.overflow() {
				w.resolve(inner, args[i+1:end])
			}
			i = end
		}
	}
}

// FindPlaces gives find's starting points.
func FindPlaces(args []Word) (places []Word) {
	i := 0
	for i < len(args) && findLinkOption(args[i].Text) {
		i++
	}
	for i < len(args) && !strings.HasPrefix(args[i].Text, "-") && args[i].Text != "(" && args[i].Text != "!" {
		places = append(places, args[i])
		i++
	}
	if len(places) == 0 {
		places = []Word{{Text: "."}}
	}
	return places
}
