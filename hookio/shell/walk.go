package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Invocation is a program that a command line runs, found behind sudo, env,
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
	gitDir    string // what GIT_DIR is set to for it alone
}

// walker runs a script in mind: variables, cd and wrappers are followed as
// far as the text tells.
type walker struct {
	cwd       string
	variables map[string]string
	visit     func(inv *Invocation)
	joins     func(op string)   // is called behind each command with the operator that follows it: ; && | or nothing; may be nil
	doubtful  bool              // the exit code of the line does not follow from those of its commands: see doubt
	aliases   Aliases           // nil: aliases are not followed
	made      map[string]string // aliases that the line itself makes

	// What the parts of a line have come to together, so that a script that runs itself again and again comes to an end.
	commands int
	work     int

	depth int
	saved []frame
	piped []Word // words of the commands before in the pipeline
}

// overflow reports that the line was not looked at to its end.
func (w *walker) overflow() bool { return w.commands > maxShellCommands || w.work > maxShellWork }

// outermost reports whether the walk is in the line itself, and not in a script or a substitution that is in it.
func (w *walker) outermost() bool { return w.depth == 1 && len(w.saved) == 0 }

// doubt notes that the line has more than simple commands behind ; && and |.
func (w *walker) doubt() { w.doubtful = w.doubtful || w.outermost() }

// maxPiped bounds the words kept of one pipeline.
const maxPiped = 200

type frame struct {
	cwd       string
	variables map[string]string
	piped     []Word
}

// patternMark begins the value of a variable that takes each path which a pattern matches.
const patternMark = "\x01"

// maxValueBytes bounds what a variable of a script is followed with.
const maxValueBytes = 64 << 10

// Walk visits each program that script runs, from the working directory
// cwd, with HOME and PWD and what else is known in variables.
func Walk(script, cwd string, variables map[string]string, visit func(*Invocation)) (overflow bool) {
	w := &walker{cwd: cwd, variables: variables, visit: visit}
	if w.variables == nil {
		w.variables = map[string]string{}
	}
	w.run(script)
	return w.overflow()
}

func (w *walker) run(script string) {
	if w.depth >= maxShellDepth {
		w.commands = maxShellCommands + 1
		return
	}
	if w.work += len(script); len(script) > maxShellBytes {
		w.work += maxShellWork
	}
	w.depth++
	piped := w.piped
	p := &parser{src: script, depth: w.depth, walker: w}
	p.list(0)
	w.piped = piped
	w.depth--
}

func (w *walker) variable(name string) (string, bool) {
	if name == "PWD" && w.cwd != "" {
		return w.cwd, true
	}
	v, ok := w.variables[name]
	return v, ok
}

func (w *walker) enter() {
	w.saved = append(w.saved, frame{w.cwd, maps.Clone(w.variables), w.piped})
}

func (w *walker) leave() {
	last := w.saved[len(w.saved)-1]
	w.saved = w.saved[:len(w.saved)-1]
	w.cwd, w.variables, w.piped = last.cwd, last.variables, last.piped
}

func (w *walker) command(c command) {
	words := c.words
	inv := &Invocation{Redirects: c.redirects, Dir: w.cwd, Piped: w.piped}
	for len(words) > 0 {
		name, value, ok := assignment(words[0])
		if !ok {
			break
		}
		value = w.atHome(value, words[0])
		if len(words) == 1 && len(c.redirects) == 0 || w.onlyAssignments(words) {
			w.assign(name, value, words[0].Dynamic)
		} else if name == "GIT_DIR" {
			inv.gitDir = value
		}
		words = words[1:]
	}
	w.resolve(inv, words)
	if len(w.piped) < maxPiped {
		w.piped = append(w.piped, c.words...)
	}
}

// atHome gives the value of an assignment with its ~ replaced.
func (w *walker) atHome(value string, x Word) string {
	if home, known := w.variables["HOME"]; known && (value == "~" || strings.HasPrefix(value, "~/")) && !x.quoted {
		return home + value[1:]
	}
	return value
}

func (w *walker) onlyAssignments(words []Word) bool {
	return !slices.ContainsFunc(words, func(x Word) bool {
		_, _, ok := assignment(x)
		return !ok
	})
}

func (w *walker) assign(name, value string, dynamic bool) {
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
	return name, value, ok && IsName(name)
}

// IsName reports whether a variable can have that name.
func IsName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && !slices.ContainsFunc([]byte(s), func(c byte) bool { return !nameByte(c) })
}

// resolve peels wrappers off until the program is found, and visits it.
func (w *walker) resolve(inv *Invocation, words []Word) {
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
func (w *walker) chdir(inv *Invocation, dir Word) {
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

func (w *walker) subshell(script string) {
	w.enter()
	w.run(script)
	w.leave()
}

// shell runs sh -c's script, or the here-document that it reads.
func (w *walker) shell(inv *Invocation) {
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

func (w *walker) cd(args []Word) {
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

// Absolute joins dir and p as texts; "" if dir is unknown and p is relative.
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
