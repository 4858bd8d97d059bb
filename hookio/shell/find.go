package shell

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// FindReaches reports whether find could come to the argument number at, its -delete or -exec, with a file that is
// rest below a place, len(args) standing for what it prints by itself. dir says that the file is a directory.
// What cannot be answered by a name, as ages and sizes, holds for some file.
func FindReaches(args []Word, at int, place, rest string, dir bool) bool {
	_, begin := findPlaces(args)
	depth := strings.Count(rest, "/") + 1
	deep := false // a directory's files come before it, so that -prune comes too late
	for i := begin; i < len(args); i++ {
		switch args[i].Text {
		case "-maxdepth", "-mindepth":
			if i+1 == len(args) {
				break
			}
			n, err := strconv.Atoi(args[i+1].Text)
			if err == nil && (args[i].Text == "-maxdepth" && depth > n || args[i].Text == "-mindepth" && depth < n) {
				return false
			}
		case "-depth", "-d", "-delete":
			deep = true
		}
	}
	e := findExpression{args: args, action: at}
	names := strings.Split(rest, "/")
	for i := 1; i < len(names) && !deep; i++ {
		if e.look(begin, place, strings.Join(names[:i], "/"), true); e.pruned {
			return false
		}
	}
	found := e.look(begin, place, rest, dir)
	return e.reached || at == len(args) && found != no
}

// answer is that of a test of find: no, for some files, or yes.
type answer int

const (
	no answer = iota
	some
	yes
)

// findExpression answers an expression of find for one file.
type findExpression struct {
	args    []Word
	at      int
	action  int
	path    string
	dir     bool
	reached bool
	pruned  bool
}

func (e *findExpression) look(begin int, place, rest string, dir bool) answer {
	e.at, e.path, e.dir, e.reached, e.pruned = begin, strings.TrimSuffix(place, "/")+"/"+rest, dir, false, false
	return e.or(true)
}

func (e *findExpression) next() string {
	if e.at < len(e.args) {
		return e.args[e.at].Text
	}
	return ""
}

// or reads alternatives; live says that find comes to them at all.
func (e *findExpression) or(live bool) answer {
	result := e.and(live)
	for e.next() == "-o" || e.next() == "-or" || e.next() == "," {
		always := e.next() == ","
		e.at++
		right := e.and(live && (always || result != yes))
		if result = max(result, right); always {
			result = right
		}
	}
	return result
}

func (e *findExpression) and(live bool) answer {
	result := yes
	for e.at < len(e.args) {
		switch e.next() {
		case "-o", "-or", ",", ")":
			return result
		case "-a", "-and":
			e.at++
			continue
		}
		result = min(result, e.test(live && result != no))
	}
	return result
}

func (e *findExpression) test(live bool) answer {
	here, word := e.at, e.next()
	e.at++
	value := e.next()
	switch word {
	case "!", "-not":
		return yes - e.test(live)
	case "(":
		result := e.or(live)
		e.at++
		return result
	case "-delete":
		e.reached = e.reached || live && here == e.action
		return yes
	case "-exec", "-execdir", "-ok", "-okdir":
		e.reached = e.reached || live && here == e.action
		for e.at < len(e.args) && e.next() != ";" && e.next() != "+" {
			e.at++
		}
		e.at++
		return some
	case "-prune":
		e.pruned = e.pruned || live
		return yes
	case "-true", "-print", "-print0", "-ls", "-depth", "-d", "-mount", "-xdev", "-daystart", "-noleaf", "-follow":
		return yes
	case "-false", "-empty", "-nouser", "-nogroup":
		return no
	case "-quit", "-readable", "-writable", "-executable":
		return some
	}
	e.at++
	name := path.Base(e.path)
	switch word {
	case "-maxdepth", "-mindepth", "-printf":
		return yes
	case "-name":
		return e.matches(findPattern(value), name)
	case "-iname":
		return e.matches("(?i)"+findPattern(value), name)
	case "-path", "-wholename":
		return e.matches(findPattern(value), e.path)
	case "-ipath", "-iwholename":
		return e.matches("(?i)"+findPattern(value), e.path)
	case "-regex", "-iregex":
		flags := ""
		if word == "-iregex" {
			flags = "(?i)"
		}
		return e.matches(flags+strings.NewReplacer(`\(`, "(", `\)`, ")", `\|`, "|").Replace(value), e.path)
	case "-type", "-xtype":
		if kinds := "f"; e.dir && strings.Contains(value, "d") || !e.dir && strings.Contains(value, kinds) {
			return yes
		}
		return no
	case "-size":
		if strings.TrimRight(value, "bcwkMG") == "0" {
			return no
		}
	case "-lname", "-ilname":
		return no
	}
	return some
}

func (e *findExpression) matches(pattern, text string) answer {
	re, err := regexp.Compile("^(?s:" + pattern + ")$")
	switch {
	case err != nil:
		return some
	case re.MatchString(text):
		return yes
	}
	return no
}

// findPattern is a pattern of find as a regular expression: its * matches / and dots too.
func findPattern(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '\\':
			if i+1 < len(glob) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		case '[':
			end := strings.IndexByte(glob[min(i+2, len(glob)):], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			end += i + 2
			set := glob[i+1 : end]
			if strings.HasPrefix(set, "!") {
				set = "^" + set[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String()
}

// find visits the commands after -exec and its relatives.
func (w *walker) find(inv *Invocation) {
	if w.depth >= maxShellDepth {
		w.commands = maxShellCommands + 1
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
			if w.commands++; end > i+1 && !w.overflow() {
				w.resolve(inner, args[i+1:end])
			}
			i = end
		}
	}
}

// FindPlaces gives find's starting points.
func FindPlaces(args []Word) []Word {
	if from, to := findPlaces(args); from < to {
		return args[from:to:to]
	}
	return []Word{{Text: "."}}
}

// findPlaces is where among its arguments they begin and end.
func findPlaces(args []Word) (from, to int) {
	for from < len(args) && (args[from].Text == "-H" || args[from].Text == "-L" || args[from].Text == "-P") {
		from++
	}
	for to = from; to < len(args) && !strings.HasPrefix(args[to].Text, "-") && args[to].Text != "(" && args[to].Text != "!"; to++ {
	}
	return from, to
}
